"""Blocks that compute each cell on its own: which lane has which points.

What such a block takes is its way through memory. A sub-group's access brings whole
sectors of it, so neighbouring lanes have neighbouring cells of the output; where all
that moves along with them lies at multiples of the widest access, a lane has as many
cells as that loads and stores at once.

```mlir
stripe.block "O" [%i : 1003001]
    in %a = %A[%i] : 1
    out %o = %O[%i] : 1
    attributes {stripe.schedule = #stripe.schedule<
      tile [1024] bind [grid],
      tile [4] bind [group],
      points bind [vector]>} { ... }
```

Where it does not, a lane has several cells that are a work-group apart, so that as many
bytes are on their way:

```mlir
stripe.block "O" [%i : 1000, %j : 1003]
    in %a = %A[%i, %j] : 1x1
    in %b = %B[%j] : 1
    out %o = %O[%i, %j] : 1x1
    attributes {stripe.schedule = #stripe.schedule<
      tile [4, 251] bind [grid, grid],
      tile [1, 251] bind [unroll, _],
      points bind [_, group]>} { ... }
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.tiling import Points, Tiles
from .....targets.hardware.description import Hardware
from ...analysis.lanes import is_vectorizable, native_lanes
from ...analysis.problem import Access, Problem
from ...analysis.varying import varying_values


def decision(block: BlockOp, problem: Problem, hardware: Hardware) -> Schedule | None:
    """The schedule of a block in which nothing aggregates, None for others."""
    if problem.aggregates or problem.is_nested or problem.fixed or problem.uncut:
        return None
    if not problem.rank or not problem.outputs:
        return None
    width = _vector_width(block, problem, hardware.access_bits)
    order = _order(problem, problem.vector if width > 1 else None)
    sharing = _Sharing.of(problem, order, width, hardware)
    return sharing.schedule()


def _order(problem: Problem, vector: int | None) -> tuple[int, ...]:
    """The indices, those with the shortest steps through the largest output last.

    The last of all is that of vectors, where there are some.
    """
    output = max(problem.outputs, key=lambda access: len(access.used))
    steps = [abs(step) or inf for step in output.strides]
    return tuple(sorted(range(problem.rank), key=lambda n: (n == vector, -steps[n])))


def _vector_width(block: BlockOp, problem: Problem, access_bits: int) -> int:
    """How many cells side by side a lane loads and stores at once; 1 where none do."""
    index = problem.vector
    if index is None or any(problem.blocked):
        return 1
    if any(access.is_chosen for access in problem.accesses):
        return 1
    if not is_vectorizable(block, varying_values(block, index)):
        return 1
    width = native_lanes(block, access_bits)
    while width > problem.ranges[index] or not all(
        _is_aligned(access, index, width) for access in problem.accesses
    ):
        width //= 2
    return width


def _is_aligned(access: Access, index: int, width: int) -> bool:
    """Whether vectors along an index lie at multiples of their size."""
    if width == 1 or not access.uses(index):
        return True
    size = width * access.element_bytes
    others = [stride for n, stride in enumerate(access.strides) if n != index]
    start = sum(
        low * pitch for low, pitch in zip(access.low, access.pitches, strict=True)
    )
    return not any(step % size for step in (start, *others))


@dataclass(frozen=True)
class _Sharing:
    """How the points of a block are shared by the work-items of groups."""

    problem: Problem
    order: tuple[int, ...]
    """The indices, that along which neighbouring lanes lie last."""
    width: int
    """The cells of a vector, along the last of these."""
    items: tuple[int, ...]
    """The work-items of a group along each index."""
    turns: tuple[int, ...]
    """How many of its work-items' points a group computes along each index."""

    @staticmethod
    def of(
        problem: Problem, order: Sequence[int], width: int, hardware: Hardware
    ) -> _Sharing:
        """As many work-items as are worth having, along the last indices."""
        counts = [*problem.ranges]
        counts[order[-1]] = -(-counts[order[-1]] // width)
        items, left = [1] * problem.rank, hardware.work_group_size
        for index in reversed(order):
            unit = hardware.items_at_once if index == order[-1] else 1
            items[index] = _even_part(counts[index], left, unit)
            left //= items[index]
        turns = [1] * problem.rank
        left = _turns(problem, width, hardware)
        for index in reversed(order):
            groups = -(-counts[index] // items[index])
            turns[index] = min(left, groups)
            left //= turns[index]
        return _Sharing(problem, tuple(order), width, tuple(items), tuple(turns))

    def schedule(self) -> Schedule:
        """The loops of work-groups, of turns and of work-items."""
        unit = [1] * self.problem.rank
        unit[self.order[-1]] = self.width
        turn = [a * b for a, b in zip(unit, self.items, strict=True)]
        group = [a * b for a, b in zip(turn, self.turns, strict=True)]
        levels = [self._tiles(group, Binding.GRID)]
        if prod(self.turns) > 1:
            levels.append(self._tiles(turn, Binding.UNROLL))
        points = Points(self._loops, self._bound(Binding.GROUP))
        if self.width > 1:
            levels.append(self._tiles(unit, Binding.GROUP))
            bind = [Binding.UNDECIDED] * self.problem.rank
            bind[self.order[-1]] = Binding.VECTOR
            points = Points(bind=tuple(bind))
        return Schedule(tuple(levels), points, reason=self._reason())

    def _tiles(self, sizes: Sequence[int], binding: Binding) -> Tiles:
        return Tiles(tuple(sizes), self._loops, self._bound(binding))

    @property
    def _loops(self) -> tuple[int, ...]:
        """The order of loops, where it is not the one that they have anyway."""
        is_given = self.order != tuple(range(self.problem.rank))
        return self.order if is_given else ()

    def _bound(self, binding: Binding) -> tuple[Binding, ...]:
        return (binding,) * self.problem.rank

    def _reason(self) -> str:
        each = prod(self.turns)
        what = f"vectors of {self.width}" if self.width > 1 else "cells"
        count = f"{each} {what}" if each > 1 else what
        return f"streams: groups of {prod(self.items)} work-items, each with {count}"


def _even_part(count: int, most: int, unit: int) -> int:
    """How many values a part has at most, of as few parts of one size as there can be.

    Where there are several, it is a multiple of `unit` if it can be.
    """
    if count <= most:
        return count
    part = -(-count // -(-count // max(most, 1)))
    whole = -(-part // unit) * unit
    return whole if whole <= most else part


def _turns(problem: Problem, width: int, hardware: Hardware) -> int:
    """How many vectors a work-item has: as many bytes as its widest access."""
    element = max(access.element_bytes for access in problem.accesses)
    wanted = hardware.access_bits // 8 // (width * element)
    groups = problem.points // width // hardware.work_group_size
    return max(min(wanted, groups // (4 * hardware.cores)), 1)
