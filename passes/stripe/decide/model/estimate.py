"""The time that a nest takes, predicted part by part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf, prod
from typing import TypeAlias

from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from ....clock import Clock, Estimate
from ...analysis.nest import (
    blocks_of_reductions,
    loop_strides,
    loops_of,
    tile_window,
)
from ...analysis.problem import Problem
from .copying import staging_seconds
from .kernel import TileCost, crossing, entries, tile_cost
from .traffic import Stream, level_cycles, traffic

_Tiles: TypeAlias = tuple[tuple[int, ...], int, frozenset[int]]
"""The sizes of register tiles, their lanes, and the inputs that are staged."""
_ROUNDING = 1 + 1e-9
"""What takes as long as another nest may seem to take so much longer."""


@dataclass(frozen=True)
class NestEstimate(Estimate):
    """The predicted time of a nest, and what its innermost loops cost."""

    tile: TileCost = field(compare=False)


@dataclass(frozen=True)
class _Cover:
    """How register tiles of one size cover the ranges of a block."""

    cost: TileCost
    interior: tuple[int, ...]
    """The ranges that whole tiles fill."""
    edges: float
    """Seconds for what they leave over."""
    leaves: int
    """The innermost blocks that it takes."""


class Model:
    """Predicts the time of nests of one block on one device."""

    def __init__(self, problem: Problem, hardware: Hardware) -> None:
        self.problem = problem
        self.hardware = hardware
        self.clock = Clock(hardware)
        self._tiles: dict[_Tiles, TileCost] = {}
        self._covers: dict[_Tiles, _Cover] = {}

    def tile(
        self, tile: tuple[int, ...], lanes: int, staged: frozenset[int]
    ) -> TileCost:
        """The cost of a register tile: see `tile_cost`."""
        key = (tile, lanes, staged)
        cost = self._tiles.get(key)
        if cost is None:
            cost = tile_cost(self.problem, tile, lanes, self.hardware, staged)
            self._tiles[key] = cost
        return cost

    def estimate(self, nest: Schedule) -> NestEstimate:
        """Predict the time of a nest.

        The arithmetic of the interior and its traffic at each level overlap; what tiles
        leave over at the edges, launches, work-groups and staging come on top.
        """
        found = self.estimate_below(nest, inf)
        if found is None:
            raise ValueError("the time of a nest is not finite")
        return found

    def estimate_below(self, nest: Schedule, limit: float) -> NestEstimate | None:
        """The time of a nest; None where it takes more seconds than `limit`.

        What data take is found out level by level, until that is known.
        """
        problem, hardware, clock = self.problem, self.hardware, self.clock
        overheads = hardware.overheads
        cover = self._cover(nest)
        arithmetic = _arithmetic(problem, nest, cover, hardware)
        groups = _groups(problem, nest, cover.interior)
        edge = _edge_groups(problem, nest, groups)
        imbalance = clock.imbalance(groups, edge)
        starts = clock.starts(groups)
        launches = _launches(problem, nest) * clock.launch
        slower = imbalance + overheads.leaf_share * (cover.leaves - 1)
        cold = overheads.leaf_nanoseconds * 1e-9 * (cover.leaves - 1)
        least = arithmetic * slower + starts + cover.edges + launches + cold
        if least > limit:
            return None
        staging = sum(
            staging_seconds(problem, nest, stage, hardware) for stage in nest.stages
        )
        if least + staging > limit:
            return None
        beside = least - arithmetic * slower + staging
        levels: dict[str, Mapping[float, float]] = {}
        busy = arithmetic
        for name, waiting in _levels(problem, nest, cover, hardware):
            levels[name] = waiting
            busy = clock.overlapped(arithmetic, [*levels.values()])
            if busy * slower + beside > limit * _ROUNDING:
                return None
        parts = {"arithmetic": arithmetic}
        parts |= {name: sum(level.values()) for name, level in levels.items()}
        added = {
            "imbalance": busy * (imbalance - 1),
            "work-groups": starts,
            "edges": cover.edges,
            "staging": staging,
            "launches": launches,
            "code": busy * overheads.leaf_share * (cover.leaves - 1) + cold,
        }
        return NestEstimate(busy + sum(added.values()), parts | added, cover.cost)

    def _cover(self, nest: Schedule) -> _Cover:
        """How the register tiles of a nest cover the ranges."""
        staged = frozenset(nest.staged)
        lanes = self.problem.lanes_of(nest.tile)
        key = (nest.tile, lanes, staged)
        cover = self._covers.get(key)
        if cover is None:
            problem = self.problem
            (interior, _), *edges = pieces(problem, nest.tile, lanes, staged)
            seconds = [
                self._edge(nest.tile, ranges, lanes, staged) for ranges, lanes in edges
            ]
            cover = self._covers[key] = _Cover(
                self.tile(*key),
                interior,
                sum(seconds),
                leaves(problem, nest.tile, 1 + len(edges)),
            )
        return cover

    def _edge(
        self,
        tile: Sequence[int],
        ranges: Sequence[int],
        lanes: int,
        staged: frozenset[int],
    ) -> float:
        """What tiles leave over, computed in the same kernel by smaller ones."""
        held = tuple(
            min(size, extent) or extent
            for extent, size in zip(ranges, tile, strict=True)
        )
        cost = self.tile(held, lanes, staged)
        tiles = _tiles(ranges, held)
        steps = prod(held[index] for index in self.problem.reductions)
        cycles = tiles * (steps * cost.step_cycles + cost.start_cycles)
        return cycles * self.clock.cycle / min(self.hardware.cores, tiles)


def estimate(problem: Problem, nest: Schedule, hardware: Hardware) -> NestEstimate:
    """Predict the time of one nest of a block on a device."""
    return Model(problem, hardware).estimate(nest)


def leaves(problem: Problem, tile: Sequence[int], edges: int) -> int:
    """How many innermost blocks `stripe-separate` makes of one with so many pieces.

    Along an index of a tile each constraint on it splits off a border.
    """
    count = edges
    for index in problem.parallel if problem.constrained else ():
        if tile[index] > 1:
            count *= 1 + sum([index in form for form in problem.constrained])
    return count


def pieces(
    problem: Problem, tile: Sequence[int], lanes: int, staged: Collection[int]
) -> list[tuple[tuple[int, ...], int]]:
    """What edges are split off: the ranges and vector width of each part.

    The first is the interior, which the innermost tiles fill. Elements that whole
    vectors leave over take shorter vectors, unless what vectors run along is staged:
    then a whole vector is computed and its end is not stored. Inside a work-group the
    last tile begins earlier, so that it ends with a whole vector.
    """
    cuts: dict[int, list[tuple[int, int]]] = {}
    for index in problem.parallel:
        extent, size = problem.ranges[index], tile[index]
        rest = extent % size if size else 0
        if not rest:
            continue
        width = lanes if index == problem.vector else 0
        cuts[index] = [(extent - rest, width)] if extent > size else []
        overlaps = problem.is_nested and extent > size
        if width and (overlaps or rounds_up(problem, staged)):
            cuts[index].append((-(-rest // width) * width, width))
        else:
            cuts[index] += _narrower(rest, width)
    found: list[tuple[tuple[int, ...], int]] = []
    for parts in product(*cuts.values()):
        ranges, width = list(problem.ranges), lanes
        for index, (extent, own_width) in zip(cuts, parts, strict=True):
            ranges[index] = extent
            if index == problem.vector:
                width = max(own_width, 1)
        found.append((tuple(ranges), width))
    return found


def rounds_up(problem: Problem, staged: Collection[int]) -> bool:
    """Whether vectors may compute elements that do not exist."""
    moved = [a.number for a in problem.inputs if problem.vector in a.used]
    return problem.aggregates and all(number in staged for number in moved)


def _narrower(rest: int, lanes: int) -> list[tuple[int, int]]:
    """Parts of what whole vectors leave over, with shorter vectors."""
    parts: list[tuple[int, int]] = []
    while lanes >= 4 and rest:
        if rest >= lanes:
            parts.append((rest - rest % lanes, lanes))
            rest %= lanes
        lanes //= 2
    if rest:
        parts.append((rest, min(lanes, 1)))
    return parts


def _tiles(ranges: Sequence[int], sizes: Sequence[int]) -> int:
    """How many tiles of these sizes cover the ranges; 0 is all."""
    pairs = zip(ranges, sizes, strict=True)
    return prod(-(-extent // size) if size else 1 for extent, size in pairs)


def _groups(problem: Problem, nest: Schedule, ranges: Sequence[int]) -> int:
    """The work-groups of a nest: the points of its outermost block."""
    if problem.is_nested:
        return 1
    return prod(
        -(-extent // min(size, extent)) if size else 1
        for extent, size in zip(ranges, nest.sizes[0], strict=True)
    )


def _edge_groups(problem: Problem, nest: Schedule, groups: int) -> float:
    """What work-groups at the edges do beside the whole ones, in whole ones."""
    if problem.is_nested:
        return 0.0
    pairs = zip(problem.ranges, nest.sizes[0], strict=True)
    parts = prod(extent / min(size, extent) for extent, size in pairs if size)
    return max(parts - groups, 0.0)


def _launches(problem: Problem, nest: Schedule) -> int:
    """The kernels of a nest: itself, and copies in front of it."""
    if problem.is_nested:
        return 0
    return 1 + sum(
        stage.before == 0 and not problem.accesses[stage.refinement].is_constant
        for stage in nest.stages
    )


def _arithmetic(
    problem: Problem, nest: Schedule, cover: _Cover, hardware: Hardware
) -> float:
    """Seconds of arithmetic of the interior, on cores that share it evenly."""
    ranges, cost = cover.interior, cover.cost
    cores = 1 if problem.is_nested else hardware.cores
    cycle = 1e-9 / hardware.clock_gigahertz
    tiles = _tiles(ranges, nest.tile)
    held = [size or extent for extent, size in zip(ranges, nest.tile, strict=True)]
    steps = prod(held[index] for index in problem.reductions)
    inside = (
        steps * cost.step_cycles
        + cost.start_cycles
        + entries(problem, held, hardware.overheads)
    )
    # Blocks of an aggregating index add to what the blocks before left.
    runs = prod(-(-ranges[index] // held[index]) for index in problem.reductions)
    if runs > 1:
        inside += cost.accumulators / hardware.loads_per_cycle
        rows = _rows_pages_apart(problem, held, hardware)
        latency = _latency_of_blocks(problem, nest, hardware)
        inside += hardware.overheads.store_alias_share * rows * latency
    return tiles * inside * cycle / cores


def _levels(
    problem: Problem, nest: Schedule, cover: _Cover, hardware: Hardware
) -> Iterator[tuple[str, dict[float, float]]]:
    """Seconds for all traffic, on cores that share the interior evenly.

    They are by reuse, for each level of memory, the nearest first.
    """
    ranges, cost = cover.interior, cover.cost
    cores = 1 if problem.is_nested else hardware.cores
    cycle = 1e-9 / hardware.clock_gigahertz
    lanes = problem.lanes_of(nest.tile)
    loops = loops_of(problem, nest, ranges)
    own = _of_one_core([loop.steps for loop in loops], cores)
    streams = [
        Stream(
            access,
            loop_strides(problem, nest, access, loops),
            crossing(problem, access, lanes, hardware, nest.staged),
        )
        for access in problem.accesses
    ]
    leaf = len(nest.levels)
    is_held = problem.aggregates and cost.in_registers
    held_at = depth = len(loops)
    if is_held:
        held_at = sum(loop.block < leaf for loop in loops)
        depth = held_at
        depth += sum(loop.index in problem.reductions for loop in loops[held_at:])
    divided = [n for n, loop in enumerate(loops) if own[n] < loop.steps]
    found = traffic(streams, own, hardware, cores, held_at, depth, divided)
    share = prod(own) / prod(loop.steps for loop in loops) * cores
    # What tiles leave over comes in as the rest does.
    share *= prod(ranges) / problem.points
    for name, waiting in level_cycles(found, hardware, cores):
        yield name, {reuse: cycles * cycle / share for reuse, cycles in waiting.items()}


def _rows_pages_apart(problem: Problem, tile: Sequence[int], hardware: Hardware) -> int:
    """The cells of a tile along output axes whose steps are whole pages, if several."""
    rows = sum(
        prod(
            tile[index]
            for index in problem.parallel
            if access.strides[index]
            and access.strides[index] % hardware.page_bytes == 0
        )
        for access in problem.outputs
        if not access.is_near
    )
    return rows if rows > 1 else 0


def _latency_of_blocks(problem: Problem, nest: Schedule, hardware: Hardware) -> float:
    """Cycles to the cache that holds what a block of aggregating indices touches."""
    sizes = blocks_of_reductions(problem, nest) or nest.sizes[0]
    whole = [size or extent for size, extent in zip(sizes, problem.ranges, strict=True)]
    touched = sum(
        prod(tile_window(access, whole)) * access.element_bytes
        for access in problem.accesses
    )
    caches = hardware.caches
    held = next((c for c in caches if touched <= c.size_bytes), caches[-1])
    return held.latency_cycles


def _of_one_core(steps: list[int], cores: int) -> list[int]:
    """The steps of the loops that one core takes: an even share, outer loops first."""
    left = cores
    own = list(steps)
    for number, count in enumerate(steps):
        if left <= 1:
            break
        own[number] = max(-(-count // left), 1)
        left = -(-left // count)
    return own
