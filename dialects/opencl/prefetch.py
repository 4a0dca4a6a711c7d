"""A hint that memory is read soon."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ..building import DialectOperation, operation_definition
from ..form_attribute import FormAttr
from ..stripe.attributes import MemorySpace
from ..syntax import ValueForms, compact, print_form
from .attributes import PointerType


@operation_definition
class PrefetchOp(DialectOperation):
    """The line of a cache that is read soon: `opencl.prefetch %A[64 * %h + %n]`.

    It changes nothing but when the line comes. The position may lie outside of the
    memory: nothing is read then.
    """

    name = "opencl.prefetch"
    pointer = operand_def(PointerType)
    values = var_operand_def(IndexType)
    form = prop_def(FormAttr)

    def __init__(
        self, pointer: SSAValue, form: LinearForm, values: Sequence[SSAValue]
    ) -> None:
        (position,), used = compact([form], values)
        super().__init__(
            operands=[pointer, used], properties={"form": FormAttr(position)}
        )

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        """Read `%A[64 * %h + %n] : <pointer>`."""
        pointer = parser.parse_unresolved_operand()
        forms = ValueForms(parser)
        with parser.in_square_brackets():
            polynomial = forms.parse()
        (form,), values = forms.forms([polynomial]), forms.resolve()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(pointer, parser.parse_type()), form, values)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the position, in elements from the pointer, and the pointer's type."""
        printer.print_string(" ")
        printer.print_ssa_value(self.pointer)
        with printer.in_square_brackets():
            print_form(printer, self.form.data, self.values)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.pointer.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the position is one in global memory."""
        if self.form.data.rank != len(self.values):
            raise VerifyException("expected a value for each index of the position")
        if not self.form.data.is_integral:
            raise VerifyException("expected integer coefficients only")
        pointer = self.pointer.type
        is_pointer = isinstance(pointer, PointerType)
        if not is_pointer or pointer.space.data is not MemorySpace.GLOBAL:
            raise VerifyException(f"expected a pointer to global memory, got {pointer}")
