"""Which axis of an output is computed last."""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects.stripe.block import BlockOp
from ....targets.hardware import Hardware
from ..analysis.problem import Problem
from ..analysis.varying import may_step
from ..edit.merge import may_merge

_LONG = 4
"""Of so many vectors what is left over of the last is little."""


def will_merge(block: BlockOp, problem: Problem) -> bool:
    """Whether `stripe-merge-indices` will make longer rows of the output."""
    fast = problem.vector
    others = range(len(problem.ranges))
    return fast is not None and any(
        slow != fast and may_merge(block, slow, fast) for slow in others
    )


def has_whole_vectors(problem: Problem) -> bool:
    """Whether vectors along the output as it is are as good as any."""
    index = problem.vector
    if index is None or problem.ranges[index] < _LONG * problem.lanes:
        return False
    is_constrained = any(index in form for form in problem.constrained)
    return not is_constrained and not any(
        problem.blocked[access.number] for access in problem.inputs
    )


def arithmetic_seconds(problem: Problem, hardware: Hardware) -> float:
    """The time of a block's operations if all were of whole vectors."""
    whole = problem.points * problem.operations / problem.lanes
    rate = hardware.multiply_adds_per_cycle * hardware.clock_gigahertz * 1e9
    return whole / rate / hardware.cores


def output_orders(block: BlockOp, problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the output's indices with another index of whole vectors last."""
    for last in problem.parallel:
        is_free = last != problem.vector and problem.ranges[last] >= problem.lanes
        is_constrained = any(last in form for form in problem.constrained)
        if is_free and not is_constrained and may_step(block, last):
            yield (*(n for n in problem.parallel if n != last), last)
