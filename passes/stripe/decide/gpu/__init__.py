"""Decisions for GPUs: which work-groups, sub-groups and lanes have which points.

`decision` gives the schedule of a block with its bindings, what is staged in local
memory, and what a work-item has in registers. `contractions` has blocks that use each
input number for many cells, `streams` all others, but for those that such a block
computes at its end, of what it has in registers. `nest_decision` is for blocks with
blocks inside: work-items share these, as `serial_nests` says, or each has some of its
points, as `points` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.fusion import Epilogue
from .....dialects.stripe.schedule import Schedule, schedule_of
from .....targets.hardware.description import Hardware
from ...analysis.epilogues import ending_of
from ...analysis.problem import Problem, problem_of
from ..candidate import Candidate, evenly
from . import contractions, points, streams
from .epilogues import collects_in_registers
from .serial_nests import nest_around, shared_inside

_AT_THE_END = Schedule(
    parts=(Epilogue(),), reason="what it reads is in registers of work-items"
)


def decision(block: BlockOp, problem: Problem, hardware: Hardware) -> Schedule | None:
    """The schedule of a block; None where it is left to the search for vectors."""
    if problem.is_nested:
        inside = shared_inside(nest_around(block), hardware)
        return inside.get(block)
    if _is_epilogue(block, hardware):
        return _AT_THE_END
    found = next(_ways(block, problem, hardware), None)
    return None if found is None else found.schedule


def _is_epilogue(block: BlockOp, hardware: Hardware) -> bool:
    """Whether work-items have what a block reads in registers, each cell once."""
    ending = ending_of(block)
    if ending is None:
        return False
    producer = ending.producer
    problem, schedule = (
        problem_of(producer, hardware.vector_bits),
        schedule_of(producer),
    )
    if not schedule:
        schedule = decision(producer, problem, hardware) or schedule
    return collects_in_registers(problem, schedule)


def _ways(
    block: BlockOp, problem: Problem, hardware: Hardware, *, slow: bool = False
) -> Iterator[Candidate]:
    """The ways to share a block, the fastest first: one input for many cells or not.

    With `slow` there are more that can hardly be the fastest.
    """
    found = contractions.candidates(block, problem, hardware)
    first = next(found, None)
    if first is None:
        return streams.candidates(block, problem, hardware, slow=slow)
    return chain([first], found)


def nest_decision(block: BlockOp, hardware: Hardware) -> Schedule:
    """The schedule of a top-level block with blocks inside; empty where it has one."""
    if shared_inside(block, hardware):
        return Schedule()
    return points.decision(block, hardware)


def candidates(
    block: BlockOp, hardware: Hardware, count: int, *, spread_out: bool = False
) -> list[Candidate]:
    """The best ways to share a block without blocks inside, the fastest first.

    With `spread_out` they are `count` all over the space instead, good and bad.
    """
    if block.is_serial or not all(block.index_ranges):
        return []
    problem = problem_of(block, hardware.vector_bits)
    found = [*_ways(block, problem, hardware, slow=spread_out)]
    return evenly(found, count) if spread_out else found[:count]
