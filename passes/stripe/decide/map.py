"""`stripe-map`: give the indices of top-level blocks their place on the device.

Every top-level block becomes a kernel. Those of its indices whose values own different
cells of every output run in parallel: they become work-groups (`grid`). Indices that
aggregate remain loops, and so do those of a serial block.

Before:

```mlir
stripe.block "C" [%i : 128, %j : 32] ...
    out %c = %C[8 * %i, 32 * %j] : 8x32 { ... }
```

After:

```mlir
stripe.block "C" [%i : 128 grid, %j : 32 grid] ...
    out %c = %C[8 * %i, 32 * %j] : 8x32 { ... }
```

The last of them runs fastest: work-groups that follow each other differ in it, and so
share what does not depend on it in the caches (the schedule's `order` chooses, which
`stripe-tile` has applied). Indices that are bound already stay so. Where
subscripts choose the cells of a plain output, every point has its own by the meaning of
blocks, and all indices run in parallel.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ...kernel_pass import KernelPass
from ..analysis.nests import (
    assigns_at_subscripts,
    is_injective,
    reduction_indices,
    top_level_blocks,
)
from ..edit.schedules import bind


@dataclass(frozen=True)
class StripeMapPass(KernelPass):
    """Run the points of top-level blocks in parallel, as work-groups."""

    name = "stripe-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind undecided indices of top-level blocks to `grid` where they may be."""
        for block in top_level_blocks(op):
            _map(block)


def _map(block: BlockOp) -> None:
    shared = [
        number
        for number, refinement in enumerate(block.refinement_list)
        if refinement.direction.writes and not assigns_at_subscripts(block, number)
    ]
    if block.is_serial or not all(is_injective(block, number) for number in shared):
        return
    reductions = reduction_indices(block) if shared else frozenset[int]()
    chosen = [
        index
        for index, own in enumerate(block.index_bindings)
        if own is Binding.UNDECIDED and index not in reductions
    ]
    if chosen:
        bind(block, chosen, Binding.GRID, "each value has cells of its own")
