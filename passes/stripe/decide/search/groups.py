"""Work-groups of several register tiles: pieces, blocks for caches, their own copies.

What many tiles of a work-group use alike may be copied by each of them for itself, into
local memory, instead of once for all before: that takes no further launch, and the
copy is in the core's cache when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from .....dialects.stripe.attributes import MemorySpace
from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from ....reuse import is_reused
from ...analysis.nest import packing, scratch_bytes, tile_window
from ...analysis.problem import Access, Problem

_FEW = 5
"""Tiles that one work-group may compute, up to so many."""
PARTS = (1, 2, 4)
"""Work-groups that may share a range, each with more tiles."""
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
    return is_reused(problem.points, elements)


def pieces_of(problem: Problem, nest: Schedule) -> Iterator[Schedule]:
    """The nest with several register tiles in a work-group."""
    tile = nest.tile
    stages = tuple(replace(stage, window=stage.window + 1) for stage in nest.stages)
    for index in problem.parallel:
        if index in problem.fixed:
            continue
        for size in _piece_sizes(problem.ranges[index], tile[index]):
            piece = list(tile)
            piece[index] = size
            for order in dict.fromkeys([nest.orders[0], ()]):
                sizes = (tuple(piece), tile)
                yield Schedule.of(sizes, (order,), stages)


def locally_staged_pieces(
    problem: Problem, nest: Schedule, hardware: Hardware, parts: Sequence[int] = PARTS
) -> Iterator[Schedule]:
    """Pieces that copy for themselves what all their tiles use, if there is room.

    Each is a whole range, or as many parts of it as `parts` say.
    """
    for index in problem.parallel:
        if index in problem.fixed or nest.tile[index] >= problem.ranges[index]:
            continue
        for size in _part_sizes(problem.ranges[index], nest.tile[index], parts):
            yield from _with_local_copies(problem, nest, index, size, hardware)


def _with_local_copies(
    problem: Problem, nest: Schedule, index: int, size: int, hardware: Hardware
) -> Iterator[Schedule]:
    """A piece along an index that copies for itself what the index does not move.

    What else is copied is copied before.
    """
    if problem.is_nested or problem.lanes_of(nest.tile) == 1:
        return
    stages = nest.stages or tuple(
        packing(problem, access, 0, problem.vector)
        for access in problem.inputs
        if problem.vector in access.used and may_stage(problem, access)
    )
    own = [s for s in stages if not problem.accesses[s.refinement].uses(index)]
    if not own or not all(
        _may_copy(problem, problem.accesses[s.refinement]) for s in own
    ):
        return
    piece = list(nest.tile)
    piece[index] = size
    staged = tuple(
        replace(stage, before=1, window=1, space=_LOCAL)
        if stage in own
        else replace(stage, window=1)
        for stage in stages
    )
    found = Schedule.of((tuple(piece), nest.tile), stages=staged)
    room = sum(
        scratch_bytes(problem, found, stage, problem.ranges)
        for stage in staged
        if stage.space is _LOCAL
    )
    if room <= hardware.local_memory_bytes:
        yield found


def _piece_sizes(extent: int, size: int) -> list[int]:
    """A few tiles, or an even part of all of them, up to the whole range."""
    few = range(2, min(_FEW, -(-extent // size)) + 1)
    sizes = {min(count * size, extent) for count in few}
    return sorted(sizes.union(_part_sizes(extent, size, PARTS)))


def _part_sizes(extent: int, size: int, parts: Sequence[int]) -> list[int]:
    """The sizes in whole tiles, more than one, that cut a range evenly."""
    tiles = -(-extent // size)
    counts = {-(-tiles // number) for number in parts} - {1}
    return sorted(min(count * size, extent) for count in counts)


def blocked(problem: Problem, nest: Schedule, hardware: Hardware) -> Iterator[Schedule]:
    """The nest in blocks for caches: of cells, and of the aggregating indices.

    A work-group computes a block of cells. For each block of the aggregating indices
    all its register tiles read the same part of the input that the vectors run along:
    in place, or copied into memory of its own.
    """
    vector = problem.vector
    if vector is None or problem.lanes_of(nest.tile) == 1 or problem.is_nested:
        return
    streams = [a for a in problem.inputs if vector in a.used and _may_copy(problem, a)]
    rows = [i for i in problem.parallel if i != vector and i not in problem.fixed]
    if len(streams) != 1 or not rows:
        return
    (access,) = streams
    row = max(rows, key=lambda index: problem.ranges[index])
    copy = replace(packing(problem, access, 2, vector), before=2, space=_LOCAL)
    for plain in _in_blocks(problem, nest, vector, row):
        if not problem.blocked[access.number]:
            yield plain
        if not _is_reused(problem, access):
            continue
        found = replace(plain, stages=(copy,))
        size = scratch_bytes(problem, found, copy, problem.ranges)
        if size <= hardware.local_memory_bytes:
            yield found


def _in_blocks(
    problem: Problem, nest: Schedule, vector: int, row: int
) -> Iterator[Schedule]:
    """The nest in blocks of different sizes, each once, with nothing copied."""
    tile, orders = nest.tile, ((), (), (vector, row))
    seen: set[Schedule] = set()
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
        plain = Schedule.of(levels, orders)
        if plain not in seen:
            seen.add(plain)
            yield plain


def _may_copy(problem: Problem, access: Access) -> bool:
    is_far = not (access.is_near or access.is_chosen)
    return is_far and not access.reaches_out(problem.ranges)


def _multiple(problem: Problem, index: int, tile: Sequence[int], wanted: int) -> int:
    """Tiles that are an even part of the range, near a wanted size."""
    extent = problem.ranges[index]
    tiles = -(-extent // tile[index])
    count = -(-tiles // max(round(extent / wanted), 1))
    return min(count * tile[index], extent)


def _depth(problem: Problem, depth: int) -> dict[int, int]:
    """Blocks that divide the aggregating indices, the last of them first."""
    sizes: dict[int, int] = {}
    for index in sorted(problem.reductions, reverse=True):
        sizes[index] = _largest_divisor(problem.ranges[index], depth)
        depth //= sizes[index]
    return sizes


def _largest_divisor(number: int, most: int) -> int:
    """The largest divisor of a number up to another."""
    return next(n for n in range(min(number, most), 0, -1) if number % n == 0)
