"""The innermost loops: cycles for one step of a register tile, and its registers.

A tile of cells is held in accumulators while the loop over the indices that aggregate
runs. One step of that loop takes, in cycles,

    max(operations / multiply_adds_per_cycle, loads / loads_per_cycle,
        stores / stores_per_cycle, latency) + step_cycles

with one load for each vector or broadcast scalar of the inputs, and the latency of the
dependent chain through an accumulator: a tile of few accumulators waits for it. What
does not fit the registers is spilled, a store and a load in every step and more; and an
array too large to be unrolled is in the nearest cache with all its cells. So is one
whose vectors are collected, where a constraint cuts them into numbers at a border.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from .....targets.hardware.description import Hardware
from .....targets.hardware.overheads import Overheads
from ....clock import Clock
from ...analysis.problem import Access, Problem
from ...analysis.window_reuse import Rows, places, reusing_loops


class TileCost(NamedTuple):
    """What a register tile costs."""

    step_cycles: float
    """One step over the indices that aggregate, or the tile if there are none."""
    start_cycles: float
    """Setting the accumulators and storing them, once for a tile."""
    registers: int
    """How many it needs."""
    limit: str
    """What bounds a step: `multiply-adds`, `loads`, `stores`, `latency`."""
    in_registers: bool
    """Whether the accumulators are in registers, not in memory."""
    accumulators: float = 0.0
    """How many vectors of cells it has."""


def _parts(problem: Problem, access: Access, lanes: int) -> int:
    """The loads that collect a vector of lanes which are not next to each other.

    Vectors that hold lanes a few elements apart are loaded whole, others one by one.
    """
    *outer, last = access.coefficients
    vector = problem.vector or 0
    step = abs(last[vector])
    is_short = step and not any(row[vector] for row in outer)
    return min(step, lanes) if is_short else lanes


def crossing(
    problem: Problem,
    access: Access,
    lanes: int,
    hardware: Hardware,
    staged: Collection[int],
) -> float:
    """The part of an input's vectors that lie in two cache lines, each a load.

    Memory of our own starts at the start of a line, a caller's array somewhere.
    """
    if lanes == 1 or problem.vector not in access.used:
        return 0.0
    if access.is_near or access.number in staged:
        return 0.0
    return min(lanes * access.element_bytes / hardware.cache_line_bytes, 1.0)


def cells_of(tile: Sequence[int], indices: Sequence[int]) -> int:
    """How many values the given indices take together in a tile."""
    count = 1
    for index in indices:
        count *= tile[index]
    return count


class _Reuse(NamedTuple):
    """The loops around a tile that are unrolled with it, to load what they share once.

    See `stripe-unroll`, which marks them.
    """

    sizes: Sequence[int]
    """How many vectors or values each index takes."""
    held: frozenset[int]
    loops: frozenset[int]
    vector: int | None
    lanes: int

    @staticmethod
    def of(
        problem: Problem,
        tile: Sequence[int],
        lanes: int,
        hardware: Hardware,
        accumulators: float,
    ) -> _Reuse | None:
        """What is unrolled around a register tile; None where nothing is."""
        loops = problem.inner_order[: len(problem.reductions)]
        if not loops:
            return None
        vector = problem.vector if lanes > 1 else None
        sizes = [
            size or extent for size, extent in zip(tile, problem.ranges, strict=True)
        ]
        if vector is not None:
            sizes[vector] = max(sizes[vector] // lanes, 1)
        if accumulators * sizes[loops[-1]] > hardware.overheads.unrolled_copies:
            return None
        held = problem.held
        inputs = [_rows(access, vector, lanes) for access in problem.inputs]
        found = reusing_loops(sizes, held, loops, inputs, hardware, int(accumulators))
        return _Reuse(sizes, held, found, vector, lanes) if found else None

    def share(self, access: Access) -> float:
        """The part of an input's loads that is left."""
        if self.loops.isdisjoint(access.used):
            return 1.0
        rows = _rows(access, self.vector, self.lanes)
        apart = places(rows, self.sizes, self.held)
        for loop in self.loops:
            apart *= self.sizes[loop]
        return places(rows, self.sizes, self.held | self.loops) / apart


def _rows(access: Access, vector: int | None, lanes: int) -> Rows:
    """The coefficients of an access where one step of the vectors is all lanes."""
    return _scaled(access.coefficients, vector, lanes)


@lru_cache(maxsize=256)
def _scaled(
    rows: tuple[tuple[int, ...], ...], vector: int | None, lanes: int
) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(c * lanes if index == vector else c for index, c in enumerate(row))
        for row in rows
    )


def tile_cost(
    problem: Problem,
    tile: Sequence[int],
    lanes: int,
    hardware: Hardware,
    staged: Collection[int] = (),
) -> TileCost:
    """The cost of a register tile of these sizes along the parallel indices.

    `staged` are the inputs that are read from scratch, in the order of the vectors.
    """
    overheads = hardware.overheads
    cells = cells_of(tile, problem.parallel)
    operations = cells * problem.operations / lanes
    accumulators = cells / lanes * len(problem.outputs)
    reuse = _Reuse.of(problem, tile, lanes, hardware, accumulators)
    is_cut = lanes > 1 and any(problem.vector in form for form in problem.constrained)
    in_memory = False
    loads = kept = largest = 0.0
    for access in problem.inputs:
        number = access.number
        count = cells_of(tile, problem.kept[number])
        if lanes > 1 and problem.vector in access.used:
            count /= lanes
        if reuse is not None:
            count *= reuse.share(access)
        kept += count
        if problem.aggregates and access.used.isdisjoint(problem.reductions):
            # It is loaded before the loop over them.
            continue
        largest = max(largest, count)
        loads += count
        loads += count * crossing(problem, access, lanes, hardware, staged)
        if lanes > 1 and problem.blocked[number] and number not in staged:
            parts = _parts(problem, access, lanes)
            if is_cut:
                # The loops are not unrolled: each vector of cells collects its own.
                count = accumulators
            loads += count * (parts - 1)
            operations += count * parts * overheads.collect_operations
            in_memory = is_cut
    # All inputs but the largest are kept over a step, that goes through one register.
    kept -= largest
    if not problem.aggregates:
        return _bounded(hardware, operations, loads, accumulators, 0.0)
    needed = int(accumulators + kept + 2)
    excess = max(needed - hardware.vector_registers, 0)
    is_short = cells / lanes <= overheads.unrolled_copies
    fits = is_short and excess < accumulators and not in_memory
    extra = _checks(problem, tile) * overheads.check_cycles
    if not fits:
        moved = accumulators
        cost = _bounded(hardware, operations, loads + moved, moved, 0.0)
    else:
        if excess:
            extra += overheads.spill_cycles
            extra += excess * overheads.spilled_value_cycles
        latency = hardware.multiply_add_latency_cycles
        cost = _bounded(hardware, operations, loads + excess, excess, latency)
    setting = accumulators * (1 / hardware.stores_per_cycle + 0.5)
    return TileCost(
        cost.step_cycles + extra,
        setting + overheads.tile_cycles,
        needed,
        cost.limit,
        fits,
        accumulators,
    )


def _checks(problem: Problem, tile: Sequence[int]) -> int:
    """How many conditions differ between the registers of a tile."""
    return sum(
        count
        for form in problem.constrained
        if (count := cells_of(tile, [i for i in form if i in problem.parallel])) > 1
    )


def _bounded(
    hardware: Hardware,
    operations: float,
    loads: float,
    stores: float,
    latency: float,
) -> TileCost:
    """A step that takes as long as the resource it uses most."""
    cycles, limit = Clock(hardware).step(operations, loads, stores, latency)
    return TileCost(cycles + hardware.overheads.step_cycles, 0.0, 0, limit, True)


def entries(problem: Problem, ranges: Sequence[int], overheads: Overheads) -> float:
    """Cycles for entering the loops over aggregating indices of these ranges."""
    trips = [ranges[index] for index in sorted(problem.reductions)]
    total = 0.0
    outside = 1
    for trip in trips:
        if trip > overheads.unrolled_steps:
            total += outside * overheads.loop_cycles
        outside *= trip
    return total
