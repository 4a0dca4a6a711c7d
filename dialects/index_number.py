"""A linear form of indices as a number: what `stripe.index`, `opencl.index` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..affine.form import LinearForm
from .building import DialectOperation
from .eltwise.element_types import is_integer_type
from .eltwise.ops import element_of
from .form_attribute import FormAttr
from .index_sum import IndexSum
from .syntax import ValueForms, compact, print_form


class IndexNumberOp(DialectOperation):
    """A form over index values, converted to an integer type; see its subclasses."""

    values = var_operand_def(IndexType)
    form = prop_def(FormAttr)
    step = opt_prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        form: LinearForm,
        values: Sequence[SSAValue],
        type: Attribute,
        step: int | None = None,
    ) -> None:
        (compacted,), used = compact([form], values)
        super().__init__(
            operands=[used],
            properties={
                "form": FormAttr(compacted),
                "step": None if step is None else IntegerAttr(step, i64),
            },
            result_types=[type],
        )

    @property
    def sum(self) -> IndexSum:
        """The form with its values."""
        return IndexSum.of(self.form.data, self.values)

    def rewrite(self, sum: IndexSum) -> None:
        """Let it be the number of another sum, in place."""
        form, values = sum.as_form()
        self.operands = values
        self.form = FormAttr(form)

    @property
    def lane_step(self) -> int | None:
        """What is between the lanes of a vector; None for a scalar."""
        return None if self.step is None else self.step.value.data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `2 * %i + 1 step 1 : <type>`; vectors have a step."""
        forms = ValueForms(parser)
        polynomial = forms.parse()
        step = None
        if parser.parse_optional_keyword("step") is not None:
            step = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        (form,) = forms.forms([polynomial])
        op = cls(form, forms.resolve(), parser.parse_type(), step)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the form with the names of its values, a vector's step, the type."""
        printer.print_string(" ")
        print_form(printer, self.form.data, self.values)
        if self.lane_step is not None:
            printer.print_string(f" step {self.lane_step}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Raise VerifyException unless form, step and type fit.

        The form has a dimension for each value and integer coefficients, the type is of
        integers, and a vector has a step.
        """
        form = self.form.data
        if form.rank != len(self.values):
            raise VerifyException(
                f"expected a form over {len(self.values)} indices, got {form.rank}"
            )
        if not form.is_integral:
            raise VerifyException("expected integer coefficients only")
        type = self.result.type
        if not is_integer_type(element_of(type)):
            raise VerifyException(f"expected an integer type such as si32, got {type}")
        if isinstance(type, VectorType) != (self.step is not None):
            raise VerifyException("expected a step for a vector and for nothing else")
