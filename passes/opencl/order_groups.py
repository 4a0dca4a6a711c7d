"""`opencl-order-groups`: groups that run at the same time share what they read.

Devices start work-groups along the first dimension of a launch, then along the second.
Those that run at once have a whole row of tiles then: few different rows of one input
of a product, and all columns of the other. With this pass they have several rows of
some columns, a square that reads less from memory.

Before:

```mlir
%j = opencl.work_item group_id 0 below 32
%i = opencl.work_item group_id 1 below 32
%a = opencl.load %A[128 * %i + %k] : !opencl.pointer<f32, global> -> f32
%b = opencl.load %B[128 * %j + %k] : !opencl.pointer<f32, global> -> f32
```

After:

```mlir
%j = opencl.work_item group_id 0 below 32
%i = opencl.work_item group_id 1 below 32
%j_1, %i_1 = opencl.delinearize %j into [4, 8]
%i_2, %j_2 = opencl.delinearize %i into [4, 8]
%a = opencl.load %A[1024 * %i_2 + 128 * %i_1 + %k] : ...
%b = opencl.load %B[512 * %j_2 + 128 * %j_1 + %k] : ...
```

It is done where more groups than a device has cores read arrays in loops, one of which
groups along either dimension share; with as many rows as make a square of groups that
run at once, or as divide both dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, isqrt, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.index_sum import IndexSum
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import LoadOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ..hardware_pass import HardwarePass
from ..locations import located
from ..walking import operations
from .forms import FORMED, place, space_of, substitute
from .loops import group_numbers, loops_around


@dataclass(frozen=True)
class OpenCLOrderGroupsPass(HardwarePass):
    """Let groups that run at the same time share what they read."""

    name = "opencl-order-groups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Order the groups of all kernels for which that pays.

        Raises GinghamError for hardware that is not known.
        """
        cores = self.figures.cores
        for kernel in op.ops:
            if isinstance(kernel, KernelOp):
                numbers = {n.dimension.value.data: n for n in group_numbers(kernel)}
                if len(numbers) == len(group_numbers(kernel)) and {0, 1} <= {*numbers}:
                    _order(kernel, numbers[0], numbers[1], cores)


def _order(kernel: KernelOp, first: WorkItemOp, second: WorkItemOp, cores: int) -> None:
    extents = [each.bound.value.data for each in (first, second)]
    rows = _rows(extents, cores)
    uses = [use.operation for n in (first, second) for use in n.result.uses]
    if rows < 2 or not all(isinstance(use, FORMED) for use in uses):
        return
    if not _share(kernel, first.result, second.result):
        return
    inner = DelinearizeOp(first.result, (extents[0] // rows, rows))
    outer = DelinearizeOp(second.result, (extents[1] // rows, rows))
    column, row = map(IndexSum.value, inner.coordinates)
    rows_before, turn = map(IndexSum.value, outer.coordinates)
    replacements: dict[SSAValue, IndexSum] = {
        first.result: turn * (extents[0] // rows) + column,
        second.result: rows_before * rows + row,
    }
    for name, coordinate in zip(
        (first, second, second, first),
        (*inner.coordinates, *outer.coordinates),
        strict=True,
    ):
        coordinate.name_hint = name.result.name_hint
    for use in dict.fromkeys(uses):
        substitute(use, replacements)
    new = [located(each, kernel) for each in (inner, outer)]
    last = max((first, second), key=kernel.body.block.get_operation_index)
    Rewriter.insert_op(new, InsertPoint.after(last))


def _rows(extents: Sequence[int], cores: int) -> int:
    """How many rows groups that run at once have: a power of two that divides both."""
    if prod(extents) <= cores:
        return 1
    shared = gcd(*extents)
    return min(shared & -shared, 1 << (isqrt(cores).bit_length() - 1))


def _share(kernel: KernelOp, first: SSAValue, second: SSAValue) -> bool:
    """Whether the groups along each dimension read much of some array together."""
    moved = [{*place(load).values} & {first, second} for load in _far_loads(kernel)]
    return {first} in moved and {second} in moved


def _far_loads(kernel: KernelOp) -> Iterator[LoadOp]:
    """What loads global memory in loops that stay."""
    for op in operations(kernel):
        if isinstance(op, LoadOp) and space_of(op.pointer) is MemorySpace.GLOBAL:
            stays = any(loop.unroll is None for loop in loops_around(op))
            yield from (op,) if stays else ()
