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

Where an input's windows overlap, as those of a depthwise convolution do, a lane may
have several neighbouring cells, and all that these need in registers:

```mlir
stripe.block "O" [%x : 56, %y : 56, %c : 128, %i : 3, %j : 3]
    in %a = %A[%x + %i, %y + %j, %c] : 1x1x1
    in %k = %K[%i, %j, %c] : 1x1x1
    out %o = %O[%x, %y, %c] : 1x1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      tile [1, 56, 128, 3, 3] bind [grid, grid, grid, _, _],
      tile [1, 4, 4, 3, 3] bind [group, group, group, _, _],
      tile [1, 4, 4, 3, 3],
      points bind [_, unroll, vector, unroll, unroll],
      stage input 0 at 2 of 2 order [0, 1, 2] private>} { ... }
```

The model (`decide/model/streams.py`) chooses among the ways to do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
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
from ..candidate import Candidate
from ..model.sharing import Sharing, shared
from ..model.streams import Staged, estimate

_TURNS = (1, 2, 4, 8)
"""How many points, or vectors, a work-item may have."""
_RUNS = (128, 256)
"""Bytes that a window of a copy has at least along each side, if there are so many."""
_LEAST_CELLS = 4
"""Of a work-item, in windows of copies."""
_PADDINGS = range(5)
"""Cells behind a row of local memory that are tried."""
_NEIGHBOURS = (2, 4, 8)
"""Cells of a lane that share what is in its registers."""
_REGISTERS_SHARE = 0.5
"""The part of its registers that these may take, with the cells."""


def candidates(
    block: BlockOp, problem: Problem, hardware: Hardware, *, slow: bool = False
) -> Iterator[Candidate]:
    """The ways to run a block of which the cells are computed each on its own.

    The fastest is the first; there is none where lanes have nothing to share. With
    `slow` there are such among them that can hardly be the fastest.
    """
    streams = _Streams(block, problem, hardware)
    if problem.is_nested or not problem.outputs or not streams.indices:
        return
    found = {
        (sharing, staged): estimate(problem, sharing, staged, hardware)
        for sharing, staged in (
            *streams.direct(),
            *streams.windowed(),
            *streams.staged(),
            *(streams.slow() if slow else ()),
        )
    }
    for way, time in sorted(found.items(), key=lambda each: each[1].seconds):
        sharing, staged = way
        reason = f"{time_text(time.seconds)}: streams by {sharing}"
        schedule = sharing.schedule(staged=bool(staged))
        stages = tuple(map(_staging, staged))
        if sharing.kept is not None:
            stages = (_in_registers(problem, sharing.kept, schedule),)
        yield Candidate(time, replace(schedule, stages=stages, reason=reason))


def _staging(staged: Staged) -> Staging:
    order = tuple(range(len(staged.sizes)))
    space = MemorySpace.LOCAL
    return Staging(staged.number, 1, 1, order, space, padding=staged.padding)


def _in_registers(problem: Problem, number: int, schedule: Schedule) -> Staging:
    """What a work-item copies in front of the innermost tiles."""
    access = next(each for each in problem.inputs if each.number == number)
    order, innermost = tuple(range(len(access.sizes))), len(schedule.levels) - 1
    return Staging(number, innermost, innermost, order, MemorySpace.PRIVATE)


@dataclass(frozen=True)
class _Streams:
    """The ways in which the lanes of a device may run a block."""

    block: BlockOp
    problem: Problem
    hardware: Hardware

    @cached_property
    def loops(self) -> tuple[int, ...]:
        """The points of a work-item along each index: all of one that aggregates."""
        problem = self.problem
        whole = problem.reductions | problem.uncut | problem.whole
        pairs = enumerate(problem.ranges)
        return tuple([extent if index in whole else 1 for index, extent in pairs])

    @cached_property
    def indices(self) -> list[int]:
        """The indices that work-groups or work-items share."""
        problem = self.problem
        whole = problem.reductions | problem.uncut | problem.whole
        return [index for index in range(problem.rank) if index not in whole]

    def direct(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """Along the axes of an output or of an input, in vectors where they may be."""
        width = self._width(self.problem.inputs)
        for access in self.problem.accesses:
            plain, last = self._order(access), self._order(access, self.problem.vector)
            for turns in _TURNS:
                yield self._shared(self.problem.ranges, plain, 1, turns), ()
                if width > 1:
                    yield self._shared(self.problem.ranges, last, width, turns), ()

    def windowed(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """With several neighbouring cells of a lane, and their windows in registers."""
        problem = self.problem
        width = self._width(problem.inputs)
        if width == 1 or problem.fixed:
            return
        order = self._order(problem.outputs[0], problem.vector)
        registers = _REGISTERS_SHARE * self.hardware.vector_registers
        for access, size in product(problem.inputs, _NEIGHBOURS):
            near = self._overlapping(access)
            if near is None or size > problem.ranges[near]:
                continue
            loops = tuple(
                size if index == near else own for index, own in enumerate(self.loops)
            )
            sharing = self._shared(
                problem.ranges, order, width, 1, loops=loops, kept=access.number
            )
            window = prod(box(access.coefficients, sharing.unit, access.window))
            words = -(-access.element_bytes // self.hardware.lanes.word_bytes)
            if words * (window + size * width) <= registers:
                yield sharing, ()

    def _overlapping(self, access: Access) -> int | None:
        """The index of cells, with the shortest steps, of which windows overlap.

        None where no index that aggregates moves the access along the same axis, or
        where vectors are not side by side in it.
        """
        problem, vector = self.problem, self.problem.vector
        if access.is_chosen or vector is None or not access.uses(vector):
            return None
        shared = [
            index
            for row in access.coefficients
            if any(row[index] for index in problem.reductions)
            for index in self.indices
            if row[index] and index != vector
        ]
        return min(shared, key=lambda n: abs(access.strides[n]), default=None)

    def slow(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """Along each index, by smaller groups than are worth having."""
        ranges, output = self.problem.ranges, self.problem.outputs[0]
        for last in self.indices:
            order = self._order(output, last)
            for turns, smaller in product(_TURNS, (1, 2, 4, 8)):
                items = self.hardware.work_group_size // smaller
                yield self._shared(ranges, order, 1, turns, items), ()

    def staged(self) -> Iterator[tuple[Sharing, tuple[Staged, ...]]]:
        """Along the axes of the output, with copies of inputs that run along others."""
        problem = self.problem
        is_chosen = any(access.is_chosen for access in problem.accesses)
        if is_chosen or problem.aggregates or problem.fixed:
            return
        output = problem.outputs[0]
        last = self._order(output)[-1]
        crossing = [
            access
            for access in problem.inputs
            if access.uses(last) and self._order(access)[-1] != last
        ]
        others = [a for a in problem.inputs if a not in crossing]
        if not crossing:
            return
        for run in _RUNS:
            tile = self._tile((output, *crossing), run)
            for width in {1, self._width(others)}:
                vector = problem.vector if width > 1 else None
                turns = max(prod(tile) // width // self.hardware.work_group_size, 1)
                order = self._order(output, vector)
                sharing = self._shared(tile, order, width, turns)
                copies = tuple(self._copy(access, sharing) for access in crossing)
                size = sum(
                    copy.cells * access.element_bytes
                    for copy, access in zip(copies, crossing, strict=True)
                )
                if size <= self.hardware.local_memory_bytes:
                    yield sharing, copies

    def _shared(
        self,
        ranges: tuple[int, ...],
        order: tuple[int, ...],
        width: int,
        turns: int,
        items: int = 0,
        *,
        loops: tuple[int, ...] = (),
        kept: int | None = None,
    ) -> Sharing:
        hardware = self.hardware
        return shared(
            ranges,
            order,
            width=width,
            turns=turns,
            most_items=items or hardware.work_group_size,
            lanes=hardware.items_at_once,
            loops=loops or self.loops,
            alone=self.problem.fixed,
            kept=kept,
        )

    def _order(self, access: Access, last: int | None = None) -> tuple[int, ...]:
        """The indices, those with the shortest steps through an access last.

        One may be given that is the last of all. Those that may not be tiled are first.
        """
        steps, fixed = access.strides, self.problem.fixed

        def place(index: int) -> tuple[bool, bool, float]:
            return index not in fixed, index == last, -(abs(steps[index]) or inf)

        return tuple(sorted(self.indices, key=place))

    def _tile(self, accesses: tuple[Access, ...], run: int) -> tuple[int, ...]:
        """What a group computes, so that all accesses have runs of so many bytes."""
        ranges = self.problem.ranges
        sizes = [1] * self.problem.rank
        for access in accesses:
            length = access.element_bytes
            for index in reversed(self._order(access)):
                if length >= run:
                    break
                wanted = -(-run // length)
                sizes[index] = max(sizes[index], min(ranges[index], wanted))
                length *= sizes[index]
        # Where some axis is short there is room for longer runs of the output.
        last = self._order(accesses[0])[-1]
        wanted = _LEAST_CELLS * self.hardware.work_group_size
        while prod(sizes) < wanted and sizes[last] < ranges[last]:
            sizes[last] = min(2 * sizes[last], ranges[last])
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
        # Cells that are set where constraints fail are numbers in a register.
        is_set = any(each.init is not None for each in self.block.refinement_list)
        if is_set and not problem.aggregates:
            return 1
        if not is_vectorizable(self.block, varying_values(self.block, index)):
            return 1
        width = native_lanes(self.block, self.hardware.access_bits)
        while width > problem.ranges[index] or not all(
            _is_aligned(access, index, width) for access in (*problem.outputs, *inputs)
        ):
            width //= 2
        return width


def _is_aligned(access: Access, index: int, width: int) -> bool:
    """Whether vectors along an index lie at multiples of their size."""
    if width == 1 or not access.uses(index):
        return True
    size = width * access.element_bytes
    others = [stride for n, stride in enumerate(access.strides) if n != index]
    if access.is_chosen:
        pairs = zip(access.pitches, access.window, strict=True)
        others += [pitch for pitch, extent in pairs if extent > 1]
    start = sum(
        low * pitch for low, pitch in zip(access.low, access.pitches, strict=True)
    )
    return not any(step % size for step in (start, *others))
