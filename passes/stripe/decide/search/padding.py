"""Narrow rows: what a block takes when they are rounded up to whole vectors.

Rows of 3, 5 or 12 numbers are less than a vector of 16, and no vector of fewer lanes:
they take shorter ones, and what is left over numbers one by one. Where all inputs along
them are copied, the copies can have rows of 4, 8 or 16 numbers, and so can what is
accumulated in registers; `stripe-pad` and `stripe-round-up` see to it that only what
exists is stored.

    C[i, j] = +(A[i, k] * B[k, j]), j < 3
    tile [16, 4, 2560], stage input 1 at 0 of 0 order [0, 1] global, pad [0, 4, 0]

More is computed then, on the same vectors: the model says whether it pays.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.tiling import Padding
from .....targets.hardware.description import Hardware
from ...analysis.lanes import computes_with_floats
from ...analysis.nest import packing
from ...analysis.problem import Problem
from ...edit.split import may_grow
from ..model.estimate import Model
from .groups import may_stage
from .search import Scored, best, search

_TRIED = 4
"""The fastest nests of the longer rows, which get copies of their inputs."""


def best_of(block: BlockOp, problem: Problem, hardware: Hardware) -> Scored:
    """The fastest nest of a block, whole vectors of narrow rows among them."""
    found = best(problem, hardware)
    others = padded(block, problem, hardware)
    return min((found, *others[:1]), key=lambda scored: scored.seconds)


def padded(block: BlockOp, problem: Problem, hardware: Hardware) -> list[Scored]:
    """Nests with rows of whole vectors, the fastest first; none for other blocks."""
    index, size = problem.vector, _whole(problem)
    if index is None or size is None:
        return []
    if not computes_with_floats(block) or not may_grow(block, index, size):
        return []
    return _padded(replace(problem, name=""), hardware, index, size)


@lru_cache(maxsize=256)
def _padded(
    problem: Problem, hardware: Hardware, index: int, size: int
) -> list[Scored]:
    ranges = [*problem.ranges]
    ranges[index] = size
    whole = replace(problem, ranges=tuple(ranges))
    model = Model(whole, hardware)
    padding = Padding(tuple(size * (n == index) for n in range(problem.rank)))
    found: list[Scored] = []
    for scored in search(whole, hardware)[:_TRIED]:
        nest = _with_copies(whole, scored.nest, index)
        found.append(Scored(nest.with_part(padding), model.estimate(nest)))
    return sorted(found, key=lambda scored: scored.seconds)


def _with_copies(problem: Problem, nest: Schedule, index: int) -> Schedule:
    """A nest in which all inputs along the rows are copied."""
    window = len(nest.levels) - 1
    missing = [
        packing(problem, access, window, index)
        for access in problem.inputs
        if access.uses(index) and access.number not in nest.staged
    ]
    return replace(nest, stages=(*nest.stages, *missing))


def _whole(problem: Problem) -> int | None:
    """The lanes that rows become; None where they fill some, or are not copied."""
    index, lanes = problem.vector, problem.lanes
    if index is None or index in problem.fixed or problem.is_nested:
        return None
    if any(index in form for form in problem.constrained):
        return None
    extent = problem.ranges[index]
    while lanes >= 2 * extent:
        lanes //= 2
    if extent >= lanes:
        return None
    along = [access for access in problem.inputs if access.uses(index)]
    if not all(may_stage(problem, access) for access in along):
        return None
    return lanes
