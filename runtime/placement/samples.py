"""What the segments of a plan take in real runs, and the times that follow from it.

The second, fourth and eighth run of a plan is looked at, where the caller waits for the
results anyway, and every run that is profiled anyway. What a segment took at best is
divided among its units in proportion to what these were believed to take. So the times
of units get right with use, for this program and for others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from ...placement.times import MEASURED
from .. import load
from ..hardware import hardware_of
from ..profiling.watcher import watcher
from .database import database
from .links import device_text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ...targets.backend import Executable
    from ..device import Device
    from ..profiling.records import Command, Span
    from .plan import Plan

T = TypeVar("T")

SAMPLED = (2, 4, 8)
"""The runs that are looked at, counted from 1: the first has other things to do."""
_ENOUGH = 2
"""So many have to agree on what is possible."""
_MOST_PENDING = 8
"""Runs that have not ended, or never will."""
CLOSE = 1.1
"""Times that differ by less are the same."""


class _SegmentListener:
    """A listener to one segment in one run."""

    wants_passes = False

    def __init__(self, launch: float, count: int) -> None:
        """`count` are the commands of a run: launches, or one interpretation."""
        self._launch = launch
        self._count = count
        self._seconds: list[float] = []

    @property
    def seconds(self) -> float | None:
        """What it took on its device; None while that is not known."""
        return sum(self._seconds) if len(self._seconds) == self._count else None

    def command(self, command: Command) -> None:
        """Note a kernel; copies are counted apart."""
        if command.kind == "kernel":
            self._seconds.append(command.seconds + self._launch)

    def span(self, span: Span) -> None:
        """Note a run of the interpreter."""
        if span.name == "interpret":
            self._seconds.append(span.seconds)

    def stage(self, name: str, module: ModuleOp) -> None:
        """Do nothing: nothing is compiled."""

    def after_pass(self, name: str, seconds: float, module: ModuleOp) -> None:
        """Do nothing: nothing is compiled."""

    def source(self, text: str, language: str) -> None:
        """Do nothing: nothing is compiled."""


class Sample:
    """One run that is looked at."""

    def __init__(self, parts: Sequence[_SegmentListener]) -> None:
        self._parts = parts

    @contextmanager
    def part(self, number: int) -> Generator[None]:
        """Look at what this thread starts: a segment, in the order of the plan."""
        with watcher.heard_by(self._parts[number]):
            yield

    @property
    def seconds(self) -> list[float] | None:
        """What each segment took; None while some of it is not known."""
        found = [part.seconds for part in self._parts]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None


class Sampler:
    """Looks at some runs of a plan; may be used from several threads."""

    def __init__(
        self, plan: Plan, devices: Sequence[Device], runners: Sequence[Executable]
    ) -> None:
        """`runners` are those of the segments, in the order of the plan."""
        self.plan = plan
        by_name = {device.name: device for device in devices}
        segments = [plan.segments.segments[number] for number in plan.order]
        self._operations = [segment.operations for segment in segments]
        self._devices = [by_name[segment.device] for segment in segments]
        self._runners = list(runners)
        self._lock = Lock()
        self._calls = 0
        self._samples = 0
        self._best = [math.inf] * len(segments)
        self._pending: list[Sample] = []

    def run(
        self, is_waited_for: bool, action: Callable[[Sample | None], T]
    ) -> tuple[bool, T]:
        """Whether a run is looked at, and its result; it is given who is told."""
        with self._lock:
            self._calls += 1
            is_due = is_waited_for and self._calls in SAMPLED
        is_profiled = watcher.is_listened_to
        if not (is_due or is_profiled):
            return False, action(None)
        sample = self._new_sample()
        try:
            result = action(sample)
        finally:
            watcher.rest()
        with self._lock:
            self._pending = [*self._pending[1 - _MOST_PENDING :], sample]
        return True, result

    @property
    def is_over(self) -> bool:
        """Whether it has looked at all runs that it looks at of its own accord."""
        return self._calls >= SAMPLED[-1] and not self._pending

    @property
    def has_news(self) -> bool:
        """Whether `correct` may know more than before."""
        return bool(self._pending)

    def _new_sample(self) -> Sample:
        parts: list[_SegmentListener] = []
        for device, runner in zip(self._devices, self._runners, strict=True):
            launch = hardware_of(device).launch_microseconds * 1e-6
            parts.append(_SegmentListener(launch, runner.launch_count))
        return Sample(parts)

    def correct(self) -> bool:
        """Keep the times that follow from what is known now.

        Whether they differ so much that the plan may be another.
        """
        with self._lock:
            ended = [s for s in self._pending if s.seconds is not None]
            if not ended:
                return False
            self._pending = []
            for sample in ended:
                pairs = zip(self._best, sample.seconds or (), strict=True)
                self._best = [min(a, b) for a, b in pairs]
            self._samples += len(ended)
            if self._samples < _ENOUGH:
                return False
            best = [*self._best]
        found = corrected_times(self.plan, self._operations, best)
        loads = {device.name: load.load_of_now(device) for device in self._devices}
        is_other = False
        for device in {device.name: device for device in self._devices}.values():
            known = _believed(self.plan, device.name)
            times = {
                key: seconds
                for key, seconds in found.get(device.name, {}).items()
                if not known[key][1] or not _is_close(seconds, known[key][0])
            }
            is_other |= any(not _is_close(times[key], known[key][0]) for key in times)
            if times:
                lasting = load.is_calm(loads[device.name])
                database().add_times(device_text(device), times, self._samples, lasting)
        return is_other


def _is_close(first: float, second: float) -> bool:
    return first < CLOSE * second and second < CLOSE * first


def _believed(plan: Plan, device: str) -> dict[str, tuple[float, bool]]:
    """What units take on a device that nothing else uses, and if it was measured."""
    posed = plan.decision.posed
    number = posed.problem.devices.index(device)
    free = 1 - posed.machine.devices[number].load
    return {
        unit.key: (times[number].seconds * free, times[number].source == MEASURED)
        for unit, times in zip(posed.program.units, posed.times, strict=True)
    }


def corrected_times(
    plan: Plan, segments: Sequence[Sequence[Operation]], seconds: Sequence[float]
) -> dict[str, dict[str, float]]:
    """The seconds of units, by device and key, from those that segments took.

    `segments` are their operations. Each part of a unit takes the same share of its
    segment's time as before; equal units on a device take as long.
    """
    decision = plan.decision
    units = decision.posed.program.units
    believed = {name: _believed(plan, name) for name in {*decision.devices}}
    share: dict[Operation, float] = {}
    for unit, device in zip(units, decision.devices, strict=True):
        in_all = believed[device][unit.key][0]
        share |= dict.fromkeys(unit.ops, in_all / len(unit.ops))
    scale: dict[Operation, float] = {}
    for operations, took in zip(segments, seconds, strict=True):
        expected = sum(share.get(op, 0.0) for op in operations)
        if expected > 0 and took > 0:
            scale |= dict.fromkeys(operations, took / expected)
    found: dict[str, dict[str, list[float]]] = {}
    for unit, device in zip(units, decision.devices, strict=True):
        if any(op in scale for op in unit.ops):
            own = sum(share[op] * scale.get(op, 1.0) for op in unit.ops)
            found.setdefault(device, {}).setdefault(unit.key, []).append(own)
    return {
        device: {key: sum(each) / len(each) for key, each in times.items()}
        for device, times in found.items()
    }
