"""`opencl-coalesce-loops`: loops around the steps of a group are one loop.

The work-items of a group sum up in steps: they copy pieces to local memory, wait, use
them, and wait again. Where several indices are summed over there is a loop for each.
One loop over all of them has one first step in place of many, for which there is
nothing to do until its pieces have come (see `opencl-double-buffer`).

Before:

```mlir
opencl.for %i : 3 {
  opencl.for %k : 4 {
    ... copies that use %i and %k ...
    opencl.barrier local
    ...
    opencl.barrier local
  }
}
```

After:

```mlir
opencl.for %k : 12 {
  %i, %k_1 = opencl.delinearize %k into [3, 4]
  ... the same with %k_1 in place of %k ...
}
```

That is done until there are `steps` of them, and for all of them where these are few
times as many: what is the same in all steps of an inner loop, as places and tests of a
tap of a convolution, is computed once for all of them as long as loops are apart.

Left alone are loops without barriers right inside, those with something beside the
loop inside them, and unrolled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.work_items import BarrierOp, DelinearizeOp
from ..kernel_pass import KernelPass
from ..locations import check_positive, located
from ..walking import operations
from .modules import kernels

_FEW_TIMES = 4
"""As many times the steps that are enough may be in one loop, too."""


@dataclass(frozen=True)
class OpenCLCoalesceLoopsPass(KernelPass):
    """Make one loop of those right around the steps of a group."""

    name = "opencl-coalesce-loops"

    steps: int = 8
    """So many steps in one loop are enough, and four times as many never too many."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Coalesce the loops of all kernels.

        Raises GinghamError where less than one step is to be enough.
        """
        check_positive(op, steps=self.steps)
        for kernel in kernels(op):
            barriers = [e for e in operations(kernel) if isinstance(e, BarrierOp)]
            for loop in dict.fromkeys(each.parent_op() for each in barriers):
                nest = _nest(loop, self.steps)
                if len(nest) > 1:
                    _coalesce(nest)


def _nest(innermost: Operation | None, enough: int) -> list[ForOp]:
    """A loop and those that have nothing else inside, the outermost first.

    As many as have enough steps together, or all that have few.
    """
    nest: list[ForOp] = []
    steps, loop = 1, innermost
    while isinstance(loop, ForOp) and loop.unroll is None:
        body, extent = loop.body.block, loop.steps
        if nest and body.first_op is not body.last_op:
            break
        if steps >= enough and steps * extent > _FEW_TIMES * enough:
            break
        nest.insert(0, loop)
        steps *= extent
        loop = loop.parent_op()
    return nest


def _coalesce(nest: Sequence[ForOp]) -> None:
    """Put one loop in place of loops inside each other, the outermost first."""
    outermost, innermost = nest[0], nest[-1]
    extents = [loop.steps for loop in nest]
    index = innermost.index
    region = ForOp.empty_body(index.name_hint)
    apart = DelinearizeOp(region.block.args[0], extents)
    region.block.add_op(located(apart, innermost))
    for loop, coordinate in zip(nest, apart.coordinates, strict=True):
        own = loop.index
        coordinate.name_hint = own.name_hint
        own.replace_all_uses_with(coordinate)
    for op in [*innermost.body.block.ops]:
        op.detach()
        region.block.add_op(op)
    whole = ForOp(prod(extents), region)
    whole.unroll_factor = innermost.unroll_factor
    Rewriter.insert_op(located(whole, innermost), InsertPoint.before(outermost))
    Rewriter.erase_op(outermost)
