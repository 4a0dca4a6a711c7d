"""`opencl-hide-complements`: compilers do not see that integers are complemented.

The smaller of `~a` and `~b` is `~` of the larger of `a` and `b`, and a compiler may
compute either. One version of Intel's runtime for CPUs confuses them: minima and
maxima of complements are wrong, in loops and outside of them, or the compiler crashes.

So `~x`, `-1 - x` and `-x - 1`, which are the same, become an exclusive or with a number
of which all bits are 1 in every launch, and of which compilers do not know that.

Before:

```mlir
%y = eltwise.bit_not %x : si32
%z = eltwise.min %y, %a : si32
```

After:

```mlir
%zero = opencl.work_item global_offset 0 below 1
%ones = opencl.index %zero - 1 : si32
%y = eltwise.bit_xor %x, %ones : si32
%z = eltwise.min %y, %a : si32
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import bit_width, is_integer_type
from ...dialects.eltwise.ops import FUNCTION_OPS, ConstantOp, element_of
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.data_ops import IndexOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.work_items import WorkItemOp
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .modules import kernels

_NOT, _XOR = FUNCTION_OPS["bit_not"], FUNCTION_OPS["bit_xor"]
_ADD, _SUB, _NEG = (FUNCTION_OPS[name] for name in ("add", "sub", "neg"))


@dataclass(frozen=True)
class OpenCLHideComplementsPass(KernelPass):
    """Compute complements of integers from a number that compilers do not know."""

    name = "opencl-hide-complements"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace complements by `x ^ ones` in all kernels that have some."""
        for kernel in kernels(op):
            _hide(kernel)


def _hide(kernel: KernelOp) -> None:
    found = [op for op in operations(kernel) if _complemented(op) is not None]
    first = kernel.body.block.first_op
    if not found or first is None:
        return
    zero = WorkItemOp(WorkItemQuery.GLOBAL_OFFSET, 0, 1)
    zero.result.name_hint = "zero"
    Rewriter.insert_op(located(zero, kernel), InsertPoint.before(first))
    for op in found:
        # It may be what came of another one.
        x = _complemented(op)
        if x is None:
            continue
        step = 0 if isinstance(x.type, VectorType) else None
        form = LinearForm.dimension(0, 1) + -1
        ones = IndexOp(form, [zero.result], x.type, step)
        ones.result.name_hint = "ones"
        xor = _XOR.build_typed([x, ones.result], x.type)
        xor.results[0].name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, [located(ones, op), located(xor, op)], xor.results)


def _complemented(op: Operation) -> SSAValue | None:
    """The integer that an operation complements, if any."""
    if not op.results or not is_integer_type(element_of(op.results[0].type)):
        return None
    if isinstance(op, _NOT):
        return op.operands[0]
    if isinstance(op, _SUB) and _is_constant(op.operands[0], -1):
        return op.operands[1]
    if isinstance(op, _SUB) and _is_constant(op.operands[1], 1):
        return _negated(op.operands[0])
    if isinstance(op, _ADD) and _is_constant(op.operands[1], -1):
        return _negated(op.operands[0])
    if isinstance(op, _ADD) and _is_constant(op.operands[0], -1):
        return _negated(op.operands[1])
    return None


def _negated(value: SSAValue) -> SSAValue | None:
    return value.owner.operands[0] if isinstance(value.owner, _NEG) else None


def _is_constant(value: SSAValue, number: int) -> bool:
    """Whether all lanes are a number, as far as the type has bits."""
    if not isinstance(value.owner, ConstantOp):
        return False
    difference = int(value.owner.number) - number
    return difference % 2 ** bit_width(element_of(value.type)) == 0
