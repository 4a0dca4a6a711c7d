"""The search: which nests of a block are looked at, and the best of them.

Register tiles come first, by the arithmetic alone; the best few of them, unlike each
other, are completed with what to stage, how work-groups follow each other, and how much
one of them does, each choice made where the time predicted is least.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import combinations
from math import inf, prod
from typing import TypeAlias

from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from .....targets.hardware.overheads import Overheads
from ...analysis.nest import blocks_of_reductions, packing
from ...analysis.problem import Problem
from ..model.code import MOST_SECONDS, build_seconds
from ..model.estimate import (
    Model,
    NestEstimate,
    leaves,
    pieces,
)
from ..model.kernel import cells_of
from .groups import blocked, locally_staged_pieces, may_stage, pieces_of

_ROW_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
_VECTORS = (1, 2, 3, 4, 6)
_KEPT = 6
"""Register tiles that are completed."""
_KEPT_OF_SHORT = 3
"""The same for blocks that take less than `_SHORT` cycles: more take longer to look at
than what they gain in a thousand calls."""
_SHORT = 1 << 17
_HOPE = 1.1
"""How much worse than those kept a tile may seem without its edges, to be looked at."""
_WorkOfOne: TypeAlias = "Callable[[tuple[int, ...], int], float]"
"""The cycles of one tile with vectors of so many lanes."""
_Worked: TypeAlias = "tuple[float, list[int], tuple[int, ...]]"
"""The cycles for all tiles, what decides between equal ones, and a tile."""
_WAYS = 3
"""Ways to complete a tile that are tried with the next ones."""
_COMPLETED = 2
"""Nests of which pieces are tried."""
_WORTH_BLOCKING = 0.08
"""The part of the time beside arithmetic that makes blocks worth a look."""
_TILED_AT_ONCE = 2


@dataclass(frozen=True)
class Scored:
    """A nest and its predicted time."""

    nest: Schedule
    estimate: NestEstimate
    remark: str = ""
    """What was left out in its favour, and why; or nothing."""

    @property
    def seconds(self) -> float:
        """Predicted seconds of the whole nest."""
        return self.estimate.seconds


def search(problem: Problem, hardware: Hardware) -> list[Scored]:
    """The nests that were looked at to the end, the fastest first."""
    return _search(problem, hardware, is_complete=True)


def _search(problem: Problem, hardware: Hardware, *, is_complete: bool) -> list[Scored]:
    """See `search`; what cannot be the fastest is left out unless it is complete."""
    model = Model(problem, hardware)
    tiles, remark = _best_tiles(model)
    looks = _Looks(model, remark, is_complete)
    ways = list(_ways(problem))
    best: list[Scored] = []
    probed: list[float] = []
    for tile in tiles:
        # What pays for the best tile pays for another.
        count = 1 if best else _WAYS
        found = looks.fastest((way.nest(problem, tile) for way in ways), count)
        if not best:
            ways = [_Way.of(one.nest) for one in found[:_WAYS]]
        best.append(found[0])
        local = looks.improve(
            locally_staged_pieces(problem, found[0].nest, hardware, parts=(1,))
        )
        probed.append(min([one.seconds for one in (found[0], *local)]))
    most_promising = best[probed.index(min(probed))]
    best.sort(key=_preference)
    # Where tiles leave nothing over, larger blocks of them do not either.
    even = [one for one in best[_COMPLETED:] if one.estimate.breakdown["edges"] == 0]
    chosen = {one.nest: one for one in (*best[:_COMPLETED], *even[:1], most_promising)}
    for one in chosen.values():
        looks.improve(pieces_of(problem, one.nest))
        looks.improve(locally_staged_pieces(problem, one.nest, hardware))
        if _waits_for_memory(one):
            looks.improve(blocked(problem, one.nest, hardware))
    return sorted(looks.seen.values(), key=_preference)


class _Looks:
    """The nests that a search has looked at."""

    def __init__(self, model: Model, remark: str, is_complete: bool) -> None:
        self.seen: dict[Schedule, Scored] = {}
        self._model = model
        self._remark = remark
        self._is_complete = is_complete
        self._least = {False: inf, True: inf}
        """Seconds of the fastest nest, and of the fastest that may be shared."""

    def fastest(self, nests: Iterable[Schedule], count: int) -> list[Scored]:
        """At least so many of these nests, the fastest first."""
        found: list[Scored] = []
        for nest in nests:
            limit = found[count - 1].seconds if len(found) >= count else inf
            if (scored := self._look(nest, limit)) is not None:
                insort(found, scored, key=_preference)
        return found

    def improve(self, nests: Iterable[Schedule]) -> list[Scored]:
        """Those of these nests that may be faster than all so far, in any order."""
        shares = ((nest, _may_share(self._model.problem, nest)) for nest in nests)
        looks = (self._look(nest, self._least[share]) for nest, share in shares)
        return [scored for scored in looks if scored is not None]

    def _look(self, nest: Schedule, limit: float) -> Scored | None:
        """A nest and its time; None if it would certainly take longer than `limit`."""
        model = self._model
        same = nest.normalized(model.problem.ranges, model.problem.reductions)
        if (known := self.seen.get(same)) is not None:
            return known
        nest = _with_groups_ordered(same, nest)
        limit = inf if self._is_complete else limit
        if (estimate := model.estimate_below(nest, limit)) is None:
            return None
        for which in {False, _may_share(model.problem, nest)}:
            self._least[which] = min(self._least[which], estimate.seconds)
        self.seen[same] = scored = Scored(nest, estimate, self._remark)
        return scored


def _with_groups_ordered(nest: Schedule, given: Schedule) -> Schedule:
    """A nest with the order of work-groups that another one of the same loops has.

    It may change nothing here, but blocks that share the outer loops go by it.
    """
    order = given.orders[0]
    return nest.with_orders([order, *nest.orders[1:]]) if order else nest


def best(problem: Problem, hardware: Hardware) -> Scored:
    """The fastest nest; problems that differ in their names have the same."""
    return _fastest(replace(problem, name=""), hardware)[0]


def best_to_share(problem: Problem, hardware: Hardware) -> Scored:
    """The fastest nest of which other blocks may share the outer loops.

    It has no work-groups that copy what all their tiles use: strips are not that large.
    """
    return _fastest(replace(problem, name=""), hardware)[1]


def _may_share(problem: Problem, nest: Schedule) -> bool:
    if blocks_of_reductions(problem, nest) is not None:
        return True
    return all(stage.before <= 0 for stage in nest.stages)


@lru_cache(maxsize=1024)
def _fastest(problem: Problem, hardware: Hardware) -> tuple[Scored, Scored]:
    """The fastest nest, and the fastest that may be shared."""
    # Networks repeat their layers, and passes ask one after the other.
    found = _search(problem, hardware, is_complete=False)
    return found[0], next(one for one in found if _may_share(problem, one.nest))


def _preference(scored: Scored) -> tuple[float, list[int]]:
    return scored.seconds, [-size for size in reversed(scored.nest.tile)]


def _best_tiles(model: Model) -> tuple[list[tuple[int, ...]], str]:
    """The best register tiles by arithmetic, and a remark.

    Those of which the code takes too long to compile are for blocks only that have no
    others; the remark says which one would have been the best.
    """
    problem = model.problem
    staged = frozenset(
        access.number
        for access in problem.inputs
        if problem.blocked[access.number] and may_stage(problem, access)
    )
    overheads = model.hardware.overheads
    work_of_one = cache(partial(_tile_work, model, staged))
    likely = sorted(
        (_least_work(problem, tile, work_of_one, overheads), tile)
        for tile in register_tiles(problem, model.hardware)
    )
    cores = 1 if problem.is_nested else model.hardware.cores
    cold = overheads.leaf_nanoseconds * model.hardware.clock_gigahertz * cores
    scored: list[_Worked] = []
    long: list[_Worked] = []
    for least, tile in likely:
        if len(scored) >= _KEPT and least > _HOPE * scored[_KEPT - 1][0]:
            break
        lanes = problem.lanes_of(tile)
        parts = pieces(problem, tile, lanes, staged)
        work = _work(problem, tile, parts, work_of_one, overheads.leaf_share, cold)
        built = build_seconds(problem, tile, lanes, len(parts), overheads)
        is_long = built > MOST_SECONDS
        found = long if is_long else scored
        insort(found, (work, [-size for size in reversed(tile)], tile))
    if not scored:
        scored, long = long, []
    remark = ""
    if long and long[0] < scored[0]:
        *_, tile = long[0]
        remark = _too_long(problem, tile, staged, overheads)
    kept = _KEPT if scored[0][0] > _SHORT else _KEPT_OF_SHORT
    return [tile for *_, tile in scored[:kept]], remark


def _too_long(
    problem: Problem,
    tile: Sequence[int],
    staged: frozenset[int],
    overheads: Overheads,
) -> str:
    lanes = problem.lanes_of(tile)
    parts = pieces(problem, tile, lanes, staged)
    seconds = build_seconds(problem, tile, lanes, len(parts), overheads)
    return (
        f"no tile of [{', '.join(map(str, tile))}], whose code takes {seconds:.2g} s"
        f" to compile, more than {MOST_SECONDS:g}"
    )


def _least_work(
    problem: Problem,
    tile: tuple[int, ...],
    work_of_one: _WorkOfOne,
    overheads: Overheads,
) -> float:
    """Cycles for all tiles, if they left nothing over."""
    parallel = problem.parallel
    tiles = cells_of(problem.ranges, parallel) / cells_of(tile, parallel)
    work = work_of_one(tile, problem.lanes_of(tile)) * tiles
    further = leaves(problem, tile, 1) - 1
    return work * (1 + overheads.leaf_share * further)


def _work(
    problem: Problem,
    tile: tuple[int, ...],
    parts: Sequence[tuple[tuple[int, ...], int]],
    work_of_one: _WorkOfOne,
    share: float,
    cold: float,
) -> float:
    """Cycles for all tiles, with what they leave over at the edges.

    Each leaf but the first takes a `share` of all and `cold` cycles more.
    """
    work = 0.0
    for ranges, width in parts:
        held = tuple(map(min, tile, ranges))
        tiles = cells_of(ranges, problem.parallel) / cells_of(held, problem.parallel)
        work += work_of_one(held, width) * tiles
    further = leaves(problem, tile, len(parts)) - 1
    return work * (1 + share * further) + cold * further


def _tile_work(
    model: Model, staged: frozenset[int], tile: tuple[int, ...], lanes: int
) -> float:
    """Cycles of one tile."""
    problem = model.problem
    cost = model.tile(tile, lanes, staged)
    steps = prod(problem.ranges[index] for index in problem.reductions)
    shown = model.hardware.overheads.step_stream_share
    step = cost.step_cycles + shown * _stream(problem, tile, model.hardware)
    return step * steps + cost.start_cycles


def _stream(problem: Problem, tile: Sequence[int], hardware: Hardware) -> float:
    """Cycles to bring what a step of a tile reads into the nearest cache."""
    moved = sum(
        cells_of(tile, problem.kept[access.number]) * access.element_bytes
        for access in problem.inputs
        if not access.used.isdisjoint(problem.reductions)
    )
    behind = hardware.caches[min(1, len(hardware.caches) - 1)]
    return moved / behind.bytes_per_cycle


def register_tiles(problem: Problem, hardware: Hardware) -> Iterator[tuple[int, ...]]:
    """Register tiles worth a thought, whole along indices that only aggregate."""
    limit = hardware.vector_registers
    smallest = [
        extent if index in problem.reductions or index in problem.whole else 1
        for index, extent in enumerate(problem.ranges)
    ]
    free = [
        index
        for index in problem.parallel
        if index not in problem.fixed and index not in problem.whole
    ]
    vector = problem.vector if problem.vector in free else None
    rows = [i for i in free if i != vector and problem.ranges[i] > 1]
    for width in _widths(problem, vector):
        base = list(smallest)
        if vector is not None:
            base[vector] = width
        own = width // problem.lanes_of(base)
        for number in range(min(_TILED_AT_ONCE, len(rows)) + 1):
            for chosen in combinations(rows, number):
                for sizes in _sizes(problem, chosen, limit // max(own, 1)):
                    tile = list(base)
                    for index, size in zip(chosen, sizes, strict=True):
                        tile[index] = size
                    yield tuple(tile)


def _widths(problem: Problem, vector: int | None) -> list[int]:
    """Sizes of a tile along the vectors, which are as wide as that allows."""
    if vector is None:
        return [1]
    extent = problem.ranges[vector]
    lanes = problem.lanes
    while lanes > extent:
        lanes //= 2
    widths = [count * lanes for count in _VECTORS]
    # Narrower vectors may leave nothing over.
    narrow = lanes // 2
    if narrow >= 2 and extent % lanes and extent % narrow == 0:
        widths += [count * narrow for count in _VECTORS]
    elif narrow:
        widths.append(narrow)
    return [width for width in dict.fromkeys(widths) if width <= extent]


def _sizes(
    problem: Problem, chosen: Sequence[int], limit: int
) -> Iterator[tuple[int, ...]]:
    """Sizes of two or more along the chosen indices, with a product up to a limit."""
    if not chosen:
        yield ()
        return
    first, *rest = chosen
    for size in _ROW_SIZES[1:]:
        if size > min(limit, problem.ranges[first]):
            return
        for others in _sizes(problem, rest, limit // size):
            yield (size, *others)


@dataclass(frozen=True)
class _Way:
    """What is decided beside tiles: the inputs to copy, the order of work-groups."""

    staged: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()

    @staticmethod
    def of(nest: Schedule) -> _Way:
        return _Way(frozenset(nest.staged), nest.orders[0])

    def nest(self, problem: Problem, tile: tuple[int, ...]) -> Schedule:
        """The nest of a register tile."""
        vector = problem.vector if problem.lanes_of(tile) > 1 else None
        stages = tuple(
            packing(problem, problem.accesses[number], 0, vector)
            for number in sorted(self.staged)
        )
        return Schedule.of((tile,), (self.order,) if self.order else (), stages)


def _ways(problem: Problem) -> Iterator[_Way]:
    """Each choice of inputs that are copied, with each index to run fastest."""
    possible = [
        access.number for access in problem.inputs if may_stage(problem, access)
    ]
    orders = [(), *_orders(problem)]
    for number in range(len(possible) + 1):
        for chosen in combinations(possible, number):
            for order in orders:
                yield _Way(frozenset(chosen), order)


def _orders(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the work-groups: each index may run fastest; the last does anyway."""
    free = [index for index in problem.parallel if problem.ranges[index] > 1]
    for last in free[:-1]:
        yield tuple([*(index for index in free if index != last), last])


def _waits_for_memory(scored: Scored) -> bool:
    """Whether much of the time goes elsewhere than into arithmetic and edges."""
    parts = scored.estimate.breakdown
    rest = scored.seconds - parts["arithmetic"] - parts["edges"] - parts["launches"]
    return rest > _WORTH_BLOCKING * parts["arithmetic"]
