"""The figures behind a decision, in words."""

from __future__ import annotations

from dataclasses import replace

from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.staging import Staging
from .....targets.hardware.description import Hardware
from ....clock import time_text
from ...analysis.problem import Problem
from ..model.estimate import estimate
from .search import Scored


def explained(scored: Scored, problem: Problem, hardware: Hardware) -> Schedule:
    """A nest with the reasons for it, and for each copy what it would take without."""
    nest = scored.nest
    stages: list[Staging] = []
    for stage in nest.stages:
        others = tuple([each for each in nest.stages if each is not stage])
        without = estimate(problem, replace(nest, stages=others), hardware).seconds
        stages.append(replace(stage, reason=f"{time_text(without)} without it"))
    return replace(nest, stages=tuple(stages), reason=describe(scored, hardware))


def describe(scored: Scored, hardware: Hardware) -> str:
    """The predicted time, the parts that matter and what was left out, in words."""
    estimate = scored.estimate
    largest = sorted(estimate.breakdown.items(), key=lambda part: -part[1])
    shown = [
        f"{name} {time_text(seconds)}"
        for name, seconds in largest
        if seconds >= 0.02 * estimate.seconds
    ]
    used, registers = estimate.tile.registers, hardware.vector_registers
    return (
        f"{time_text(estimate.seconds)}: {', '.join(shown)}; "
        f"{used} of {registers} registers, limited by {estimate.tile.limit}"
        + (f"; {scored.remark}" if scored.remark else "")
    )
