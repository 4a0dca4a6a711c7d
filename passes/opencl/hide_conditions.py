"""`opencl-hide-conditions`: conditions on loops tell compilers nothing of the loops.

Where a body is skipped in the first steps of a loop, a compiler sees that the loop goes
on after them, and jumps to its start at once. So the loop gets a second way back, is
taken for two loops, one inside the other, and loses its marks. Intel's runtime for CPUs
then makes vectors of it that never end, in all versions that were tried.

A number that is 0 in every launch, and of which compilers do not know that, is added to
conditions on the indices of loops that stay: the first number of the work-items.

Before:

```mlir
opencl.for %k : 128 unroll 1 {
  opencl.if %k - 124 >= 0 {
    ...
  }
}
```

After:

```mlir
%zero = opencl.work_item global_offset 0 below 1
opencl.for %k : 128 unroll 1 {
  opencl.if %k + %zero - 124 >= 0 {
    ...
  }
}
```

Conditions on work-items and on loops that are unrolled completely are left alone: of
those it is good that they are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.work_items import WorkItemOp
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .modules import kernels


@dataclass(frozen=True)
class OpenCLHideConditionsPass(KernelPass):
    """Add an unknown zero to conditions on the indices of loops."""

    name = "opencl-hide-conditions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add the unknown zero to the conditions of all kernels that need it."""
        for kernel in kernels(op):
            _hide(kernel)


def _hide(kernel: KernelOp) -> None:
    tests = [op for op in operations(kernel) if isinstance(op, IfOp)]
    tests = [op for op in tests if any(map(_is_of_loop, op.values))]
    first = kernel.body.block.first_op
    if not tests or first is None:
        return
    zero = WorkItemOp(WorkItemQuery.GLOBAL_OFFSET, 0, 1)
    zero.result.name_hint = "zero"
    Rewriter.insert_op(located(zero, kernel), InsertPoint.before(first))
    for op in tests:
        forms = [_with_zero(op, form.data) for form in op.conditions]
        body = Rewriter.move_region_contents_to_new_regions(op.body)
        changed = IfOp(forms, [*op.values, zero.result], body)
        changed.attributes |= op.attributes
        Rewriter.replace_op(op, located(changed, op))


def _with_zero(op: IfOp, form: LinearForm) -> LinearForm:
    """A condition with one value more, where it is on the index of a loop."""
    is_on_loop = any(_is_of_loop(op.values[place]) for place in form.support)
    return LinearForm((*form.coefficients, int(is_on_loop)), form.constant)


def _is_of_loop(value: SSAValue) -> bool:
    """Whether a value is the index of a loop that stays."""
    if not isinstance(value, BlockArgument):
        return False
    loop = value.block.parent_op()
    return isinstance(loop, ForOp) and loop.unroll is None
