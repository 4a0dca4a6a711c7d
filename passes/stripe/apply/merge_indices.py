"""`stripe-merge-indices`: indices that are contiguous in all buffers become one.

Before:

```mlir
stripe.block "O" [%x : 7, %y : 7, %co : 32, %ci : 64]
    in %i = %I[0, %x, %y, %ci] : 1x1x1x1
    in %k = %K[%ci, %co] : 1x1
    out %o = %O[0, %x, %y, %co] : 1x1x1x1 add init 0 { ... }
```

After:

```mlir
%I_1 = stripe.reshape %I : !stripe.view<1x7x7x64xf32> to !stripe.view<1x49x64xf32>
%O_1 = stripe.reshape %O : !stripe.view<1x7x7x32xf32> to !stripe.view<1x49x32xf32>
stripe.block "O" [%x : 49, %co : 32, %ci : 64]
    in %i = %I_1[0, %x, %ci] : 1x1x1
    in %k = %K[%ci, %co] : 1x1
    out %o = %O_1[0, %x, %co] : 1x1x1 add init 0 { ... }
```

Tiles of `%x` no longer end where a row of the image does: 49 points are cut into better
tiles than 7 times 7 are. Two indices merge when every buffer has both, alone on two
neighbouring axes of which the second is as long as its index, or none of them.

Left alone are blocks in which nothing aggregates, whose pieces are contiguous as they
are, but with `streams`: lanes share a range better that is one. Then last axes of one
place go, too: a matrix of one column is a vector. Left alone are, too,
serial blocks, blocks with blocks inside or with tiles that are decided; and indices
that occur in constraints or whose values the statements use. After PlaidML's
flattening, which merges indices by their strides in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ..analysis.nests import (
    is_leaf,
    is_subscripted,
    reduction_indices,
    top_level_blocks,
)
from ..analysis.schedules import is_scheduled
from ..edit.merge import (
    are_contiguous,
    drop_last_axes,
    free_indices,
    merge_pair,
)


@dataclass(frozen=True)
class StripeMergeIndicesPass(ModulePass):
    """Make one index of those that are contiguous in all buffers of a block."""

    name = "stripe-merge-indices"

    streams: bool = False
    """Whether blocks in which nothing aggregates are merged, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge indices of top-level blocks, two at a time, while there are some."""
        for block in list(top_level_blocks(op)):
            if self.streams and _may_change(block):
                drop_last_axes(block)
            if self.streams or reduction_indices(block):
                while (pair := _pair(block)) is not None:
                    merge_pair(block, *pair)


def _pair(block: BlockOp) -> tuple[int, int] | None:
    """Two indices that can be one: the slow one and the fast one."""
    if not _may_change(block):
        return None
    for slow, fast in permutations(free_indices(block), 2):
        if are_contiguous(block, slow, fast):
            return slow, fast
    return None


def _may_change(block: BlockOp) -> bool:
    """Whether the indices of a block are free to be others."""
    if is_scheduled(block) or block.is_serial or not is_leaf(block):
        return False
    return not any(map(is_subscripted, block.views))
