"""Ops between indices and data: indices as numbers, positions, conditions."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerAttr, i1, i64
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..eltwise.element_types import is_integer_type
from ..index_number import IndexNumberOp
from ..syntax import parse_defined_value


@operation_definition
class IndexOp(IndexNumberOp):
    """A linear form of indices as a number: `%x = opencl.index 2 * %i + 1 : si32`.

    The result is an integer of any width, to which the form is converted as
    `eltwise.cast` does. With a step it is a vector, whose lane `n` is the form plus `n`
    times the step: `opencl.index 16 * %j step 1 : vector<16xsi32>`.
    """

    name = "opencl.index"


@operation_definition
class PositionOp(DialectOperation):
    """A number of the data as an index: `%p = opencl.position %x below 100`.

    The number is an integer from 0 to below the bound: whoever computes it sees to
    that. So positions that it is part of have proven ranges.
    """

    name = "opencl.position"
    number = operand_def()
    bound = prop_def(IntegerAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, number: SSAValue, bound: int) -> None:
        super().__init__(
            operands=[number],
            properties={"bound": IntegerAttr(bound, i64)},
            result_types=[IndexType()],
        )

    @classmethod
    def parse(cls, parser: Parser) -> PositionOp:
        """Read `%x below 100`."""
        number = parse_defined_value(parser)
        parser.parse_keyword("below")
        op = cls(number, parser.parse_integer(allow_negative=False))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Print the number and the bound that it stays below."""
        printer.print_string(" ")
        printer.print_ssa_value(self.number)
        printer.print_string(f" below {self.bound.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """Raise VerifyException for a number that is no integer."""
        if not is_integer_type(self.number.type):
            raise VerifyException(
                f"expected an integer such as si32, got {self.number.type}"
            )


@operation_definition
class WhenOp(DialectOperation):
    """Runs its body where a truth value of the data holds: `opencl.when %keep { }`."""

    name = "opencl.when"
    condition = operand_def(i1)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, condition: SSAValue, body: Region) -> None:
        super().__init__(operands=[condition], regions=[body])

    @classmethod
    def parse(cls, parser: Parser) -> WhenOp:
        """Read `%keep { ... }`; the condition is of type i1."""
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(condition, parser.parse_region([]))
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print the condition and the body, without an empty block's label."""
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)
