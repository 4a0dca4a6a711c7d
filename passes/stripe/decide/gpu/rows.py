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
from functools import cached_property
from math import prod

from .....dialects.stripe.attributes import Direction
from .....dialects.stripe.block import BlockOp
from .....targets.hardware import Hardware
from ...analysis.lanes import vector_index
from ...analysis.nests import has_own_windows, output_indices, reduction_indices
from ...analysis.reductions import row_index
from ...edit.partial import Chunk, Lanes
from ...edit.split import may_overhang
from ..model.aggregations import Aggregations, parts_seconds
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

    def of_chunks(self) -> Sharing:
        """The same of the block over chunks, with an index for each of these first."""
        count = len(self.chunks)
        lanes = replace(self.lanes, index=self.lanes.index + count)
        return replace(self, tile=(1,) * count + self.tile, lanes=lanes, chunks=())

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
    ways = _Ways(block, hardware, longest, column, index)
    return min(ways.all(), key=ways.seconds)


@dataclass(frozen=True)
class _Ways:
    """The ways to share a block, and what they take."""

    block: BlockOp
    hardware: Hardware
    longest: int
    column: int | None
    """The index along which inputs are contiguous, where it does not aggregate."""
    index: int
    """At whose values items take turns."""

    def all(self) -> list[Sharing]:
        """By how many columns a group has, how many items, and how many chunks."""
        size, limit = self.hardware.work_group_size, self._most_items
        sizes = [min(size, limit)]
        while 2 * sizes[-1] <= limit:
            sizes.append(2 * sizes[-1])
        return [
            replace(sharing, chunks=chunks)
            for items in sizes
            for side in self._sides()
            for sharing in [self.sharing(side, items)]
            for chunks in self._cuts(sharing)
        ]

    @property
    def _most_items(self) -> int:
        """Of a group whose parts fit local memory, with those of the tree behind."""
        block = self.block
        parts = 2 * sum(block.view_type(number).bytes for number in block.written)
        hardware = self.hardware
        most = max(hardware.local_memory_bytes // parts, 1)
        return min(hardware.work_group_limit, 1 << (most.bit_length() - 1))

    def _sides(self) -> list[int]:
        """How many columns follow each other in a group."""
        if self.column is None:
            return [1]
        most, lanes = self.block.index_ranges[self.column], self.hardware.items_at_once
        whole = [most] if most <= 2 * lanes else [lanes]
        return whole + [n for n in (lanes, lanes // 2, lanes // 4) if 0 < n < whole[0]]

    def sharing(self, side: int, items: int) -> Sharing:
        """With so many columns, and so many items of a group, without chunks."""
        values = self.block.index_ranges[self.index]
        turns = turns_of(values, items // side, self.hardware.lanes)
        tile = _cells_of_group(self.block, self.column, items // turns)
        lanes = Lanes(self.index, turns, is_last=self.column is None)
        return Sharing(tile, lanes, tree_radices(turns, self.hardware), ())

    def _cuts(self, sharing: Sharing) -> list[tuple[Chunk, ...]]:
        """The chunks, from as few as may be to as many as there are groups at once."""
        hardware, lanes = self.hardware, sharing.lanes
        reductions = reduction_indices(self.block)
        values = prod(self.block.index_ranges[index] for index in reductions)
        groups = self._groups(sharing)
        wanted = hardware.cores * hardware.overheads.groups_per_core // groups
        worth = values // (lanes.count * hardware.lanes.part_values)
        needed = -(-values // (lanes.count * self.longest))
        counts = {max(min(wanted, worth) >> n, needed, 1) for n in range(4)} | {
            max(needed, 1)
        }
        return [self.chunks(lanes, count) for count in sorted(counts)]

    def chunks(self, lanes: Lanes, count: int) -> tuple[Chunk, ...]:
        """How the aggregating indices are cut into so many."""
        ranges = self.block.index_ranges
        reductions = reduction_indices(self.block)
        found: list[Chunk] = []
        for index in sorted(reductions, key=lambda n: n == lanes.index):
            unit = lanes.count if index == lanes.index else 1
            size = -(-ranges[index] // (unit * count)) * unit
            own = -(-ranges[index] // size)
            if own > 1:
                found.append(Chunk(index, own, size))
                count = -(-count // own)
        return tuple(found)

    def _groups(self, sharing: Sharing) -> int:
        pairs = zip(self.block.index_ranges, sharing.tile, strict=True)
        count = prod(-(-extent // size) for extent, size in pairs if size)
        return count * prod(chunk.count for chunk in sharing.chunks)

    def seconds(self, sharing: Sharing) -> float:
        """What a way takes, the second kernel included."""
        hardware, ranges = self.hardware, self.block.index_ranges
        pairs = zip(ranges, sharing.tile, strict=True)
        of_group = prod(min(size, extent) for extent, size in pairs if size)
        cells = prod(ranges[index] for index in output_indices(self.block))
        parts = prod(chunk.count for chunk in sharing.chunks)
        turns = sharing.lanes.count
        whole = Aggregations(
            groups=self._groups(sharing),
            items=of_group * turns,
            rounds=-(-prod(ranges) // (cells * parts * turns)),
            bytes=float(self._bytes),
            reach=self._reach(sharing),
            radices=sharing.radices,
        )
        seconds = whole.seconds(hardware)
        if parts > 1:
            seconds += parts_seconds(parts, cells, self._element_bytes, hardware)
        return seconds

    @cached_property
    def _inputs(self) -> list[int]:
        """The windows of which each shows a number at one point."""
        refinements = enumerate(self.block.refinement_list)
        return [
            number
            for number, refinement in refinements
            if refinement.direction is Direction.IN
            and has_own_windows(self.block, number)
        ]

    @cached_property
    def _element_bytes(self) -> int:
        return sum(self.block.view_type(number).bytes for number in self._inputs)

    @cached_property
    def _bytes(self) -> int:
        """All that is read once."""
        return prod(self.block.index_ranges) * self._element_bytes

    def _reach(self, sharing: Sharing) -> float:
        """How many times as long memory takes: rows of columns end in sectors."""
        if self.column is None:
            return 1.0
        side, most = sharing.tile[self.column], self.block.index_ranges[self.column]
        if side >= most:
            return 1.0
        figures, number = self.hardware.lanes, self._inputs[0]
        sector = figures.sector_bytes
        size = self.block.view_type(number).bytes
        is_aligned = not most * size % sector and not side * size % sector
        sectors = -(-side * size // sector) + (0 if is_aligned else 1)
        return (sectors * sector + figures.segment_bytes) / (side * size)


def _widest(block: BlockOp, indices: set[int]) -> int | None:
    return max(indices, key=lambda index: block.index_ranges[index], default=None)


def _cells_of_group(block: BlockOp, column: int | None, items: int) -> tuple[int, ...]:
    """Tiles of so many cells: along columns first, then along the last axes.

    Where cells lie apart, those between are set as well, and tiles leave nothing over.
    """
    sizes = [0] * len(block.index_ranges)
    order = sorted(output_indices(block), reverse=True)
    order.sort(key=lambda index: index != column)
    for index in order:
        extent = block.index_ranges[index]
        sizes[index] = min(extent, items)
        if not may_overhang(block, sizes, index):
            sizes[index] = next(n for n in range(sizes[index], 0, -1) if not extent % n)
        items //= sizes[index]
    return tuple(sizes)
