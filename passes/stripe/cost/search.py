"""The search: which nests of a block are looked at, and the best of them.

Register tiles come first, by the arithmetic alone; the best few of them, unlike each
other, are completed with what to stage, how work-groups follow each other, and how much
one of them does, each choice made where the time predicted is least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import prod

from ....dialects.stripe.attributes import MemorySpace
from ....targets.hardware.description import Hardware
from .estimate import CODE, OVERLAP, Estimate, Model, leaves, pieces
from .kernel import cells_of
from .nest import Nest, packing, scratch_bytes, tile_window
from .problem import Access, Problem

_REUSE = 8
"""Staging is worth a thought for inputs of which each element is used as often."""
_ROW_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
_VECTORS = (1, 2, 3, 4, 6)
_KEPT = 6
"""Register tiles that are completed."""
_WAYS = 3
"""Ways to complete a tile that are tried with the next ones."""
_COMPLETED = 2
"""Nests of which pieces are tried."""
_WORTH_BLOCKING = 0.08
"""The part of the time beside arithmetic that makes blocks worth a look."""
_BLOCKS = (
    (32, 1024, 1024),
    (64, 256, 512),
    (64, 64, 512),
    (128, 256, 256),
    (128, 64, 128),
    (256, 64, 128),
)
"""Blocks for caches: columns, rows and aggregating steps, about."""
_LOCAL = MemorySpace.LOCAL
_TILED_AT_ONCE = 2


@dataclass(frozen=True)
class Scored:
    """A nest and its predicted time."""

    nest: Nest
    estimate: Estimate

    @property
    def seconds(self) -> float:
        return self.estimate.seconds


@dataclass(frozen=True)
class Freedom:
    """What beside the tiles a search may decide."""

    stages: bool = True
    orders: bool = True


def search(
    problem: Problem, hardware: Hardware, freedom: Freedom = Freedom()
) -> list[Scored]:
    """The nests that were looked at to the end, the fastest first."""
    model = Model(problem, hardware)
    seen: dict[Nest, Scored] = {}

    def score(nests: Iterable[Nest]) -> list[Scored]:
        found: list[Scored] = []
        for nest in nests:
            if nest not in seen:
                seen[nest] = Scored(nest, model.estimate(nest))
            found.append(seen[nest])
        return sorted(found, key=_preference)

    tiles = _best_tiles(model, freedom)
    ways = list(_ways(problem, freedom))
    best: list[Scored] = []
    for tile, lanes in tiles:
        scored = score(way.nest(problem, tile, lanes) for way in ways)
        best.append(scored[0])
        # What pays for one good tile pays for another.
        ways = [_Way.of(one.nest) for one in scored[:_WAYS]]
    best.sort(key=_preference)
    # Where tiles leave nothing over, larger blocks of them do not either.
    even = [one for one in best[_COMPLETED:] if one.estimate.breakdown["edges"] == 0]
    for one in (*best[:_COMPLETED], *even[:1]):
        score(_pieces(problem, one.nest))
        if freedom.stages and _waits_for_memory(one):
            score(blocked(problem, one.nest, hardware))
    return sorted(seen.values(), key=_preference)


def best(problem: Problem, hardware: Hardware, freedom: Freedom = Freedom()) -> Scored:
    """The fastest nest; problems that differ in their names have the same."""
    return _best(replace(problem, name=""), hardware, freedom)


@lru_cache(maxsize=256)
def _best(problem: Problem, hardware: Hardware, freedom: Freedom) -> Scored:
    # Networks repeat their layers.
    return search(problem, hardware, freedom)[0]


def _preference(scored: Scored) -> tuple[float, list[int]]:
    return scored.seconds, [-size for size in reversed(scored.nest.tile)]


def _best_tiles(model: Model, freedom: Freedom) -> list[tuple[tuple[int, ...], int]]:
    """The best register tiles by arithmetic, and their vector widths."""
    problem = model.problem
    staged = frozenset(
        access.number
        for access in problem.inputs
        if freedom.stages and problem.blocked[access.number]
        if may_stage(problem, access)
    )
    reductions = prod(problem.ranges[index] for index in problem.reductions)
    scored: list[tuple[float, list[int], tuple[int, ...], int]] = []
    for tile, lanes in register_tiles(problem, model.hardware):
        work = 0.0
        parts = pieces(problem, tile, lanes, staged)
        for ranges, width in parts:
            held = tuple(map(min, tile, ranges))
            cost = model.tile(held, width, staged)
            tiles = cells_of(ranges, problem.parallel) / cells_of(
                held, problem.parallel
            )
            step = cost.step_cycles + OVERLAP * _stream(problem, held, model.hardware)
            work += (step * reductions + cost.start_cycles) * tiles
        work *= 1 + CODE * (leaves(problem, tile, len(parts)) - 1)
        scored.append((work, [-size for size in reversed(tile)], tile, lanes))
    scored.sort()
    return [(tile, lanes) for _, _, tile, lanes in scored[:_KEPT]]


def _stream(problem: Problem, tile: Sequence[int], hardware: Hardware) -> float:
    """Cycles to bring what a step of a tile reads into the nearest cache."""
    moved = sum(
        cells_of(tile, problem.kept[access.number]) * access.element_bytes
        for access in problem.inputs
        if not access.used.isdisjoint(problem.reductions)
    )
    behind = hardware.caches[min(1, len(hardware.caches) - 1)]
    return moved / behind.bytes_per_cycle


def register_tiles(
    problem: Problem, hardware: Hardware
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Register tiles worth a thought, whole along indices that only aggregate."""
    limit = 2 * hardware.vector_registers
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
    for lanes, width in _widths(problem, vector):
        base = list(smallest)
        if vector is not None:
            base[vector] = width
        own = width // lanes
        for number in range(min(_TILED_AT_ONCE, len(rows)) + 1):
            for chosen in combinations(rows, number):
                for sizes in _sizes(problem, chosen, limit // max(own, 1)):
                    tile = list(base)
                    for index, size in zip(chosen, sizes, strict=True):
                        tile[index] = size
                    yield tuple(tile), lanes


def _widths(problem: Problem, vector: int | None) -> Iterator[tuple[int, int]]:
    """Lanes, and the tile's size along the vectors."""
    if vector is None:
        yield 1, 1
        return
    extent = problem.ranges[vector]
    lanes = problem.lanes
    while lanes > extent:
        lanes //= 2
    for count in _VECTORS:
        if count * lanes <= extent:
            yield lanes, count * lanes
    # Narrower vectors may leave nothing over.
    narrow = lanes // 2
    if narrow >= 2 and extent % lanes and extent % narrow == 0:
        yield from ((narrow, n * narrow) for n in _VECTORS if n * narrow <= extent)
    elif narrow:
        yield narrow, narrow


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
    def of(nest: Nest) -> _Way:
        order = nest.orders[0] if nest.orders else ()
        return _Way(frozenset(nest.staged), order)

    def nest(self, problem: Problem, tile: tuple[int, ...], lanes: int) -> Nest:
        """The nest of a register tile."""
        vector = problem.vector if lanes > 1 else None
        stages = tuple(
            packing(problem, problem.accesses[number], 0, vector)
            for number in sorted(self.staged)
        )
        return Nest((tile,), lanes, (self.order,) if self.order else (), stages)


def _ways(problem: Problem, freedom: Freedom) -> Iterator[_Way]:
    """Each choice of inputs that are copied, with each index to run fastest."""
    possible = [
        access.number
        for access in problem.inputs
        if freedom.stages and may_stage(problem, access)
    ]
    orders = [(), *(_orders(problem) if freedom.orders else ())]
    for number in range(len(possible) + 1):
        for chosen in combinations(possible, number):
            for order in orders:
                yield _Way(frozenset(chosen), order)


def may_stage(problem: Problem, access: Access) -> bool:
    """Whether it is worth a thought to copy an input into the order of its use."""
    if access.is_near or access.is_chosen or problem.is_nested:
        return False
    if access.reaches_out(problem.ranges) and not problem.blocked[access.number]:
        # Vectors are loaded from it as it is, and a copy would have borders to fill.
        return False
    return _is_reused(problem, access)


def _is_reused(problem: Problem, access: Access) -> bool:
    """Whether each element of an input is used often enough to be copied before."""
    if access.is_constant:
        return True
    window = tile_window(access, problem.ranges)
    elements = prod(map(min, window, access.sizes))
    return problem.points >= _REUSE * elements


def _orders(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the work-groups: each index may run fastest; the last does anyway."""
    free = [index for index in problem.parallel if problem.ranges[index] > 1]
    for last in free[:-1]:
        yield tuple([*(index for index in free if index != last), last])


def _pieces(problem: Problem, nest: Nest) -> Iterator[Nest]:
    """The nest with several register tiles in a work-group."""
    tile = nest.tile
    interior, _ = pieces(problem, tile, nest.lanes, nest.staged)[0]
    counts = [-(-extent // size) for extent, size in zip(interior, tile, strict=True)]
    for index in problem.parallel:
        if index in problem.fixed or counts[index] == 1:
            continue
        for count in _divisors(counts[index], counts[index])[1:7]:
            piece = list(tile)
            piece[index] *= count
            stages = tuple(
                type(s)(s.refinement, s.before, s.window + 1, s.order, s.space, s.fill)
                for s in nest.stages
            )
            for orders in {nest.orders, ()}:
                yield Nest((tuple(piece), tile), nest.lanes, orders, stages)


def _waits_for_memory(scored: Scored) -> bool:
    """Whether much of the time goes elsewhere than into arithmetic and edges."""
    parts = scored.estimate.breakdown
    rest = scored.seconds - parts["arithmetic"] - parts["edges"] - parts["launches"]
    return rest > _WORTH_BLOCKING * parts["arithmetic"]


def blocked(problem: Problem, nest: Nest, hardware: Hardware) -> Iterator[Nest]:
    """The nest in blocks for caches: of cells, and of the aggregating indices.

    A work-group computes a block of cells. For each block of the aggregating indices
    all its register tiles read the same part of the input that the vectors run along:
    in place, or copied into memory of its own.
    """
    vector, tile = problem.vector, nest.tile
    if vector is None or nest.lanes == 1 or problem.is_nested:
        return
    streams = [a for a in problem.inputs if vector in a.used and _may_copy(problem, a)]
    rows = [i for i in problem.parallel if i != vector and i not in problem.fixed]
    if len(streams) != 1 or not rows:
        return
    (access,) = streams
    row = max(rows, key=lambda index: problem.ranges[index])
    copy = replace(packing(problem, access, 2, vector), before=2, space=_LOCAL)
    orders = ((), (), (vector, row))
    seen: set[Nest] = set()
    for columns, height, depth in _BLOCKS:
        wide = _multiple(problem, vector, tile, columns)
        high = _multiple(problem, row, tile, height)
        deep = _depth(problem, depth)
        piece, inner, leaf = list(tile), list(tile), list(tile)
        for block in (piece, inner):
            block[vector], block[row] = wide, high
        for block in (inner, leaf):
            for index, size in deep.items():
                block[index] = size
        levels = (tuple(piece), tuple(inner), tuple(leaf))
        plain = Nest(levels, nest.lanes, orders)
        if plain in seen:
            continue
        seen.add(plain)
        if not problem.blocked[access.number]:
            yield plain
        if not _is_reused(problem, access):
            continue
        found = replace(plain, stages=(copy,))
        size = scratch_bytes(problem, found, copy, problem.ranges)
        if size <= hardware.local_memory_bytes:
            yield found


def _may_copy(problem: Problem, access: Access) -> bool:
    is_far = not (access.is_near or access.is_chosen)
    return is_far and not access.reaches_out(problem.ranges)


def _multiple(problem: Problem, index: int, tile: Sequence[int], wanted: int) -> int:
    """The multiple of a tile's size that divides the interior, near a wanted one."""
    count = problem.ranges[index] // tile[index]
    near = min(_divisors(count, count), key=lambda n: abs(n * tile[index] - wanted))
    return near * tile[index]


def _depth(problem: Problem, depth: int) -> dict[int, int]:
    """Blocks that divide the aggregating indices, the last of them first."""
    sizes: dict[int, int] = {}
    for index in sorted(problem.reductions, reverse=True):
        sizes[index] = max(_divisors(problem.ranges[index], depth))
        depth //= sizes[index]
    return sizes


def _divisors(number: int, most: int) -> list[int]:
    """The divisors of a number up to another, in order."""
    return [n for n in range(1, min(number, most) + 1) if number % n == 0]
