"""What staging costs: reading windows of an input and writing them in another order."""

from __future__ import annotations

from math import hypot, prod

from .....dialects.stripe.schedule import Schedule
from .....dialects.stripe.staging import Staging
from .....targets.hardware.description import Hardware
from ....clock import Clock
from ...analysis.nest import loops_of, scratch_bytes, sizes_inside, tile_window
from ...analysis.problem import Problem
from .traffic import Stream, level_cycles, traffic


def staging_seconds(
    problem: Problem, nest: Schedule, stage: Staging, hardware: Hardware
) -> float:
    """The time of all copies of a staging, which all cores share.

    A copy of a constant in front of the nest is made once for many calls.
    """
    if stage.before <= 0:
        if problem.accesses[stage.refinement].is_constant:
            return 0.0
        return _packing(problem, nest, stage, hardware)
    return _copying(problem, nest, stage, hardware)


def _packing(
    problem: Problem, nest: Schedule, stage: Staging, hardware: Hardware
) -> float:
    """One copy in front of the nest: read, written, and there at its start."""
    size = scratch_bytes(problem, nest, stage, problem.ranges)
    access = problem.accesses[stage.refinement]
    cycles = _moves(stage, size // access.element_bytes, problem, hardware)
    return _at_once(size, cycles, hardware)


def copy_seconds(problem: Problem, hardware: Hardware) -> float:
    """The time of a launch that copies the outputs and changes the order of axes."""
    seconds = Clock(hardware).launch
    for access in problem.outputs:
        elements = prod(access.sizes)
        cycles = (
            elements
            / hardware.overheads.transposed_elements
            * (1 / hardware.stores_per_cycle + 1.0)
        )
        seconds += _at_once(elements * access.element_bytes, cycles, hardware)
    return seconds


def _at_once(size: int, cycles: float, hardware: Hardware) -> float:
    """The time to copy so many bytes by so many cycles of work, on all cores."""
    clock = Clock(hardware)
    # Lines that are stored are read first, and all leave the nearer caches again.
    moving = clock.again(4 * size, 2 * size) / hardware.cores
    return max(moving, cycles * clock.cycle / hardware.cores)


def _moves(
    stage: Staging, elements: int, problem: Problem, hardware: Hardware
) -> float:
    """Cycles for the instructions that move elements into their places."""
    is_kept = not stage.order or stage.order[-1] == len(stage.order) - 1
    width = problem.lanes if is_kept else hardware.overheads.transposed_elements
    return elements / width * (1 / hardware.stores_per_cycle + 1.0)


def _copying(
    problem: Problem, nest: Schedule, stage: Staging, hardware: Hardware
) -> float:
    """Copies inside the nest, each into the same memory near the core."""
    access = problem.accesses[stage.refinement]
    loops = loops_of(problem, nest, problem.ranges)
    outer = [loop for loop in loops if loop.block < stage.before]
    inside = sizes_inside(nest, stage.before - 1, problem.ranges)
    window = tile_window(access, inside)
    cores = 1 if problem.is_nested else hardware.cores
    times = prod(loop.steps for loop in outer)
    strides = [access.strides[loop.index] * loop.size for loop in outer]
    strides += access.pitches
    steps = [*(loop.steps for loop in outer), *window]
    found = traffic(
        [Stream(access, strides, crossing=1.0)],
        steps,
        hardware,
        cores,
        len(steps),
        len(steps),
    )
    near, *beyond = (
        sum(waiting.values()) for _, waiting in level_cycles(found, hardware, cores)
    )
    elements = prod(window) * times
    moving = _moves(stage, elements, problem, hardware)
    runs = elements / window[stage.order[-1]]
    moving += hardware.overheads.copied_run_cycles * runs
    # What is near is waited for, vector by vector; what is far comes in meanwhile.
    cycles = hypot(near + moving, max(beyond, default=0.0))
    return cycles * Clock(hardware).cycle / cores
