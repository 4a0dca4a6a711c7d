"""Nests all over the space, good and bad ones, to compare the model with measurements.

The sample is the same at every run. Many more nests are drawn at random than are asked
for, with narrow vectors and few accumulators among them, and what the search looks at
itself; from those come such that their predicted times are spread evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random

from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from ...analysis.nest import packing
from ...analysis.problem import Problem
from ..candidate import evenly
from ..model.estimate import Model
from ..model.kernel import cells_of
from .groups import may_stage
from .search import Scored, register_tiles, search

_DRAWN = 6
"""Nests that are drawn for each that is taken."""
_TRIES = 400
_FEW_ACCUMULATORS = 6
_MANY_ACCUMULATORS = 1.5
"""Tiles of more accumulators than registers, times this, are left out."""
_NARROW = 0.25
"""The part of the nests that have vectors of few lanes or none."""


def spread(problem: Problem, hardware: Hardware, count: int) -> list[Scored]:
    """Up to `count` different nests with their predicted times, the fastest first."""
    random = Random(0)
    model = Model(problem, hardware)
    ranges, aggregating = problem.ranges, problem.reductions
    nests = {one.nest: one for one in search(problem, hardware)}
    for nest in _drawn(problem, hardware, _DRAWN * count, random):
        nests[nest] = Scored(nest, model.estimate(nest))
    scored = {n.normalized(ranges, aggregating): one for n, one in nests.items()}
    return evenly(scored.values(), count)


def _drawn(
    problem: Problem, hardware: Hardware, count: int, random: Random
) -> list[Schedule]:
    """Different nests, drawn at random."""
    tiles = list(register_tiles(problem, hardware))
    found: dict[Schedule, None] = {}
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        tile = random.choice(tiles)
        if problem.vector is not None and random.random() < _NARROW:
            tile = _narrowed(tile, problem.vector, random)
        if _is_likely(problem, hardware, tile, random):
            found[_nest(problem, tile, random)] = None
    return list(found)


def _narrowed(tile: tuple[int, ...], vector: int, random: Random) -> tuple[int, ...]:
    """A tile with vectors of a few lanes, or none."""
    sizes = list(tile)
    sizes[vector] = min(random.choice((1, 2, 4)), tile[vector])
    return tuple(sizes)


def _is_likely(
    problem: Problem, hardware: Hardware, tile: Sequence[int], random: Random
) -> bool:
    lanes = problem.lanes_of(tile)
    accumulators = cells_of(tile, problem.parallel) / lanes
    if accumulators > _MANY_ACCUMULATORS * hardware.vector_registers:
        return False
    is_plain = accumulators < _FEW_ACCUMULATORS or lanes < problem.lanes
    return not is_plain or random.random() < 0.25


def _nest(problem: Problem, tile: tuple[int, ...], random: Random) -> Schedule:
    counts = [-(-n // size) for n, size in zip(problem.ranges, tile, strict=True)]
    several = [index for index in problem.parallel if counts[index] > 1]
    levels = (tile,)
    piece = _piece(problem, tile, several, random)
    if piece != tile and random.random() < 0.4:
        levels = (piece, tile)
    orders: tuple[tuple[int, ...], ...] = ()
    if len(several) > 1 and random.random() < 0.6:
        orders = (tuple(random.sample(several, len(several))),)
    vector = problem.vector if problem.lanes_of(tile) > 1 else None
    stages = tuple(
        packing(problem, access, len(levels) - 1, vector)
        for access in problem.inputs
        if may_stage(problem, access) and random.random() < 0.4
    )
    return Schedule.of(levels, orders, stages)


def _piece(
    problem: Problem, tile: tuple[int, ...], several: Sequence[int], random: Random
) -> tuple[int, ...]:
    """Several tiles along some of the indices, but never all there are."""
    piece = list(tile)
    for index in several:
        tiles = problem.ranges[index] // tile[index]
        divisors = [n for n in range(1, tiles + 1) if tiles % n == 0]
        if index not in problem.fixed and random.random() < 0.6:
            piece[index] *= random.choice(divisors)
    pairs = zip(problem.ranges, piece, strict=True)
    groups = prod(-(-extent // size) for extent, size in pairs)
    return tuple(piece) if groups > 1 else tile
