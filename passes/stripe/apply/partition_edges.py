"""`stripe-partition-edges`: split off what tiles leave over where they must not reach.

The last tile may reach further than the points of a block do. A constraint keeps points
apart from what is there, but a tile sets all cells of its windows of outputs with
`init`. That does no harm beyond the end of a buffer; where there are other cells, a
block with tiles in its schedule becomes several: the interior, which the tiles
fill exactly, and the edges.

Before:

```mlir
stripe.block "C" [%i : 60]
    in %a = %A[%i] : 1
    out %c = %C[%i] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<tile [32]>} { ... }
```

After, where `%C` has 70 elements:

```mlir
stripe.block "C" [%i : 32]
    in %a = %A[%i] : 1
    out %c = %C[%i] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<tile [32]>} { ... }
stripe.block "C" [%i : 28]
    in %a = %A[%i + 32] : 1
    out %c = %C[%i + 32] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<tile [32]>} { ... }
```

Where tiles of an inner level do not fill those of the level around it, the outer levels
become blocks at once, and what is inside of them is split likewise: with `tile [32],
tile [12]`, a block of tiles of 32 around blocks of 24 and 8 points.

Inside of a work-group an edge begins earlier, with `bits`, where that makes whole
vectors of it: of 95 columns in tiles of 32, the interior has 64, and the edge the last
32. Column 63 is computed twice, by the same steps.

Only indices that determine cells of an output are split, and only where the parts set
different cells of outputs that have `init`. Left alone are blocks without
tiles. What tiles leave over elsewhere is for `stripe-separate`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ...locations import error_at
from ..analysis.effects import computes_anew
from ..analysis.lanes import index_of_vectors, widest_vector
from ..analysis.nests import (
    all_blocks,
    initializes_own_cells,
    is_leaf,
    is_top_level,
    reduction_indices,
)
from ..analysis.schedules import checked_schedule
from ..edit.partition import split_block, tile_outside
from ..edit.split import initializes_along, may_overhang


@dataclass(frozen=True)
class StripePartitionEdgesPass(ModulePass):
    """Split blocks whose tiles would set cells that no point reaches."""

    name = "stripe-partition-edges"

    bits: int = 0
    """The width of the device's vectors in bits; 0 where parts never overlap."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split blocks, and their parts again, until no tile sets cells in vain.

        Raises GinghamError, located, for sizes that do not fit the block's indices, or
        a width that is negative.
        """
        if self.bits < 0:
            raise error_at(op, f"expected bits of 0 or more, got {self.bits}")
        pending = all_blocks(op)
        while pending:
            pending += partition(pending.pop(), self.bits)


def partition(block: BlockOp, bits: int = 0) -> list[BlockOp]:
    """Split a block at one index, or tile it at outer levels: the blocks to look at."""
    schedule = checked_schedule(block)
    if not schedule.levels or not initializes_own_cells(block):
        return []
    reductions, ranges = reduction_indices(block), block.index_ranges
    around = ranges
    for level, sizes in enumerate(schedule.normalized(ranges, reductions).sizes):
        for index, (size, outer) in enumerate(zip(sizes, around, strict=True)):
            if index in reductions or not size or not (rest := outer % size):
                continue
            if outer < ranges[index] and initializes_along(block, index):
                return [tile_outside(block, level)]
            if outer == ranges[index] and not may_overhang(block, sizes, index):
                overlap = min(_missing(block, index, rest, size, bits), outer - rest)
                return [block, split_block(block, index, outer - rest, overlap)]
        if any(sizes[index] < ranges[index] for index in reductions):
            # The cells of all tiles further inside are set before.
            return []
        around = sizes
    return []


def _missing(block: BlockOp, index: int, rest: int, size: int, bits: int) -> int:
    """How many points the last vector of a rest lacks, if it may have earlier ones.

    Inside of a work-group cells may be set twice, if nothing else is made of them. Only
    tiles of a `size` in whole vectors have room for them.
    """
    if not bits or is_top_level(block) or not is_leaf(block) or block.is_serial:
        return 0
    if index_of_vectors(block) != index or not computes_anew(block):
        return 0
    lanes = widest_vector(block, bits)
    return 0 if size % lanes else -rest % lanes
