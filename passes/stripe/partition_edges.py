"""`stripe-partition-edges`: split off what the tile sizes leave over.

A block with the attribute `stripe.tile` whose innermost sizes do not divide its ranges
becomes several blocks: the interior, which the tiles fill exactly, and the edges. So
the interior needs no checks. Vectors get their own split: what is left over along the
index of the vectors is first filled with whole vectors.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 70]
    in %a = %A[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1
    attributes {stripe.tile = [array<i64: 8, 32>]} { ... }
```

After:

```mlir
stripe.block "C" [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1
    attributes {stripe.tile = [array<i64: 8, 32>]} { ... }
stripe.block "C" [%i : 64, %j : 6]
    in %a = %A[%i, %j + 64] : 1x1
    out %c = %C[%i, %j + 64] : 1x1
    attributes {stripe.tile = [array<i64: 8, 32>]} { ... }
```

Only indices that determine cells of an output are split, and only where the parts set
different cells of outputs that have `init`. Left alone are serial blocks, and those
without the attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.passes import ModulePass

from ...dialects.stripe.block import BlockOp
from ..locations import check_positive
from .nests import (
    initializes_own_cells,
    is_leaf,
    reduction_indices,
    shift_index,
    top_level_blocks,
)
from .tile import TILE_ATTRIBUTE, tile_levels
from .vectorize import vector_index, vector_width


@dataclass(frozen=True)
class StripePartitionEdgesPass(ModulePass):
    """Split blocks so that tile sizes divide their interiors."""

    name = "stripe-partition-edges"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_positive(op, bits=self.bits)
        pending = list(top_level_blocks(op))
        while pending:
            block = pending.pop()
            pending += partition(block, self.bits)


def partition(block: BlockOp, bits: int) -> list[BlockOp]:
    """Split a block at one index; the two parts, or nothing when there is none to
    split.
    """
    attribute = block.attributes.get(TILE_ATTRIBUTE)
    if attribute is None or block.is_serial:
        return []
    sizes = tile_levels(block, attribute)[-1]
    if not initializes_own_cells(block):
        return []
    reductions = reduction_indices(block)
    for index, extent in enumerate(block.index_ranges):
        if index in reductions or index >= len(sizes) or not sizes[index]:
            continue
        position = extent - extent % sizes[index]
        if position == 0:
            position = _whole_vectors(block, index, bits)
        if 0 < position < extent:
            return [block, split_block(block, index, position)]
    return []


def _whole_vectors(block: BlockOp, index: int, bits: int) -> int:
    """How much of a range that is smaller than its tile whole vectors can fill."""
    extent = block.index_ranges[index]
    if not is_leaf(block) or vector_index(block) != index:
        return 0
    lanes = 1
    while 2 * lanes <= extent:
        lanes *= 2
    lanes = min(lanes, _native_lanes(block, index, bits))
    return extent - extent % lanes if lanes >= 4 else 0


def _native_lanes(block: BlockOp, index: int, bits: int) -> int:
    probe = 1 << 10
    return vector_width(block, index, bits, extent=probe)


def split_block(block: BlockOp, index: int, position: int) -> BlockOp:
    """Cut the range of an index at `position`; returns the new block of the rest.

    `for i in [0, n)` becomes `for i in [0, position)` and `for i in [0, n - position)`
    with `i + position` in place of `i`.
    """
    rest = block.clone()
    parent = block.parent
    if parent is None:
        raise ValueError("the block is not in a function")
    parent.insert_op_after(rest, block)
    _set_range(block, index, position)
    _set_range(rest, index, rest.index_ranges[index] - position)
    shift_index(rest, index, position)
    return rest


def _set_range(block: BlockOp, index: int, extent: int) -> None:
    ranges = list(block.index_ranges)
    ranges[index] = extent
    block.properties["ranges"] = DenseArrayBase.from_list(i64, ranges)
