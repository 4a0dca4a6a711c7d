"""Nests all over the space, good and bad ones, to compare the model with measurements.

The sample is the same at every run. It holds more nests that a person would think of
than pure chance would: full vectors, several accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from random import Random

from ....targets.hardware.description import Hardware
from .kernel import cells_of
from .nest import Nest, packing
from .problem import Problem
from .search import may_stage, register_tiles

_TRIES = 400
_FEW_ACCUMULATORS = 6
_MANY_ACCUMULATORS = 1.5
"""Tiles of more accumulators than registers, times this, are left out."""


def spread(problem: Problem, hardware: Hardware, count: int) -> list[Nest]:
    """Up to `count` different nests, drawn at random with a fixed seed."""
    random = Random(0)
    tiles = list(register_tiles(problem, hardware))
    found: dict[Nest, None] = {}
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        tile, lanes = random.choice(tiles)
        if _is_likely(problem, hardware, tile, lanes, random):
            found[_nest(problem, tile, lanes, random)] = None
    return list(found)


def _is_likely(
    problem: Problem,
    hardware: Hardware,
    tile: Sequence[int],
    lanes: int,
    random: Random,
) -> bool:
    accumulators = cells_of(tile, problem.parallel) / lanes
    if accumulators > _MANY_ACCUMULATORS * hardware.vector_registers:
        return False
    is_plain = accumulators < _FEW_ACCUMULATORS or lanes < problem.lanes
    return not is_plain or random.random() < 0.25


def _nest(problem: Problem, tile: tuple[int, ...], lanes: int, random: Random) -> Nest:
    counts = [-(-n // size) for n, size in zip(problem.ranges, tile, strict=True)]
    several = [index for index in problem.parallel if counts[index] > 1]
    levels = (tile,)
    piece = _piece(problem, tile, several, random)
    if piece != tile and random.random() < 0.4:
        levels = (piece, tile)
    orders: tuple[tuple[int, ...], ...] = ()
    if len(several) > 1 and random.random() < 0.6:
        orders = (tuple(random.sample(several, len(several))),)
    vector = problem.vector if lanes > 1 else None
    stages = tuple(
        packing(problem, access, len(levels) - 1, vector)
        for access in problem.inputs
        if may_stage(problem, access) and random.random() < 0.4
    )
    return replace(Nest(levels, lanes), orders=orders, stages=stages)


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
