"""The control flow of a kernel: loops and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, UnitAttr, i64
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ..building import INDEX, DialectOperation, build, operation_definition
from ..form_attribute import FormAttr
from ..syntax import ValueForms, compact, print_form
from .memory import StoreOp, verify_form


@lru_cache(maxsize=1024)
def _number(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


@operation_definition
class ForOp(DialectOperation):
    """A loop from 0 up: `opencl.for %k : 1024 { ... }`.

    Unrolled completely with `: 8 unroll`. With `: 1024 unroll 4` the device's compiler
    puts four steps side by side, and with `unroll 1` none, whatever it thinks of it. It
    makes no vectors of the steps of such a loop.
    """

    name = "opencl.for"
    extent = prop_def(IntegerAttr)
    unroll = opt_prop_def(UnitAttr)
    unroll_factor = opt_prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        extent: int,
        body: Region,
        *,
        unroll: bool = False,
        unroll_factor: int | None = None,
    ) -> None:
        build(
            self,
            properties={
                "extent": _number(extent),
                "unroll": UnitAttr() if unroll else None,
            },
            regions=[body],
        )
        if unroll_factor is not None:
            self.limit_unrolling(unroll_factor)

    def limit_unrolling(self, factor: int) -> None:
        """Let the device's compiler put so many steps side by side."""
        self.unroll_factor = _number(factor)

    @property
    def index(self) -> BlockArgument:
        """What counts the steps, from 0."""
        return self.body.block.args[0]

    @property
    def steps(self) -> int:
        """How often the body runs."""
        return self.extent.value.data

    @staticmethod
    def empty_body(name_hint: str | None = None) -> Region:
        """A region whose block has the loop's index as its argument."""
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = name_hint
        return Region(block)

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        """Read `%k : 1024 unroll 4 { ... }`; `unroll` and its factor are optional."""
        index = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_punctuation(":")
        extent = parser.parse_integer(allow_negative=False)
        unroll = parser.parse_optional_keyword("unroll") is not None
        factor = parser.parse_optional_integer(allow_negative=False) if unroll else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([index])
        is_complete = unroll and factor is None
        op = cls(extent, body, unroll=is_complete, unroll_factor=factor)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print index, number of steps, how it is unrolled, and body."""
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(f" : {self.steps}")
        if self.unroll is not None:
            printer.print_string(" unroll")
        if self.unroll_factor is not None:
            printer.print_string(f" unroll {self.unroll_factor.value.data}")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )

    def verify_(self) -> None:
        """Raise VerifyException for a body without its index, or a factor below 1."""
        if [argument.type for argument in self.body.block.args] != [INDEX]:
            raise VerifyException("expected a body with one index argument")
        if self.unroll_factor is None:
            return
        if self.unroll is not None:
            raise VerifyException("expected 'unroll' with or without a factor")
        if self.unroll_factor.value.data < 1:
            raise VerifyException("expected a factor of 1 or more")


@operation_definition
class IfOp(DialectOperation):
    """Runs its body where all conditions hold: `opencl.if %i + %k - 3 >= 0 { }`.

    With `else zero` the body copies asynchronously, and where a condition fails, the
    cells that it copies to are set to zero in the same way.
    """

    name = "opencl.if"
    values = var_operand_def(IndexType)
    conditions = prop_def(ArrayAttr[FormAttr])
    zeros = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self, conditions: Sequence[LinearForm], values: Sequence[SSAValue], body: Region
    ) -> None:
        forms, used = compact(conditions, values)
        build(
            self,
            operands=used,
            properties={"conditions": ArrayAttr([FormAttr(f) for f in forms])},
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        """Read `%i + %k - 3 >= 0, %i >= 0 else zero { ... }`, the words if there."""
        forms = ValueForms(parser)
        polynomials = [forms.parse()]
        _parse_at_least_zero(parser)
        while parser.parse_optional_punctuation(",") is not None:
            polynomials.append(forms.parse())
            _parse_at_least_zero(parser)
        zeros = parser.parse_optional_keyword("else") is not None
        if zeros:
            parser.parse_keyword("zero")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        values = forms.resolve()
        op = cls(forms.forms(polynomials), values, parser.parse_region([]))
        op.zeros = UnitAttr() if zeros else None
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print each condition as a form that is at least 0, then the body."""
        for number, condition in enumerate(self.conditions):
            printer.print_string(", " if number else " ")
            print_form(printer, condition.data, self.values)
            printer.print_string(" >= 0")
        if self.zeros is not None:
            printer.print_string(" else zero")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def verify_(self) -> None:
        """Raise VerifyException without a condition, or for one over other values."""
        if not self.conditions:
            raise VerifyException("expected at least one condition")
        for condition in self.conditions:
            verify_form(condition.data, len(self.values))
        if self.zeros is not None and self.copy is None:
            raise VerifyException("expected 'else zero' of a single asynchronous copy")

    @property
    def copy(self) -> StoreOp | None:
        """The store of a body that only copies asynchronously; None of others."""
        last = self.body.block.last_op
        if not isinstance(last, StoreOp) or last.asynchronous is None:
            return None
        return last if self.body.block.first_op is last.value.owner else None


def _parse_at_least_zero(parser: Parser) -> None:
    parser.parse_punctuation(">")
    parser.parse_punctuation("=")
    start = parser.pos
    if parser.parse_integer() != 0:
        parser.raise_error("expected '>= 0'", start, parser.pos)
