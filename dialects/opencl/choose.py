"""Memory that an index chooses: one body for launches that differ in buffers only."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Region, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..syntax import parse_arguments
from .attributes import PointerType


@operation_definition
class ChooseOp(DialectOperation):
    """Runs its body with the pointers that belong to the value of an index.

    ```mlir
    opencl.choose %part from 2 of [%A, %B] [%C, %D]
        (%x : !opencl.pointer<f32, global>, %y : !opencl.pointer<f32, global>) {
      ...
    }
    ```

    Where `%part` is 2, `%x` and `%y` are `%A` and `%B`; where it is 3, they are `%C`
    and `%D`; elsewhere the body does not run.
    """

    name = "opencl.choose"
    index = operand_def(IndexType)
    pointers = var_operand_def(PointerType)
    first = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        index: SSAValue,
        first: int,
        cases: Sequence[Sequence[SSAValue]],
        body: Region,
    ) -> None:
        super().__init__(
            operands=[index, [pointer for case in cases for pointer in case]],
            properties={"first": IntegerAttr(first, i64)},
            regions=[body],
        )

    @property
    def cases(self) -> list[tuple[SSAValue, ...]]:
        """For each value of the index, from `first` on, the pointers of the body."""
        count = len(self.body.block.args)
        pointers = tuple(self.pointers)
        return [pointers[n : n + count] for n in range(0, len(pointers), max(count, 1))]

    @classmethod
    def parse(cls, parser: Parser) -> ChooseOp:
        """Read `%part from 2 of [%A] [%C] (%x : <pointer>) { ... }`.

        Raises ParseError where a list has more or fewer pointers than the body has
        arguments.
        """
        index = parser.parse_operand(IndexType())
        parser.parse_keyword("from")
        first = parser.parse_integer(allow_negative=False)
        parser.parse_keyword("of")
        start = parser.pos
        cases: list[list[UnresolvedOperand]] = []
        while True:
            square = parser.Delimiter.SQUARE
            operands = parser.parse_optional_comma_separated_list(
                square, parser.parse_unresolved_operand
            )
            if operands is None:
                break
            cases.append(operands)
        arguments = parse_arguments(parser)
        types = [argument.type for argument in arguments]
        resolved = [parser.resolve_operands(case, types, start) for case in cases]
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(index, first, resolved, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print a list of pointers for each case, then the body with its arguments."""
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(f" from {self.first.value.data} of")
        for case in self.cases:
            printer.print_string(" ")
            with printer.in_square_brackets():
                printer.print_list(case, printer.print_ssa_value)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )

    def verify_(self) -> None:
        """Raise VerifyException unless each case has pointers as the arguments."""
        want = [argument.type for argument in self.body.block.args]
        if not want or not self.pointers:
            raise VerifyException("expected one case with one pointer at least")
        for case in self.cases:
            if [pointer.type for pointer in case] != want:
                raise VerifyException(
                    f"expected {len(want)} pointer(s) for each case, of the types of "
                    "the body's arguments"
                )
