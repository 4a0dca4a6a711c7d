"""Division of a vector by one number."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    VarConstraint,
    base,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..eltwise.ops import element_of


@operation_definition
class DivideOp(DialectOperation):
    """A vector divided by a scalar: `%q = opencl.divide %x by %y : vector<16xf32>`.

    It gives what `eltwise.div` does of a vector with `%y` in every lane, bit by bit,
    and takes a product and two fused multiply-adds instead of a division where `%y` and
    the lanes are of ordinary size.
    """

    WEIGHT: ClassVar = 4.0
    """About how many vector operations it takes, a division being eight."""
    LANES: ClassVar = VarConstraint("LANES", base(VectorType))

    name = "opencl.divide"
    argument = operand_def(LANES)
    divisor = operand_def(f32)
    result = result_def(LANES)
    traits = traits_def(Pure())
    assembly_format = "$argument `by` $divisor attr-dict `:` type($result)"

    def __init__(self, argument: SSAValue, divisor: SSAValue) -> None:
        super().__init__(operands=[argument, divisor], result_types=[argument.type])

    def verify_(self) -> None:
        """Raise VerifyException unless elements are f32: only these come out exact."""
        if element_of(self.result.type) != f32:
            raise VerifyException(f"expected a vector of f32, got {self.result.type}")
