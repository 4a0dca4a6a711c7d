"""How long the device's compiler takes for the code of a register tile."""

from __future__ import annotations

from collections.abc import Sequence

from .....targets.hardware.overheads import Overheads
from ...analysis.problem import Problem
from .estimate import leaves
from .kernel import cells_of

MOST_SECONDS = 0.3
"""Tiles whose code takes longer are for blocks only that have no others."""


def build_seconds(
    problem: Problem,
    tile: Sequence[int],
    lanes: int,
    parts: int,
    overheads: Overheads,
) -> float:
    """Seconds until the leaves of a register tile are machine code, about.

    Every leaf has all its updates written out, and all loops around them. There are
    leaves for each of the `parts` that edges are split off to, and for borders.
    """
    updates = cells_of(tile, problem.parallel) / lanes * len(problem.outputs)
    loops = 1 + sum(problem.ranges[index] > 1 for index in problem.reductions)
    each = updates * overheads.leaf_build_milliseconds
    each += loops * overheads.loop_build_milliseconds
    return leaves(problem, tile, parts) * each * 1e-3
