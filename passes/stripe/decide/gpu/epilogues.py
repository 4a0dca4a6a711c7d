"""Blocks computed at the end of another one, of what work-items have in registers.

What a group collects of a sum is in registers of its work-items. An element-wise block
that alone reads it, each cell once, is computed there: see `stripe-fuse-epilogues`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .....dialects.stripe.attributes import MemorySpace
from .....dialects.stripe.binding import IN_GROUP, Binding
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.tiling import Padding
from ...analysis.problem import Problem


def collects_in_registers(problem: Problem, schedule: Schedule) -> bool:
    """Whether `stripe-collect-outputs` finds sums that it keeps in registers.

    That is so of a block with pieces of inputs in local memory, where a whole group or
    its work-items go through the values that are aggregated, and work-items share what
    is inside.
    """
    if all(stage.space is not MemorySpace.LOCAL for stage in schedule.stages):
        return False
    levels = _levels(problem, schedule)
    if levels is None or not problem.aggregates or levels[0].has(problem.reductions):
        return False
    inside = [level for level in levels[1:] if level.steps]
    sums = [n for n, each in enumerate(inside) if each.has(problem.reductions)]
    if not sums or not any(level.is_spread for level in inside[sums[0] + 1 :]):
        return False
    first = inside[0]
    is_whole = sums[0] == 0 and first.steps <= {*problem.reductions}
    return is_whole or first.is_spread or first.is_unrolled


@dataclass(frozen=True)
class _Level:
    """The indices that have several tiles at a level, and what these are bound to."""

    steps: frozenset[int]
    bind: Sequence[Binding]

    def has(self, indices: Iterable[int]) -> bool:
        return not self.steps.isdisjoint(indices)

    @property
    def is_spread(self) -> bool:
        return any(self.bind[n] in IN_GROUP for n in self.steps)

    @property
    def is_unrolled(self) -> bool:
        return all(self.bind[n] is Binding.UNROLL for n in self.steps)


def _levels(problem: Problem, schedule: Schedule) -> list[_Level] | None:
    """The levels of a nest; None where tiles leave something over."""
    padding = schedule.part(Padding)
    sizes = problem.ranges if padding is None else padding.padded(problem.ranges)
    none = (Binding.UNDECIDED,) * problem.rank
    found: list[_Level] = []
    for tiles in schedule.levels:
        own = tuple([n or size for n, size in zip(tiles.sizes, sizes, strict=True)])
        if any(size % n for size, n in zip(sizes, own, strict=True)):
            return None
        steps = frozenset(n for n in range(problem.rank) if sizes[n] > own[n])
        found.append(_Level(steps, tiles.bind or none))
        sizes = own
    bind = schedule.points.bind or none
    steps = frozenset(n for n in range(problem.rank) if sizes[n] > 1)
    return [*found, _Level(steps, bind)]
