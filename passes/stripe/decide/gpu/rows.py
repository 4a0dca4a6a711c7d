"""How lanes share aggregations that use each number of an input once.

Such a block reads its inputs once, as fast as memory goes when work-items that follow
each other read neighbouring numbers, and when enough of them do so at the same time.
Two shapes do that, and the index along which the inputs are contiguous tells which:

* it aggregates (a *row*): the items of a group take turns at its values;
* it does not (a *column*): items that follow each other have following columns, and
  where there are many rows, several items take turns at those of one column.

The parts of one cell are added up by a tree in local memory. Cells that are too few for
the device have their values cut into chunks, whose parts a second kernel adds up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from .....dialects.stripe.block import BlockOp
from .....targets.hardware import Hardware
from ...analysis.lanes import vector_index
from ...analysis.nests import output_indices, reduction_indices
from ...analysis.reductions import row_index
from ...edit.partial import Chunk, Lanes
from ..model.tree import tree_radices
from .turns import turns_of


@dataclass(frozen=True)
class Sharing:
    """How a block that aggregates is shared by groups and their items."""

    tile: tuple[int, ...]
    """The cells of a group along each index, 0 for all values."""
    lanes: Lanes
    """The index at whose values items take turns, and how many do."""
    radices: tuple[int, ...]
    """Of the tree over their parts; none where each item has cells of its own."""
    chunks: tuple[Chunk, ...]
    """Which aggregating indices are cut, each chunk with parts of its own."""

    @property
    def reason(self) -> str:
        """For people."""
        kind = "a row" if self.lanes.is_last else "columns"
        return f"{self.lanes.count} work-items take turns at the values of {kind}"


def sharing_of(block: BlockOp, hardware: Hardware, longest: int) -> Sharing | None:
    """How the work-items of groups share a block; None where they can not.

    No item aggregates more than `longest` values one after the other, where these can
    be cut.
    """
    reductions = reduction_indices(block)
    # What conditions keep from its turn, an item leaves out.
    column = vector_index(block, ())
    index = row_index(block, ()) if column is None else _widest(block, reductions)
    if index is None:
        return None
    values = block.index_ranges[index]
    items = hardware.work_group_size
    side = (
        1 if column is None else min(block.index_ranges[column], hardware.items_at_once)
    )
    turns = turns_of(values, items // side, hardware.lanes)
    tile = _cells_of_group(block, column, items // turns)
    lanes = Lanes(index, turns, is_last=column is None)
    sharing = Sharing(tile, lanes, tree_radices(turns, hardware), ())
    return replace(sharing, chunks=_chunks(block, sharing, hardware, longest))


def _widest(block: BlockOp, indices: set[int]) -> int | None:
    return max(indices, key=lambda index: block.index_ranges[index], default=None)


def _cells_of_group(block: BlockOp, column: int | None, items: int) -> tuple[int, ...]:
    """Tiles of so many cells: along columns first, then along the last axes."""
    sizes = [0] * len(block.index_ranges)
    order = sorted(output_indices(block), reverse=True)
    order.sort(key=lambda index: index != column)
    for index in order:
        sizes[index] = min(block.index_ranges[index], items)
        items //= sizes[index]
    return tuple(sizes)


def _chunks(
    block: BlockOp, sharing: Sharing, hardware: Hardware, longest: int
) -> tuple[Chunk, ...]:
    """How the aggregating indices are cut, so that there are groups for all cores."""
    lanes, ranges = sharing.lanes, block.index_ranges
    reductions = sorted(reduction_indices(block), key=lambda n: n == lanes.index)
    values = prod(ranges[index] for index in reductions)
    groups = prod(
        -(-extent // size)
        for extent, size in zip(ranges, sharing.tile, strict=True)
        if size
    )
    wanted = hardware.cores * hardware.overheads.groups_per_core // groups
    worth = values // (lanes.count * hardware.lanes.part_values)
    needed = -(-values // (lanes.count * longest))
    count = max(min(wanted, worth), needed)
    chunks: list[Chunk] = []
    for index in reductions:
        unit = lanes.count if index == lanes.index else 1
        size = -(-ranges[index] // (unit * count)) * unit
        own = -(-ranges[index] // size)
        if own > 1:
            chunks.append(Chunk(index, own, size))
            count = -(-count // own)
    return tuple(chunks)
