"""What the indices of a contraction do, and the schedules that follow from it.

Two inputs are moved by different indices of the output: *rows* by those of the first,
*columns* by those of the second; the others only aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

from .....dialects.stripe.attributes import MemorySpace
from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.staging import Staging
from .....dialects.stripe.tiling import Padding, Points, Tiles
from .....targets.hardware.description import Hardware
from ...analysis.problem import Access, Problem
from ...edit.partial import Chunk
from ...edit.split import may_grow
from ..model.lane_memory import moved_bytes
from ..model.tiling import Tiling

_SUBTILE = 4
"""Rows or columns of a lane side by side: as many as it loads at once."""


def powers(most: int) -> list[int]:
    """The powers of two up to a number."""
    return [1 << n for n in range(most.bit_length())]


@dataclass(frozen=True)
class Roles:
    """What the indices of a contraction do."""

    problem: Problem
    rows: tuple[int, ...]
    """Those that move only the first input, the one with the shortest steps first."""
    columns: tuple[int, ...]
    """Those that move only the second, likewise."""
    sums: tuple[int, ...]
    """Those that only aggregate, with the shortest steps through the inputs first."""
    first: Access
    second: Access

    @staticmethod
    def of(problem: Problem) -> Roles | None:
        """The roles; None where there are not two inputs used again and again."""
        vector = problem.vector
        is_plain = (
            problem.aggregates
            and not problem.is_nested
            and not problem.fixed
            and not problem.uncut
            and len(problem.outputs) == 1
        )
        if not is_plain or vector is None or not problem.reductions:
            return None
        if any(access.is_chosen for access in problem.accesses):
            return None
        moved = [access for access in problem.inputs if access.uses(vector)]
        others = [access for access in problem.inputs if not access.uses(vector)]
        if len(moved) != 1 or len(others) != 1:
            return None
        (second,), (first,) = moved, others
        (output,) = problem.outputs
        parallel = [n for n in problem.parallel if problem.ranges[n] > 1]
        by_step = sorted(parallel, key=lambda n: abs(output.strides[n]))
        rows = tuple(n for n in by_step if first.uses(n) and not second.uses(n))
        columns = tuple(n for n in by_step if second.uses(n) and not first.uses(n))
        sums = tuple(
            sorted(
                problem.reductions,
                key=lambda n: (
                    abs(first.strides[n]) + abs(second.strides[n]),
                    -problem.ranges[n],
                ),
            )
        )
        if not rows or not columns:
            return None
        return Roles(problem, rows, columns, sums, first, second)

    def of_part(self, chunk: Chunk) -> Roles:
        """The roles where an index has only the values of a chunk."""
        ranges = list(self.problem.ranges)
        ranges[chunk.index] = chunk.size
        return replace(self, problem=replace(self.problem, ranges=tuple(ranges)))

    def is_too_large(self, tiling: Tiling) -> bool:
        """Whether a tile is twice as large as all there is, or more."""
        rows, columns = tiling.row_count, tiling.column_count
        return (rows > _SUBTILE and rows >= 2 * self._cells[0]) or (
            columns > _SUBTILE and columns >= 2 * self._cells[1]
        )

    @cached_property
    def _cells(self) -> tuple[int, int, int]:
        """How many rows and columns there are, and of how many products."""
        ranges, sides = self.problem.ranges, (*self.rows, *self.columns)
        others = [n for n in self.problem.parallel if n not in sides]
        rows = prod([ranges[n] for n in self.rows])
        columns = prod([ranges[n] for n in self.columns])
        return rows, columns, prod([ranges[n] for n in others])

    def sizes(self, tiling: Tiling) -> tuple[Mapping[int, int], ...]:
        """The sizes along each index of rows and columns, of tiles of a group."""
        ranges = self.problem.ranges
        return (
            _group_shape(self.rows, ranges, tiling.row_count),
            _group_shape(self.columns, ranges, tiling.column_count),
        )

    def moved(self, tiling: Tiling, hardware: Hardware) -> float:
        """The bytes of the sectors that hold what a group uses in a step."""
        rows, columns = self.sizes(tiling)
        depths = dict(zip(self.sums, tiling.depths, strict=True))
        size = {**rows, **columns, **depths}
        ranges = enumerate(self.problem.ranges)
        extents = [min(size.get(n, 1), extent) for n, extent in ranges]
        accesses = (self.first, self.second)
        return sum(moved_bytes(access, extents, hardware) for access in accesses)

    def depths(self, depth: int) -> tuple[int, ...]:
        """How many values of each index that aggregates are summed up at a time.

        Together they are about so many.

        Windows that overlap for neighbouring values, as those of a convolution do, are
        copied for one value at a time: vectors in them begin at multiples of their size
        then. But for short sums, which take all, or several.
        """
        ranges = self.problem.ranges
        sizes = dict.fromkeys(self.sums, 1)
        left = depth
        for index in sorted(self.sums, key=self._overlaps):
            is_window = self._overlaps(index)
            is_whole = is_window and left > 1 and ranges[index] <= 2 * left
            if is_window and not is_whole and left <= depth // 4:
                break
            sizes[index] = ranges[index] if is_whole else _part(ranges[index], left)
            left //= sizes[index]
        return tuple(sizes.values())

    def _overlaps(self, index: int) -> bool:
        """Whether an index moves windows along an axis that rows or columns do, too."""
        return any(
            row[index] and any(row[other] for other in (*self.rows, *self.columns))
            for access in (self.first, self.second)
            for row in access.coefficients
        )

    @property
    def widths(self) -> tuple[int, int]:
        """How many rows, and columns, are copied to local memory at once."""
        first = _width(self.first, self.rows[0])
        return first, _width(self.second, self.columns[0])

    def groups(self, tiling: Tiling) -> int:
        """How many groups there are."""
        ranges = self.problem.ranges
        rows = _group_count(self.rows, ranges, tiling.row_count)
        columns = _group_count(self.columns, ranges, tiling.column_count)
        return rows * columns * self._cells[2]

    def steps(self, tiling: Tiling) -> int:
        """How often a group loads local memory."""
        pairs = zip(self.sums, tiling.depths, strict=True)
        return prod(-(-self.problem.ranges[n] // size) for n, size in pairs)

    def schedule(self, block: BlockOp, tiling: Tiling) -> Schedule | None:
        """The schedule; None where ranges cannot be padded to whole tiles."""
        problem = self.problem
        rows, columns = self.sizes(tiling)
        depths = dict(zip(self.sums, tiling.depths, strict=True))
        tile = {**rows, **columns}
        padding = [tile.get(n) or depths.get(n) or 0 for n in range(problem.rank)]
        for index, multiple in enumerate(padding):
            padded = -(-problem.ranges[index] // max(multiple, 1)) * max(multiple, 1)
            if not may_grow(block, index, padded):
                return None
        levels = self._levels(tiling, tile, depths)
        points = [
            Binding.UNROLL if n in tile else Binding.UNDECIDED
            for n in range(problem.rank)
        ]
        is_whole = not any(
            multiple and extent % multiple
            for extent, multiple in zip(problem.ranges, padding, strict=True)
        )
        stages = [self._stage(access, depths) for access in (self.first, self.second)]
        return Schedule(
            tuple(levels),
            Points(bind=tuple(points)),
            tuple(stages),
            () if is_whole else (Padding(tuple(padding)),),
        )

    def _levels(
        self, tiling: Tiling, tile: Mapping[int, int], depths: Mapping[int, int]
    ) -> list[Tiles]:
        rank = self.problem.rank
        grid, none = Binding.GRID, Binding.UNDECIDED
        subgroup, lane, unroll = Binding.SUBGROUP, Binding.LANE, Binding.UNROLL

        def level(
            sizes: Mapping[int, int], sums: Mapping[int, int], bind: Binding
        ) -> Tiles:
            own = tuple(
                sums.get(n, 0) if n in depths else sizes.get(n, 1) for n in range(rank)
            )
            bound = tuple(
                (unroll if bind is unroll else none) if n in depths else bind
                for n in range(rank)
            )
            return Tiles(own, bind=bound if bind is not none else ())

        def part(of_rows: int, of_columns: int) -> dict[int, int]:
            return {
                **_shape(self.rows, tile, of_rows),
                **_shape(self.columns, tile, of_columns),
            }

        (own, lane_rows, _), (across, lane_columns, _) = tiling.rows, tiling.columns
        high, wide = min(own, _SUBTILE), min(across, _SUBTILE)
        one = dict.fromkeys(depths, 1)
        return [
            level(tile, {}, grid),
            level(tile, depths, none),
            level(part(own * lane_rows, across * lane_columns), depths, subgroup),
            level(part(high * lane_rows, wide * lane_columns), one, unroll),
            level(part(high, wide), one, lane),
        ]

    def _stage(self, access: Access, depths: Mapping[int, int]) -> Staging:
        """A copy of an input with the rows or columns of a sub-group side by side.

        Windows whose values are side by side in memory are copied as they are, several
        values at once: each copy has a place of its own to find, and a border to test.
        A lane then loads values of a row at once, in place of rows of a value.
        """
        near = self.rows[0] if access is self.first else self.columns[0]

        def place(axis: int) -> int:
            row = access.coefficients[axis]
            moving = [n for n, step in enumerate(row) if step]
            if near in moving:
                return 2
            return int(any(n not in self.problem.reductions for n in moving))

        order = sorted(range(len(access.coefficients)), key=place)
        is_turned = not order or order[-1] != len(order) - 1
        if is_turned and self._has_rows_of_values(access, depths):
            order = [*range(len(order))]
        padding = _SUBTILE if is_turned and order else 0
        space = MemorySpace.LOCAL
        return Staging(access.number, 2, 2, tuple(order), space, 0, padding)

    def _has_rows_of_values(self, access: Access, depths: Mapping[int, int]) -> bool:
        """Whether windows have values of a step side by side, whole loads of them."""
        moving = [n for n, step in enumerate(access.coefficients[-1]) if step]
        if len(moving) != 1 or access.coefficients[-1][moving[0]] != 1:
            return False
        is_window = any(self._overlaps(n) and access.uses(n) for n in self.sums)
        return is_window and depths.get(moving[0], 1) % _SUBTILE == 0


def _width(access: Access, near: int) -> int:
    """As many numbers along an index as lie together, at multiples of so many."""
    if not access.coefficients or access.coefficients[-1][near] != 1:
        return 1
    size = _SUBTILE * access.element_bytes
    others = [step for n, step in enumerate(access.strides) if n != near]
    return 1 if any(step % size for step in others) else _SUBTILE


def _part(extent: int, most: int) -> int:
    """A size of at most so many: a power of two, or all where that is less."""
    if extent <= most:
        return extent
    return 1 << (most.bit_length() - 1)


@lru_cache(maxsize=1 << 10)
def _group_shape(
    indices: tuple[int, ...], ranges: tuple[int, ...], size: int
) -> Mapping[int, int]:
    """How many values of each index a group has; the mapping is not to be changed."""
    return _shape(indices, ranges, size)


@lru_cache(maxsize=4096)
def _group_count(indices: tuple[int, ...], ranges: tuple[int, ...], size: int) -> int:
    """How many groups there are along the rows, or columns, each of so many."""
    sizes = _group_shape(indices, ranges, size)
    return prod([-(-ranges[n] // own) for n, own in sizes.items()])


def _shape(
    indices: Iterable[int], most: Mapping[int, int] | Sequence[int], size: int
) -> dict[int, int]:
    """How a number of rows is shared by indices, with the least beyond their ends.

    Sizes are powers of two, as is their product; the first index has the most.
    """
    sizes: dict[int, int] = {}
    names = [*indices]
    best: tuple[float, list[int]] | None = None
    for split in _splits(size, len(names)):
        pairs = [(most[index], own) for index, own in zip(names, split, strict=True)]
        if isinstance(most, Mapping) and any(own > extent for extent, own in pairs):
            continue
        waste = prod(-(-extent // own) * own / extent for extent, own in pairs)
        if best is None or waste < best[0]:
            best = waste, split
    if best is None:
        raise ValueError(f"expected sizes of {size} rows in {most}")
    for index, own in zip(names, best[1], strict=True):
        sizes[index] = own
    return sizes


def _splits(size: int, count: int) -> Iterator[list[int]]:
    """The powers of two of which `size` is the product, the first ones large first."""
    if count == 1:
        yield [size]
        return
    for first in reversed(powers(size)):
        for rest in _splits(size // first, count - 1):
            yield [first, *rest]
