"""The pretty form of `stripe.block`.

```
block      = [string] ["serial"] "[" [index {"," index}] "]" {refinement}
             ["where" constraints] attr-dict region
index      = value ":" range [binding]
refinement = ("in" | "out" | "inout") value "=" value "[" forms "]" [":" sizes]
             [aggregation] ["init" number]
constraint = form ">=" "0"
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ...affine.form import LinearForm
from ...affine.polynomial import Polynomial
from ..aggregation import Aggregation
from ..syntax import (
    ValueForms,
    parse_defined_value,
    parse_optional_enum,
    print_form,
)
from .attributes import (
    Direction,
    Refinement,
    ViewType,
    parse_suffix,
)
from .binding import Binding


class BlockArguments(TypedDict):
    """What is read and printed of a block: the arguments that build it."""

    ranges: Sequence[int]
    buffers: Sequence[SSAValue]
    refinements: Sequence[Refinement]
    body: Region
    captures: Sequence[SSAValue]
    constraints: Sequence[LinearForm]
    bindings: Sequence[Binding]
    block_name: str | None
    serial: bool


@dataclass
class _ParsedRefinement:
    direction: Direction
    argument: Parser.Argument
    buffer: SSAValue
    access: list[Polynomial]
    aggregation: Aggregation
    init: int | float | None


def parse_block(parser: Parser) -> tuple[BlockArguments, dict[str, Attribute]]:
    """Parse what follows `stripe.block`; with it the further attributes."""
    name = parser.parse_optional_str_literal()
    is_serial = parser.parse_optional_keyword("serial") is not None
    forms = ValueForms(parser)
    indices = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_index(parser, forms)
    )
    refinements: list[_ParsedRefinement] = []
    while (direction := parse_optional_enum(parser, Direction)) is not None:
        refinements.append(_parse_refinement(parser, direction, forms))
    constraints: list[Polynomial] = []
    if parser.parse_optional_keyword("where") is not None:
        constraints = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: _parse_constraint(parser, forms)
        )
    attributes = parser.parse_optional_attr_dict_with_keyword()
    arguments = [argument for argument, _, _ in indices]
    arguments += [refinement.argument for refinement in refinements]
    body = parser.parse_region(arguments)
    block = BlockArguments(
        ranges=[extent for _, extent, _ in indices],
        buffers=[refinement.buffer for refinement in refinements],
        refinements=[
            Refinement(r.direction, tuple(forms.forms(r.access)), r.aggregation, r.init)
            for r in refinements
        ],
        body=body,
        captures=forms.resolve(len(indices)),
        constraints=forms.forms(constraints),
        bindings=[binding for _, _, binding in indices],
        block_name=name,
        serial=is_serial,
    )
    return block, {} if attributes is None else dict(attributes.data)


def _parse_index(
    parser: Parser, forms: ValueForms
) -> tuple[Parser.Argument, int, Binding]:
    argument = parser.parse_argument(expect_type=False).resolve(IndexType())
    forms.declare(UnresolvedOperand(argument.name, 0))
    parser.parse_punctuation(":")
    extent = parser.parse_integer(allow_negative=False)
    binding = parse_optional_enum(parser, Binding) or Binding.UNDECIDED
    return argument, extent, binding


def _parse_refinement(
    parser: Parser, direction: Direction, forms: ValueForms
) -> _ParsedRefinement:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    start = parser.pos
    buffer = parse_defined_value(parser)
    if not isinstance(buffer.type, ViewType):
        parser.raise_error(f"expected a view, got {buffer.type}", start, parser.pos)
    access = forms.parse_list()
    sizes: list[int] = []
    if parser.parse_optional_punctuation(":") is not None:
        sizes = parser.parse_dimension_list()
    aggregation, init = parse_suffix(parser)
    resolved = argument.resolve(buffer.type.resized(sizes))
    return _ParsedRefinement(direction, resolved, buffer, access, aggregation, init)


def _parse_constraint(parser: Parser, forms: ValueForms) -> Polynomial:
    form = forms.parse()
    parser.parse_punctuation(">")
    parser.parse_punctuation("=")
    start = parser.pos
    if parser.parse_integer() != 0:
        parser.raise_error("expected '>= 0'", start, parser.pos)
    return form


def print_block(
    block: BlockArguments, attributes: dict[str, Attribute], printer: Printer
) -> None:
    """Print what follows `stripe.block`."""
    printer.print_string(" ")
    if block["block_name"] is not None:
        printer.print_string_literal(block["block_name"])
        printer.print_string(" ")
    if block["serial"]:
        printer.print_string("serial ")
    # Names of the body's arguments may be used again by the next block.
    printer.enter_scope()
    rank = len(block["ranges"])
    arguments = block["body"].block.args
    values = [*arguments[:rank], *block["captures"]]
    indices = zip(arguments[:rank], block["ranges"], block["bindings"], strict=False)
    with printer.in_square_brackets():
        printer.print_list(list(indices), lambda index: _print_index(*index, printer))
    with printer.indented(2):
        for view, buffer, refinement in zip(
            arguments[rank:], block["buffers"], block["refinements"], strict=False
        ):
            printer.print_string(f"\n{refinement.direction.value} ")
            printer.print_ssa_value(view)
            printer.print_string(" = ")
            printer.print_ssa_value(buffer)
            _print_refinement(refinement, view.type, values, printer)
        if block["constraints"]:
            printer.print_string("\nwhere ")
            printer.print_list(
                block["constraints"],
                lambda form: _print_condition(form, values, printer),
            )
        if attributes:
            printer.print_string("\nattributes")
            printer.print_op_attributes(attributes)
    printer.print_string(" ")
    body = block["body"]
    printer.print_region(body, print_entry_block_args=False, print_empty_block=False)
    printer.exit_scope()


def _print_index(
    index: SSAValue, extent: int, binding: Binding, printer: Printer
) -> None:
    printer.print_ssa_value(index)
    printer.print_string(f" : {extent}")
    if binding is not Binding.UNDECIDED:
        printer.print_string(f" {binding.value}")


def _print_refinement(
    refinement: Refinement,
    type: Attribute,
    values: Sequence[SSAValue],
    printer: Printer,
) -> None:
    with printer.in_square_brackets():
        printer.print_list(
            refinement.access, lambda form: print_form(printer, form, values)
        )
    sizes = type.sizes if isinstance(type, ViewType) else ()
    if sizes:
        printer.print_string(f" : {'x'.join(map(str, sizes))}")
    printer.print_string(refinement.format_suffix())


def _print_condition(
    form: LinearForm, values: Sequence[SSAValue], printer: Printer
) -> None:
    print_form(printer, form, values)
    printer.print_string(" >= 0")
