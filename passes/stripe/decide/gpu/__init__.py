"""Decisions for GPUs: which work-groups, sub-groups and lanes have which points.

`decision` gives the schedule of a block with its bindings, what is staged in local
memory, and what a work-item has in registers. `streams` has blocks in which nothing
aggregates, `contractions` those that use each input number for many cells.
"""

from __future__ import annotations

from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.schedule import Schedule
from .....targets.hardware.description import Hardware
from ...analysis.problem import Problem
from . import contractions, streams


def decision(block: BlockOp, problem: Problem, hardware: Hardware) -> Schedule | None:
    """The schedule of a block; None where it is left to the search for vectors."""
    decided = streams.decision(block, problem, hardware)
    if decided is None:
        decided = contractions.decision(block, problem, hardware)
    return decided
