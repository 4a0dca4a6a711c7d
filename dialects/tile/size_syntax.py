"""Syntax that ops with sizes share: `[%M, 4]`, one entry for each axis of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

SizeEntry = int | UnresolvedOperand


def parse_sizes(parser: Parser, opened: bool = False) -> list[SizeEntry]:
    """Parse `[%M, 4]`; `opened` says that the bracket has been read."""

    def size() -> SizeEntry:
        number = parser.parse_optional_integer(
            allow_boolean=False, allow_negative=False
        )
        return parser.parse_unresolved_operand() if number is None else number

    if not opened:
        parser.parse_punctuation("[")
    if parser.parse_optional_punctuation("]") is not None:
        return []
    entries = parser.parse_comma_separated_list(parser.Delimiter.NONE, size)
    parser.parse_punctuation("]")
    return entries


def parse_sized_type(
    parser: Parser, entries: Sequence[SizeEntry]
) -> tuple[TensorType[Attribute], list[SSAValue]]:
    """Parse the tensor type that has these sizes; with it those that are values."""
    start = parser.pos
    type = parser.parse_type()
    numbers = [DYNAMIC_INDEX if not isinstance(e, int) else e for e in entries]
    if not isinstance(type, TensorType) or list(type.get_shape()) != numbers:
        parser.raise_error(
            f"expected a tensor type with the {len(entries)} sizes given, got {type}",
            start,
            parser.pos,
        )
    values: list[SSAValue] = [
        parser.resolve_operand(entry, IndexType())
        for entry in entries
        if not isinstance(entry, int)
    ]
    return type, values


def print_sizes(
    printer: Printer, type: TensorType[Attribute], sizes: Iterable[SSAValue]
) -> None:
    """Print `[%M, 4]`, where each `?` of the type is one of the sizes."""
    values = iter(sizes)
    with printer.in_square_brackets():
        for number, size in enumerate(type.get_shape()):
            printer.print_string(", " if number else "")
            if size == DYNAMIC_INDEX:
                printer.print_ssa_value(next(values))
            else:
                printer.print_string(str(size))


def parse_sized_result(
    parser: Parser,
) -> tuple[SSAValue, TensorType[Attribute], list[SSAValue], dict[str, Attribute]]:
    """Parse `%x -> [%M, 4] : type -> type` behind the name of an op.

    Gives the operand, the type of the result, its sizes that are values, and the
    attributes.
    """
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation("->")
    entries = parse_sizes(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    tensor = parser.resolve_operand(operand, parser.parse_type())
    parser.parse_punctuation("->")
    return tensor, *parse_sized_type(parser, entries), attributes


def print_sized_result(
    printer: Printer,
    operand: SSAValue,
    type: TensorType[Attribute],
    sizes: Iterable[SSAValue],
    attributes: dict[str, Attribute],
) -> None:
    """Print what `parse_sized_result` parses."""
    printer.print_string(" ")
    printer.print_ssa_value(operand)
    printer.print_string(" -> ")
    print_sizes(printer, type, sizes)
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
    printer.print_attribute(operand.type)
    printer.print_string(" -> ")
    printer.print_attribute(type)


def verify_sizes(type: TensorType[Attribute], sizes: Sequence[SSAValue]) -> None:
    """Each `?` of the type is one of the sizes."""
    dynamic = type.get_shape().count(DYNAMIC_INDEX)
    if len(sizes) != dynamic:
        raise VerifyException(
            f"expected {dynamic} size(s) for {type}, got {len(sizes)}"
        )
