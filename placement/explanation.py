"""Where the parts of a program run and why, with what every alternative would cost.

`explain` makes a `PlacementExplanation` of a decision: printed, it is a table for
people; `as_json()` is the same for programs; `html()` is a page with pictures. Times
are in seconds, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..passes.clock import time_text
from ..targets.hardware.machine import HOST
from .explained import (
    Explained,
    ExplainedAlternative,
    ExplainedDevice,
    ExplainedTensor,
    ExplainedTime,
    ExplainedTransfer,
    ExplainedUnit,
)
from .memory import peaks
from .schedule import Simulator
from .times import UNSUPPORTED, UnitTime

if TYPE_CHECKING:
    from .build import Posed
    from .search import Candidate
    from .solve import Solution


class PlacementExplanation(Explained):
    """A decision and what it was made by; printed, tables for people."""

    def html(self, title: str = "Placement") -> str:
        """A page in one file, with pictures of the graph and of the schedule."""
        from .report.page import page

        return page(self, title)

    def svg(self) -> str:
        """The picture of the graph alone."""
        from .report.graph_picture import graph_picture

        return graph_picture(self, is_alone=True)

    def __str__(self) -> str:
        """Tables for people."""
        from .report.explanation_tables import render

        return render(self)


def explain(posed: Posed, solution: Solution) -> PlacementExplanation:
    """The explanation of a decision; simulates every unit's move to each device."""
    problem = posed.problem
    places = [*problem.devices, HOST]
    transfers = tuple(
        ExplainedTransfer(t.tensor, places[t.source], places[t.target], t.start, t.end)
        for t in solution.schedule.transfers
    )
    return PlacementExplanation(
        solution.schedule.seconds,
        solution.reason,
        _devices(posed, solution),
        tuple(_units(posed, solution)),
        tuple(
            ExplainedTensor(
                tensor.name,
                tensor.size_bytes,
                tensor.source,
                tensor.users,
                tuple(places[home] for home in tensor.homes),
                None if tensor.end is None else places[tensor.end],
                tensor.is_result,
                tensor.is_kept,
            )
            for tensor in problem.tensors
        ),
        transfers,
        _alternatives(posed, solution),
    )


def _devices(posed: Posed, solution: Solution) -> tuple[ExplainedDevice, ...]:
    problem = posed.problem
    held = peaks(problem, solution.chosen.placement, solution.chosen.order)
    found: list[ExplainedDevice] = []
    for number, device in enumerate(posed.machine.devices):
        runs = [run for run in solution.schedule.runs if run.device == number]
        found.append(
            ExplainedDevice(
                device.name,
                math.fsum(run.end - run.start for run in runs),
                len(runs),
                held[number].size_bytes,
                device.memory_bytes,
                device.load,
            )
        )
    return tuple(found)


def _units(posed: Posed, solution: Solution) -> list[ExplainedUnit]:
    problem = posed.problem
    names = problem.devices
    runs = {run.unit: run for run in solution.schedule.runs}
    arrivals: dict[tuple[int, int], float] = {
        (t.tensor, t.target): t.end - t.start for t in solution.schedule.transfers
    }
    mover = moves(posed, solution)
    found: list[ExplainedUnit] = []
    for number, unit in enumerate(posed.program.units):
        run = runs[number]
        copied = [t for t in problem.used[number] if (t, run.device) in arrivals]
        moved = {
            name: mover(number, device)
            for device, name in enumerate(names)
            if device != run.device
        }
        location = unit.location
        found.append(
            ExplainedUnit(
                unit.name,
                "" if location is None else f"{location.file}:{location.line}",
                tuple(
                    op.results[0].name_hint or op.name.partition(".")[2]
                    for op in unit.ops
                ),
                names[run.device],
                _reason(posed, solution, number, moved),
                posed.forced[number] is not None,
                {
                    name: _time(time)
                    for name, time in zip(names, posed.times[number], strict=True)
                },
                sum(problem.tensors[t].size_bytes for t in copied),
                math.fsum(arrivals[t, run.device] for t in copied),
                run.start,
                run.end,
                moved,
            )
        )
    return found


def _time(time: UnitTime) -> ExplainedTime:
    if time.source == UNSUPPORTED:
        return ExplainedTime(None, time.why, 1.0)
    return ExplainedTime(time.seconds, time.source, time.correction)


def moves(posed: Posed, solution: Solution) -> Callable[[int, int], float | None]:
    """What the whole takes when one unit is moved to a device; None where it cannot."""
    problem, chosen = posed.problem, solution.chosen
    simulator = Simulator(problem)

    def moved(unit: int, device: int) -> float | None:
        if not math.isfinite(problem.seconds[unit][device]):
            return None
        placement = list(chosen.placement)
        placement[unit] = device
        return simulator.seconds(placement, chosen.order)

    return moved


def unit_reasons(posed: Posed, solution: Solution) -> list[str]:
    """For each unit why it is where it is, in words."""
    mover = moves(posed, solution)
    problem, chosen = posed.problem, solution.chosen
    return [
        _reason(
            posed,
            solution,
            number,
            {
                name: mover(number, device)
                for device, name in enumerate(problem.devices)
                if device != chosen.placement[number]
            },
        )
        for number in range(problem.count)
    ]


def _reason(
    posed: Posed, solution: Solution, number: int, moved: dict[str, float | None]
) -> str:
    own = solution.chosen.placement[number]
    time = posed.times[number][own]
    here = f"{time_text(time.seconds)} here ({time.source})"
    if posed.forced[number] is not None:
        return f"forced; {here}"
    if not moved:
        return f"the only device; {here}"
    now = time_text(solution.chosen.seconds)
    parts = [here]
    for device, (name, row) in enumerate(
        zip(posed.problem.devices, posed.times[number], strict=True)
    ):
        if device == own:
            continue
        whole = moved[name]
        if whole is None:
            parts.append(f"not on {name}: {row.why}")
        else:
            parts.append(
                f"{time_text(row.seconds)} on {name} ({row.source}), where the whole "
                f"would take {time_text(whole)}, not {now}"
            )
    return "; ".join(parts)


def _alternatives(posed: Posed, solution: Solution) -> tuple[ExplainedAlternative, ...]:
    problem = posed.problem
    chosen = solution.chosen
    found: list[ExplainedAlternative] = []

    def add(name: str, one: Candidate | None) -> None:
        is_chosen = one is not None and one.placement == chosen.placement
        seconds = None if one is None else one.seconds
        found.append(ExplainedAlternative(name, seconds, is_chosen))

    for name, single in zip(problem.devices, solution.singles, strict=True):
        add(f"all on {name}", single)
    if len(problem.devices) > 1:
        add("least sum of all times", solution.cut)
    if not any(one.is_chosen for one in found):
        found.insert(0, ExplainedAlternative("as decided", chosen.seconds, True))
    return tuple(found)
