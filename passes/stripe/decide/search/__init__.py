"""The cost model: predicts the time of nests from index structure and hardware alone.

`candidates` lists the nests of a block that the search looks at, the fastest first,
each with its predicted time, its parts and the schedule that makes the passes build it.
docs/cost-model.md has the formulas.
"""

from __future__ import annotations

from dataclasses import replace

from .....dialects.stripe.block import BlockOp
from .....targets.hardware.description import Hardware
from ...analysis.problem import problem_of
from ..candidate import Candidate
from .describe import describe, explained
from .padding import best_of, padded
from .search import best, best_to_share, search
from .spread import spread

__all__ = [
    "best",
    "best_of",
    "best_to_share",
    "candidates",
    "describe",
    "explained",
    "problem_of",
    "search",
]


def candidates(
    block: BlockOp, hardware: Hardware, count: int, *, spread_out: bool = False
) -> list[Candidate]:
    """The best nests for a block without blocks inside, the fastest first.

    With `spread_out` they are `count` nests all over the space instead, good and bad.
    Empty for blocks that the model does not decide: serial ones, those without points,
    and those that no index aggregates in.
    """
    if block.is_serial or not all(block.index_ranges):
        return []
    problem = problem_of(block, hardware.vector_bits)
    if not problem.aggregates or problem.uncut:
        return []
    if spread_out:
        scored = spread(problem, hardware, count)
    else:
        found = [*search(problem, hardware), *padded(block, problem, hardware)]
        scored = sorted(found, key=lambda one: one.seconds)[:count]
    return [
        Candidate(one.estimate, replace(one.nest, reason=describe(one, hardware)))
        for one in scored
    ]
