"""`opencl-divide-by-scalars`: a vector divided by one number needs one division.

A processor divides 16 numbers in the time of some 20 multiply-adds. Where all lanes
have the same divisor, as in the last step of a softmax, its reciprocal is one division
of a scalar, mostly outside of the loop, and a product corrected by its remainder is the
same quotient, bit by bit: see [`opencl.divide`](dialects.md#opencldivide).

Before:

```mlir
%sum = opencl.load %Sum[%i] : !opencl.pointer<f32, private> -> f32
opencl.for %j : 64 {
  %x = opencl.load %S[16 * %j] : !opencl.pointer<f32, private> -> vector<16xf32>
  %0 = eltwise.broadcast %sum : f32 to vector<16xf32>
  %1 = eltwise.div %x, %0 : vector<16xf32>
  opencl.store %1, %S[16 * %j] : vector<16xf32> -> !opencl.pointer<f32, private>
}
```

After:

```mlir
%sum = opencl.load %Sum[%i] : !opencl.pointer<f32, private> -> f32
opencl.for %j : 64 {
  %x = opencl.load %S[16 * %j] : !opencl.pointer<f32, private> -> vector<16xf32>
  %0 = opencl.divide %x by %sum : vector<16xf32>
  opencl.store %0, %S[16 * %j] : vector<16xf32> -> !opencl.pointer<f32, private>
}
```

Constants are divisors too, but for powers of two, by which compilers multiply. Other
types than f32 stay.
"""

from __future__ import annotations

from math import frexp

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.ops import (
    BroadcastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.opencl.division import DivideOp
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .modules import kernels


class OpenCLDivideByScalarsPass(KernelPass):
    """Divide vectors of f32 by scalars through a product and its remainder."""

    name = "opencl-divide-by-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace divisions by a number that is in every lane, in all kernels."""
        for kernel in kernels(op):
            for inner in operations(kernel):
                if isinstance(inner, ElementwiseOp):
                    _divide_by_scalar(inner)


def _divide_by_scalar(op: ElementwiseOp) -> None:
    """Replace an op if it divides a vector of f32 by the same number in all lanes."""
    type = op.result.type
    if op.function.name != "div" or not isinstance(type, VectorType):
        return
    if element_of(type) != f32:
        return
    argument, divisor = op.arguments
    scalar = _scalar(divisor, op)
    if scalar is None:
        return
    divide = located(DivideOp(argument, scalar), op)
    divide.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, divide)
    owner = divisor.owner
    if isinstance(owner, BroadcastOp | ConstantOp) and divisor.first_use is None:
        Rewriter.erase_op(owner)


def _scalar(divisor: SSAValue, op: ElementwiseOp) -> SSAValue | None:
    """What all lanes of a divisor are; None if they differ or a product is the same."""
    owner = divisor.owner
    if isinstance(owner, BroadcastOp):
        return owner.argument
    if not isinstance(owner, ConstantOp):
        return None
    if frexp(abs(float(owner.number)))[0] == 0.5:
        return None
    constant = located(ConstantOp(owner.number, f32), op)
    Rewriter.insert_op(constant, InsertPoint.before(op))
    return constant.result
