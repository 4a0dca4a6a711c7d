"""What `tile.gather` and `tile.scatter` share: bounds, checks and options as words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..eltwise.element_types import Kind, kind
from ..eltwise.ops import ANY_ELEMENT, element_of, with_element

_Choice = TypeVar("_Choice", bound=StrEnum)


class OutOfBounds(StrEnum):
    """What an index beyond an axis means: the cell at the border, or none."""

    CLAMP = "clamp"
    ZERO = "zero"

    # What PlaidML calls them.
    GATHER_EDGE_PADDED_INPUT = "clamp"
    RETURN_ZERO = "zero"


@irdl_attr_definition
class OutOfBoundsAttr(EnumAttribute[OutOfBounds], SpacedOpaqueSyntaxAttribute):
    """`#tile<out_of_bounds zero>`."""

    name = "tile.out_of_bounds"


def verify_indices(element: Attribute, floats: bool = False) -> None:
    """Raise VerifyException for elements that are no indices.

    Floats are indices only of a gather that interpolates.
    """
    if element == ANY_ELEMENT:
        return
    if element == i1:
        raise VerifyException("expected integers as indices, got i1")
    if kind(element) is Kind.FLOAT and not floats:
        raise VerifyException(f"expected integers as indices, got {element}")


def verify_element(result: SSAValue, expected: Attribute) -> None:
    """Raise VerifyException for a result of another element type."""
    elements = element_of(result.type), expected
    if ANY_ELEMENT not in elements and elements[0] != elements[1]:
        raise VerifyException(
            f"expected the result to have element type {expected}, got {result.type}"
        )


def verify_shape_of(result: SSAValue, expected: Attribute) -> None:
    """Raise VerifyException for a result of another shape."""
    if with_element(expected, element_of(result.type)) != result.type:
        raise VerifyException(
            f"expected a result of type {expected}, got {result.type}"
        )


def parse_types(
    parser: Parser, values: Sequence[UnresolvedOperand], start: int
) -> tuple[dict[str, Attribute], Sequence[SSAValue], Attribute]:
    """Parse attributes and `: (types) -> type`; with them the operands."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    type = parser.parse_function_type()
    operands = parser.resolve_operands(values, type.inputs.data, start)
    if len(type.outputs) != 1:
        parser.raise_error("expected one result type", position, parser.pos)
    return attributes, operands, type.outputs.data[0]


def parse_integer(parser: Parser, word: str, default: int) -> int:
    """Parse the word and an integer, or nothing."""
    if parser.parse_optional_keyword(word) is None:
        return default
    return parser.parse_integer(allow_boolean=False)


def parse_choice(parser: Parser, word: str, default: _Choice) -> _Choice:
    """Parse the word and one of the values of an enum, or nothing."""
    if parser.parse_optional_keyword(word) is None:
        return default
    return parser.parse_str_enum(type(default))


def print_integer(printer: Printer, word: str, number: IntegerAttr) -> None:
    """Print what `parse_integer` parses, unless it is 0."""
    if number.value.data:
        printer.print_string(f" {word} {number.value.data}")


def print_choice(
    printer: Printer, word: str, chosen: StrEnum, default: StrEnum
) -> None:
    """Print what `parse_choice` parses, unless it is the default."""
    if chosen is not default:
        printer.print_string(f" {word} {chosen.value}")
