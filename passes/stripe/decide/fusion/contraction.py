"""A contraction of a group: what it is inside of tiles of the shared indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod

from .....dialects.stripe.schedule import Schedule
from .....targets.hardware import Hardware
from ...analysis.nest import blocks_of_reductions, scratch_bytes
from ...analysis.problem import Problem
from ...analysis.shiftable_tiles import MOST_OVERLAP
from ..model.estimate import Model
from ..search.groups import blocked


@dataclass(frozen=True)
class Leaf:
    """A nest of a contraction inside a cache tile."""

    nest: Schedule
    seconds: float
    """Of one cache tile, on one core."""
    local_bytes: int
    """Of its own copies."""


@dataclass(frozen=True)
class Contraction:
    """A contraction of a group: its problem, its own nest, and its shared indices.

    What it is inside of tiles it remembers from one group that it may join to the next.
    """

    problem: Problem
    nest: Schedule
    shared: tuple[int, ...]
    _strips: dict[tuple[int, ...], Schedule] = field(
        default_factory=dict[tuple[int, ...], Schedule], repr=False, compare=False
    )
    _leaves: dict[tuple[int, ...], tuple[Leaf, ...]] = field(
        default_factory=dict[tuple[int, ...], tuple[Leaf, ...]],
        repr=False,
        compare=False,
    )

    def unit(self, index: int) -> int:
        """What sizes of an index are a multiple of: the lanes of vectors along it."""
        problem = self.problem
        return problem.lanes_of(self.nest.tile) if index == problem.vector else 1

    @cached_property
    def wants_blocks(self) -> bool:
        """Whether it is best in blocks of what it aggregates over."""
        return blocks_of_reductions(self.problem, self.nest) is not None

    @cached_property
    def strip(self) -> tuple[int, ...]:
        """As many values of the shared indices as it has in registers by itself."""
        return self._strip(even)

    @cached_property
    def even_strip(self) -> tuple[int, ...]:
        """About as many, that leave nothing over where vectors may overlap inside."""
        return self._strip(strip_size)

    def _strip(self, size_of: Callable[[int, int, int], int]) -> tuple[int, ...]:
        tile, ranges = self.nest.tile, self.problem.ranges
        return tuple(
            size_of(tile[index], ranges[index], self.unit(index))
            for index in self.shared
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The shared indices in the order that it wants, others inside."""
        listed = self.nest.orders[0]
        first = [self.shared.index(index) for index in listed if index in self.shared]
        rest = [shared for shared in range(len(self.shared)) if shared not in first]
        return (*first, *rest)

    def in_strip(self, sizes: tuple[int, ...]) -> Schedule:
        """The nest within a tile of the shared indices, in one piece."""
        if sizes not in self._strips:
            self._strips[sizes] = self._in_strip(sizes)
        return self._strips[sizes]

    def _in_strip(self, sizes: Sequence[int]) -> Schedule:
        nest = self.nest
        tile = list(nest.tile)
        for index, size in zip(self.shared, sizes, strict=True):
            tile[index] = even(min(tile[index], size), size, self.unit(index))
        self._grow(tile, sizes)
        for index in self.problem.reductions:
            tile[index] = self.problem.ranges[index]
        depth = len(nest.levels) - 1
        stages = tuple(
            replace(stage, before=-1, window=0)
            for stage in nest.stages
            if stage.before == 0 and stage.window == depth
        )
        return Schedule.of((tuple(tile),), stages=stages)

    def _grow(self, tile: list[int], sizes: Sequence[int]) -> None:
        """Let a tile that the strip has cut have as many cells along other indices."""
        problem = self.problem
        free = {*problem.parallel} - problem.fixed - problem.whole - {problem.vector}
        wanted = prod(self.nest.tile[index] for index in problem.parallel)
        for index, size in zip(self.shared, sizes, strict=True):
            room = wanted // prod(tile[each] for each in problem.parallel)
            if room > 1 and index in free:
                tile[index] = even(min(tile[index] * room, size), size)

    def in_cache_tile(
        self, sizes: tuple[int, ...], hardware: Hardware, local_bytes: int
    ) -> Leaf | None:
        """The fastest nest within a cache tile, with so much memory for its own copies.

        None where none leaves nothing over.
        """
        if sizes not in self._leaves:
            self._leaves[sizes] = leaves(self.within(sizes), self.nest.tile, hardware)
        found = self._leaves[sizes]
        return next((leaf for leaf in found if leaf.local_bytes <= local_bytes), None)

    def within(self, sizes: Sequence[int]) -> Problem:
        """The problem inside a tile of the shared indices, as if it were alone."""
        ranges = list(self.problem.ranges)
        for index, size in zip(self.shared, sizes, strict=True):
            ranges[index] = size
        return replace(self.problem, name="", ranges=tuple(ranges), is_nested=False)


@lru_cache(maxsize=512)
def leaves(
    problem: Problem, wanted: tuple[int, ...], hardware: Hardware
) -> tuple[Leaf, ...]:
    """Nests on one core with about the wanted register tile, the fastest first.

    There are none where that leaves something over. Equal members share the answer.
    """
    lanes = problem.lanes_of(wanted)
    tile = tuple(
        extent
        if index in problem.reductions
        else even(min(size, extent), extent, lanes if index == problem.vector else 1)
        for index, (size, extent) in enumerate(zip(wanted, problem.ranges, strict=True))
    )
    if any(n % size for n, size in zip(problem.ranges, tile, strict=True)):
        return ()
    plain = Schedule.of((tile,))
    model = Model(problem, hardware)
    launch = hardware.launch_microseconds * 1e-6
    found = [
        Leaf(
            nest,
            model.estimate(nest).seconds - launch,
            sum(
                scratch_bytes(problem, nest, stage, problem.ranges)
                for stage in nest.stages
            ),
        )
        for nest in (plain, *blocked(problem, plain, hardware))
    ]
    return tuple(sorted(found, key=lambda leaf: leaf.seconds))


def strip_size(size: int, extent: int, lanes: int) -> int:
    """A size near `size` that divides a range, in whole vectors if there is one.

    Vectors may overlap inside of a strip where that adds little: what strips leave over
    takes a kernel of its own.
    """
    whole = even(size, extent, lanes)
    if lanes == 1 or extent % whole == 0:
        return whole
    divisors = [
        n
        for n in range(lanes, extent // 2 + 1)
        if extent % n == 0 and -n % lanes <= MOST_OVERLAP * n
    ]
    return min(divisors, key=lambda n: abs(n - size), default=whole)


def even(size: int, extent: int, unit: int = 1) -> int:
    """A size near `size` that divides a range, if there is one not much smaller.

    It is a multiple of `unit`, the lanes of the vectors along the range.
    """
    divisors = [n for n in range(unit, size + 1, unit) if extent % n == 0]
    return divisors[-1] if divisors and 2 * divisors[-1] > size else size
