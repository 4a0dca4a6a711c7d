"""The pretty form of `stripe.block`.

```
block      = [string] ["serial"] "[" [index {"," index}] "]" {refinement}
             ["where" constraints] attr-dict region
index      = value ":" range [level]
refinement = ("in" | "out" | "inout") value "=" value "[" forms "]" [":" sizes]
             [aggregation] ["init" number]
constraint = form ">=" "0"
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
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
from .attributes import Direction, Level, Refinement, ViewType, parse_suffix
from .block import BlockOp


@dataclass
class _ParsedRefinement:
    direction: Direction
    argument: Parser.Argument
    buffer: SSAValue
    access: list[Polynomial]
    aggregation: Aggregation
    init: int | float | None


def parse_block(parser: Parser) -> BlockOp:
    """Parse what follows `stripe.block`."""
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
    op = BlockOp(
        [extent for _, extent, _ in indices],
        [refinement.buffer for refinement in refinements],
        [
            Refinement(r.direction, tuple(forms.forms(r.access)), r.aggregation, r.init)
            for r in refinements
        ],
        body,
        captures=forms.resolve(len(indices)),
        constraints=forms.forms(constraints),
        levels=[level for _, _, level in indices],
        block_name=name,
        serial=is_serial,
    )
    if attributes is not None:
        op.attributes |= attributes.data
    return op


def _parse_index(
    parser: Parser, forms: ValueForms
) -> tuple[Parser.Argument, int, Level]:
    argument = parser.parse_argument(expect_type=False).resolve(IndexType())
    forms.declare(UnresolvedOperand(argument.name, 0))
    parser.parse_punctuation(":")
    extent = parser.parse_integer(allow_negative=False)
    return argument, extent, parse_optional_enum(parser, Level) or Level.LOOP


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


def print_block(op: BlockOp, printer: Printer) -> None:
    """Print what follows `stripe.block`."""
    printer.print_string(" ")
    if op.block_name is not None:
        printer.print_string_literal(op.block_name.data)
        printer.print_string(" ")
    if op.is_serial:
        printer.print_string("serial ")
    # Names of the body's arguments may be used again by the next block.
    printer.enter_scope()
    with printer.in_square_brackets():
        printer.print_list(
            range(len(op.indices)), lambda number: _print_index(op, number, printer)
        )
    with printer.indented(2):
        for number in range(len(op.refinements)):
            _print_refinement(op, number, printer)
        if op.constraints:
            printer.print_string("\nwhere ")
            printer.print_list(
                op.conditions, lambda form: _print_condition(op, form, printer)
            )
        if op.attributes:
            printer.print_string("\nattributes")
            printer.print_op_attributes(op.attributes)
    printer.print_string(" ")
    printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)
    printer.exit_scope()


def _print_index(op: BlockOp, number: int, printer: Printer) -> None:
    printer.print_ssa_value(op.indices[number])
    printer.print_string(f" : {op.index_ranges[number]}")
    level = op.index_levels[number]
    if level is not Level.LOOP:
        printer.print_string(f" {level.value}")


def _print_refinement(op: BlockOp, number: int, printer: Printer) -> None:
    refinement = op.refinement(number)
    printer.print_string(f"\n{refinement.direction.value} ")
    printer.print_ssa_value(op.view(number))
    printer.print_string(" = ")
    printer.print_ssa_value(op.buffer(number))
    with printer.in_square_brackets():
        printer.print_list(
            refinement.access, lambda form: print_form(printer, form, op.form_values)
        )
    sizes = op.view_type(number).sizes
    if sizes:
        printer.print_string(f" : {'x'.join(map(str, sizes))}")
    printer.print_string(refinement.format_suffix())


def _print_condition(op: BlockOp, form: LinearForm, printer: Printer) -> None:
    print_form(printer, form, op.form_values)
    printer.print_string(" >= 0")
