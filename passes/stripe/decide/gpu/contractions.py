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

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import inf, prod

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
_WORTH = 0.9
"""The part of a time that sums of parts may take, which use memory."""
_TRIED = 24
"""Ways to share a tile that are tried for parts of sums."""
_MANY = 1024
"""Parts that keep all cores busy."""


def candidates(
    block: BlockOp, problem: Problem, hardware: Hardware
) -> Iterator[Candidate]:
    """The ways to run a contraction, the fastest first.

    None for other blocks, or where nothing fits.
    """
    roles = Roles.of(problem)
    if roles is None:
        return
    for found, way in _timed(_nameless(problem), hardware):
        schedule = roles.schedule(block, way)
        if schedule is not None:
            reason = f"{time_text(found.seconds)}: {way}"
            yield Candidate(found, replace(schedule, reason=reason))


def _nameless(problem: Problem) -> Problem:
    """Problems that differ in their names have the same answers."""
    return replace(problem, name="")


@lru_cache(maxsize=16)
def _timed(problem: Problem, hardware: Hardware) -> list[tuple[Estimate, Tiling]]:
    """The ways to share a contraction with their times, the fastest first."""
    # Networks repeat their layers.
    roles = Roles.of(problem)
    if roles is None:
        return []
    model, ways = Model(hardware, roles.widths), _tilings(roles, hardware)
    timed = [(_estimate(roles, way, model), way) for way in ways]
    return sorted(timed, key=lambda each: each[0].seconds)


def parts_of(block: BlockOp, hardware: Hardware, longest: int) -> tuple[Chunk, ...]:
    """How a contraction is cut into sums of parts that another kernel adds up.

    That pays where there are fewer tiles than the device runs at once; and sums of more
    than `longest` values are cut in any case. Empty where a block is better whole, or
    is no contraction.
    """
    problem = problem_of(block, hardware.vector_bits)
    return _parts(_nameless(problem), hardware, longest)


@lru_cache(maxsize=1024)
def _parts(problem: Problem, hardware: Hardware, longest: int) -> tuple[Chunk, ...]:
    roles = Roles.of(problem)
    if roles is None:
        return ()
    ranges = roles.problem.ranges
    values = prod(ranges[n] for n in roles.sums)
    model, timed = Model(hardware, roles.widths), _timed(problem, hardware)
    tilings = [*_tilings(roles, hardware)]
    if not tilings:
        return ()
    best = timed[0][0].seconds * _WORTH if values <= longest else inf
    # Parts are no faster than if all cores were busy all the time.
    busy = {
        each: _estimate(roles, each, model, _MANY).seconds / _MANY for each in tilings
    }
    tilings = sorted(busy, key=lambda each: busy[each])[:_TRIED]
    chosen: tuple[Chunk, ...] = ()
    for chunk in _chunks(roles):
        added = _adding(roles, chunk.count, hardware)
        if values > longest * chunk.count or busy[tilings[0]] + added >= best:
            continue
        time = _fastest(roles.of_part(chunk), tilings, model, chunk.count) + added
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


def _fastest(
    roles: Roles, tilings: Iterable[Tiling], model: Model, parts: int = 1
) -> float:
    """The predicted seconds of the fastest way to run so many such blocks."""
    times = (_estimate(roles, each, model, parts).seconds for each in tilings)
    return min(times, default=inf)


def _estimate(roles: Roles, tiling: Tiling, model: Model, parts: int = 1) -> Estimate:
    """The predicted time of so many such blocks, in one launch."""
    groups, moved = roles.groups(tiling) * parts, roles.moved(tiling, model.hardware)
    return model.estimate(tiling, groups, roles.steps(tiling), moved)


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
