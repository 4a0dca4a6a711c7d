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
      tile [1, 1024] bind [grid, grid],
      tile [1, 256] bind [unroll, unroll],
      points bind [group, group]>} { ... }
```

An input that is contiguous along another index than the output, as in a transposition,
is copied to local memory, in windows that are long enough along both:

```mlir
stripe.block "O" [%j : 4096, %i : 4096]
    in %a = %A[%i, %j] : 1x1
    out %o = %O[%j, %i] : 1x1
    attributes {stripe.schedule = #stripe.schedule<
      tile [64, 64] bind [grid, grid],
      tile [64, 64],
      tile [4, 64] bind [unroll, unroll],
      points bind [group, group],
      stage input 0 at 1 of 1 order [0, 1] padding 1 local>} { ... }
```

The model (`decide/model/streams.py`) chooses among the ways to do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, prod

from .....dialects.stripe.attributes import MemorySpace
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.staging import Staging
from .....targets.hardware.description import Hardware
from ....clock import time_text
from ...analysis.footprint import box
from ...analysis.lanes import is_vectorizable, native_lanes
from ...analysis.problem import Access, Problem
from ...analysis.varying import varying_values
from ..model.sharing import Sharing, shared
from ..model.streams import Staged, StreamEstimate, estimate

_TURNS = (1, 2, 4, 8)
"""How many points, or vectors, a work-item may have."""
_RUNS = (128, 256)
"""Bytes that a window of a copy has at least along each side, if there are so many."""
_PADDINGS = range(5)
"""Cells behind a row of local memory that are tried."""


@dataclass(frozen=True)
class Way:
    """One way to run a block, and its predicted time."""

    sharing: Sharing
    staged: tuple[Staged, ...]
    estimate: StreamEstimate

    @property
    def schedule(self) -> Schedule:
        """What makes the passes build it, with the reason."""
        schedule = self.sharing.schedule(staged=bool(self.staged))
        stages = [
            Staging(
                each.number,
                1,
                1,
                tuple(range(len(each.sizes))),
                MemorySpace.LOCAL,
                padding=each.padding,
            )
            for each in self.staged
        ]
        predicted = time_text(self.estimate.seconds)
        reason = f"{predicted}: streams by {self.sharing}"
        return replace(schedule, stages=tuple(stages), reason=reason)


def decision(block: BlockOp, problem: Problem, hardware: Hardware) -> Schedule | None:
    """The schedule of a block in which nothing aggregates, None for others."""
    found = ways(block, problem, hardware)
    return found[0].schedule if found else None


def ways(block: BlockOp, problem: Problem, hardware: Hardware) -> list[Way]:
    """The ways to run a block in which nothing aggregates, the fastest first."""
    if problem.aggregates or problem.is_nested or problem.fixed or problem.uncut:
        return []
    if not problem.rank or not problem.outputs:
        return []
    streams = _Streams(block, problem, hardware)
    found = {
        (sharing, staged): estimate(problem, sharing, staged, hardware)
        for sharing, staged in (*streams.direct(), *streams.staged())
    }
    best = sorted(found.items(), key=lambda way: way[1].seconds)
    return [Way(sharing, staged, time) for (sharing, staged), time in best]


@dataclass(frozen=True)
class _Streams:
    """The ways in which the lanes of a device may run a block."""

    block: BlockOp
    problem: Problem
    hardware: Hardware

    def direct(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """Along the axes of an output or of an input, in vectors where they may be."""
        width = self._width(self.problem.inputs)
        for access in self.problem.accesses:
            order = _order(access, None)
            for turns in _TURNS:
                yield self._shared(self.problem.ranges, order, 1, turns), ()
                if width > 1:
                    order = _order(access, self.problem.vector)
                    yield self._shared(self.problem.ranges, order, width, turns), ()

    def staged(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """Along the axes of the output, with copies of inputs that run along others."""
        problem = self.problem
        if any(access.is_chosen for access in problem.accesses):
            return
        output = problem.outputs[0]
        order = _order(output, None)
        crossing = [a for a in problem.inputs if a.used and order[-1] != _nearest(a)]
        others = [a for a in problem.inputs if a not in crossing]
        if not crossing:
            return
        for run in _RUNS:
            tile = self._tile((output, *crossing), run)
            for width in {1, self._width(others)}:
                last = problem.vector if width > 1 else None
                turns = prod(tile) // width // self.hardware.work_group_size
                sharing = self._shared(tile, _order(output, last), width, max(turns, 1))
                copies = tuple(self._copy(access, sharing) for access in crossing)
                size = sum(
                    copy.cells * access.element_bytes
                    for copy, access in zip(copies, crossing, strict=True)
                )
                if size <= self.hardware.local_memory_bytes:
                    yield sharing, copies

    def _shared(
        self, ranges: tuple[int, ...], order: tuple[int, ...], width: int, turns: int
    ) -> Sharing:
        hardware = self.hardware
        return shared(
            ranges,
            order,
            width=width,
            turns=turns,
            most_items=hardware.work_group_size,
            lanes=hardware.items_at_once,
        )

    def _tile(self, accesses: tuple[Access, ...], run: int) -> tuple[int, ...]:
        """What a group computes, so that all accesses have runs of so many bytes."""
        ranges = self.problem.ranges
        sizes = [1] * self.problem.rank
        for access in accesses:
            length = access.element_bytes
            for index in reversed(_order(access, None)):
                if length >= run:
                    break
                wanted = -(-run // length)
                sizes[index] = max(sizes[index], min(ranges[index], wanted))
                length *= sizes[index]
        return tuple(sizes)

    def _copy(self, access: Access, sharing: Sharing) -> Staged:
        """A copy of what a group reads, with the padding that serves it soonest."""
        sizes = box(access.coefficients, sharing.group, access.window)
        copies = [Staged(access.number, sizes, padding) for padding in _PADDINGS]
        return min(
            copies,
            key=lambda copy: estimate(
                self.problem, sharing, (copy,), self.hardware
            ).breakdown["local memory"],
        )

    def _width(self, inputs: tuple[Access, ...] | list[Access]) -> int:
        """The cells side by side that a lane loads and stores at once; 1 where none do.

        `inputs` are those that are loaded from where they are.
        """
        problem, index = self.problem, self.problem.vector
        if index is None or any(problem.in_the_way(access) for access in inputs):
            return 1
        if any(access.is_chosen for access in problem.accesses):
            return 1
        if not is_vectorizable(self.block, varying_values(self.block, index)):
            return 1
        width = native_lanes(self.block, self.hardware.access_bits)
        while width > problem.ranges[index] or not all(
            _is_aligned(access, index, width) for access in (*problem.outputs, *inputs)
        ):
            width //= 2
        return width


def _order(access: Access, last: int | None) -> tuple[int, ...]:
    """The indices, those with the shortest steps through an access last.

    One may be given that is the last of all.
    """
    steps = [abs(step) or inf for step in access.strides]
    return tuple(sorted(range(access.rank), key=lambda n: (n == last, -steps[n])))


def _nearest(access: Access) -> int:
    """The index with the shortest steps through an access."""
    return _order(access, None)[-1]


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
