"""`stripe.reshape`: the same memory seen with another shape."""

from __future__ import annotations

from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from .attributes import ViewType


@operation_definition
class ReshapeOp(DialectOperation):
    """A buffer with its elements, in row-major order, under another shape.

    `%b = stripe.reshape %a : !stripe.view<4x5xf32> to !stripe.view<20xf32>`. Nothing is
    copied: what is stored through one view is loaded through the other. It stands at
    the top of a function. A function must not return both views.
    """

    name = "stripe.reshape"
    source = operand_def(ViewType)
    view = result_def(ViewType)
    traits = traits_def(Pure(), HasParent(FuncOp))
    assembly_format = "$source attr-dict `:` type($source) `to` type($view)"

    def __init__(self, source: SSAValue, type: ViewType) -> None:
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        """Raise VerifyException unless both have as many elements in one space."""
        source, view = self.source.type, self.view.type
        if not isinstance(source, ViewType):
            raise VerifyException(f"expected a view, got {source}")
        if view.element_type != source.element_type or view.space != source.space:
            raise VerifyException(
                f"expected the element type and space of {source}, got {view}"
            )
        if prod(view.sizes) != prod(source.sizes):
            raise VerifyException(
                f"expected a view of {prod(source.sizes)} element(s) as {source} has, "
                f"got {prod(view.sizes)}"
            )
