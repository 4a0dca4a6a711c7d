"""Contractions: blocks that aggregate, and use each input number for many cells.

Two inputs are moved by different indices of the output: rows by those of one, columns
by those of the other. A work-group has a tile of both, of which it sums up `depth`
values at a time from pieces of the inputs in local memory, where the rows and columns
lie side by side. A sub-group has a part of it, its lanes each some rows and columns in
sub-tiles of 4 by 4: each number that a lane loads from local memory is used for many
cells, and neighbouring lanes load neighbouring vectors.

```mlir
stripe.block "C" [%i : 4096, %j : 4096, %k : 4096]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      tile [64, 128, 0] bind [grid, grid, _],
      tile [64, 128, 16],
      tile [32, 64, 16] bind [subgroup, subgroup, _],
      tile [16, 32, 1] bind [unroll, unroll, unroll],
      tile [4, 4, 1] bind [lane, lane, _],
      points bind [unroll, unroll, _],
      stage input 0 at 2 of 2 order [1, 0] padding 4 local,
      stage input 1 at 2 of 2 order [0, 1] local>} { ... }
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import inf, prod
from typing import TypeAlias

from .....dialects.stripe.block import BlockOp
from .....targets.hardware.description import Hardware
from ....clock import Clock, Estimate, time_text
from ...analysis.problem import Problem, problem_of
from ...edit.partial import Chunk
from ..candidate import Candidate
from ..model.gpu import Model
from ..model.tiling import Tiling
from .roles import Roles, powers

_DEPTHS = (8, 16, 32)
"""How many values are summed up between two loads of local memory."""
_SIDES = (1, 2, 4, 8)
"""Rows or columns of a lane."""
_SUBGROUPS = (1, 2, 4, 8)
"""Sub-groups of a group along the rows or the columns."""
_WORTH = 0.975
"""The part of a time that sums of parts may be predicted to take, which use memory.

Of 14 products and convolutions on an H200 for which that was 0.9 to 0.975 all were
faster in parts, by 3 to 26 percent; from there on some were up to a third slower.
"""
_TRIED = 24
"""Ways to share a tile that are tried for parts of sums."""
_MANY = 1024
"""Parts that keep all cores busy."""
_Size: TypeAlias = tuple[int, int, tuple[int, ...]]
"""The rows and columns of a group, and what it sums up of each index in a step."""


def candidates(
    block: BlockOp, problem: Problem, hardware: Hardware
) -> Iterator[Candidate]:
    """The ways to run a contraction, the fastest first.

    None for other blocks, or where nothing fits.
    """
    roles = Roles.of(problem)
    if roles is None:
        return
    times = _Times(roles, Model(hardware, roles.widths))
    for seconds, way in _timed(_as_asked(problem), hardware):
        schedule = roles.schedule(block, way)
        if schedule is not None:
            reason = f"{time_text(seconds)}: {way}"
            found = times.estimate(way)
            yield Candidate(found, replace(schedule, reason=reason))


def _as_asked(problem: Problem) -> Problem:
    """The problem of which names, and lanes of vectors, are those of all alike."""
    return replace(problem, name="", lanes=1)


@lru_cache(maxsize=16)
def _timed(problem: Problem, hardware: Hardware) -> list[tuple[float, Tiling]]:
    """The ways to share a contraction with their seconds, the fastest first."""
    # Networks repeat their layers.
    roles = Roles.of(problem)
    if roles is None:
        return []
    times = _Times(roles, Model(hardware, roles.widths))
    timed = [(times.seconds(way), way) for way in _tilings(roles, hardware)]
    return sorted(timed, key=lambda each: each[0])


def parts_of(block: BlockOp, hardware: Hardware, longest: int) -> tuple[Chunk, ...]:
    """How a contraction is cut into sums of parts that another kernel adds up.

    That pays where there are fewer tiles than the device runs at once; and sums of more
    than `longest` values are cut in any case. Empty where a block is better whole, or
    is no contraction.
    """
    problem = problem_of(block, hardware.vector_bits)
    return _parts(_as_asked(problem), hardware, longest)


@lru_cache(maxsize=1024)
def _parts(problem: Problem, hardware: Hardware, longest: int) -> tuple[Chunk, ...]:
    roles = Roles.of(problem)
    if roles is None:
        return ()
    ranges = roles.problem.ranges
    values = prod(ranges[n] for n in roles.sums)
    timed = _timed(problem, hardware)
    if not timed:
        return ()
    best = timed[0][0] * _WORTH if values <= longest else inf
    model = Model(hardware, roles.widths)
    times = _Times(roles, model)
    # Parts are no faster than if all cores were busy all the time.
    busy = {
        each: times.seconds(each, _MANY) / _MANY for each in _tilings(roles, hardware)
    }
    tilings = sorted(busy, key=lambda each: busy[each])[:_TRIED]
    chosen: tuple[Chunk, ...] = ()
    for chunk in _chunks(roles):
        added = _adding(roles, chunk.count, hardware)
        if values > longest * chunk.count or busy[tilings[0]] + added >= best:
            continue
        parts = _Times(roles.of_part(chunk), model)
        time = min([parts.seconds(each, chunk.count) for each in tilings]) + added
        if time < best:
            best, chosen = time, (chunk,)
    return chosen


def _chunks(roles: Roles) -> Iterator[Chunk]:
    """The ways to cut an index into chunks of whole steps."""
    for index, step in zip(roles.sums, roles.depths(_DEPTHS[-1]), strict=True):
        extent = roles.problem.ranges[index]
        counts = {n * times for n in powers(extent // step) for times in (2, 3)}
        sizes = {-(-extent // (count * step)) * step for count in sorted(counts)}
        for size in sorted(sizes, reverse=True):
            if size < extent:
                yield Chunk(index, -(-extent // size), size)


def _adding(roles: Roles, count: int, hardware: Hardware) -> float:
    """The seconds in which a kernel adds up the parts of all cells.

    It is launched while the one before it runs.
    """
    problem, clock = roles.problem, Clock(hardware)
    (output,) = problem.outputs
    cells = prod(problem.ranges[n] for n in problem.parallel)
    parts = clock.handed_on(cells * count * output.element_bytes)
    return hardware.lanes.launch_share * clock.launch + 2 * parts


class _Times:
    """What ways to share a contraction take, by the model.

    Many have tiles of the same size, of which is counted once what they move.
    """

    def __init__(self, roles: Roles, model: Model) -> None:
        self._roles = roles
        self._model = model
        self._counted: dict[_Size, tuple[int, int, float]] = {}

    def seconds(self, tiling: Tiling, parts: int = 1) -> float:
        """The predicted seconds of so many such blocks, in one launch."""
        groups, steps, moved = self._of_tiles(tiling)
        return self._model.seconds(tiling, groups * parts, steps, moved)

    def estimate(self, tiling: Tiling) -> Estimate:
        """The predicted time of the block with its parts."""
        return self._model.estimate(tiling, *self._of_tiles(tiling))

    def _of_tiles(self, tiling: Tiling) -> tuple[int, int, float]:
        """How many groups there are, their steps, and the bytes moved in one."""
        size = tiling.row_count, tiling.column_count, tiling.depths
        known = self._counted.get(size)
        if known is None:
            roles = self._roles
            moved = roles.moved(tiling, self._model.hardware)
            known = roles.groups(tiling), roles.steps(tiling), moved
            self._counted[size] = known
        return known


def _tilings(roles: Roles, hardware: Hardware) -> Iterator[Tiling]:
    """The ways to share a tile that a device has room for, and a block cells."""
    depths = [roles.depths(depth) for depth in _DEPTHS]
    least = min(_DEPTHS[0], max(map(prod, depths)))
    deep = tuple([sizes for sizes in depths if prod(sizes) >= least])
    fitting = _fitting(hardware, deep)
    return (tiling for tiling in fitting if not roles.is_too_large(tiling))


@lru_cache(maxsize=64)
def _fitting(hardware: Hardware, depths: tuple[tuple[int, ...], ...]) -> list[Tiling]:
    """The ways to share a tile that a device has room for."""
    lanes, items = hardware.innermost.count, hardware.work_group_size
    found: list[Tiling] = []
    for own, across in product(_SIDES, _SIDES):
        for lane_rows in powers(lanes):
            lane_columns = lanes // lane_rows
            for high, wide, steps in product(_SUBGROUPS, _SUBGROUPS, depths):
                tiling = Tiling(
                    rows=(own, lane_rows, high),
                    columns=(across, lane_columns, wide),
                    depths=steps,
                )
                fits = (
                    tiling.items <= items
                    and tiling.local_bytes(4) <= hardware.local_memory_bytes
                    and tiling.registers <= hardware.vector_registers
                )
                if fits:
                    found.append(tiling)
    return found
