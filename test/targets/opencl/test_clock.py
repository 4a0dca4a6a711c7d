"""The clock of a queue: what it makes of markers, also of those that tell little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pyopencl as cl
import pytest

from gingham.targets.opencl import clock as module
from gingham.targets.opencl.clock import QueueClock


@dataclass
class Machine:
    """A host and a device whose clock began `ahead` later and runs at another rate."""

    monkeypatch: pytest.MonkeyPatch
    ahead: int = 10**9
    rate: float = 1.0
    now: int = 5 * 10**9
    delays: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))
    """How long the next markers wait until they begin, and are waited for too long."""

    def __post_init__(self) -> None:
        self.monkeypatch.setattr(cl, "enqueue_marker", self.mark)
        self.monkeypatch.setattr(module, "perf_counter_ns", lambda: self.now)

    def of_device(self) -> int:
        return round((self.now - self.ahead) * self.rate)

    def mark(self, queue: object) -> Any:
        before, after = next(self.delays, (0, 0))
        queued = self.of_device()
        self.now += 10_000 + before
        time = self.of_device()
        self.now += 10_000

        def wait() -> None:
            self.now += after

        profile = SimpleNamespace(queued=queued, start=time, end=time)
        return SimpleNamespace(profile=profile, wait=wait)

    def calibrate(self, clock: QueueClock) -> None:
        queue: Any = SimpleNamespace(handle=None)
        clock.calibrate(queue)


def test_times_of_the_device_are_times_of_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, clock = Machine(monkeypatch), QueueClock()
    machine.calibrate(clock)
    assert abs(clock.host(machine.of_device()) - machine.now) <= 20_000


def test_clocks_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, clock = Machine(monkeypatch, rate=1.0001), QueueClock()
    machine.calibrate(clock)
    machine.now += 60 * 10**9
    late = machine.of_device()
    machine.calibrate(clock)
    assert abs(clock.host(late) - machine.now) <= 10**6


@pytest.mark.parametrize("delays", [(0, 10**7), (10**7, 0), (10**7, 10**7)])
def test_a_busy_machine_turns_nothing_round(
    delays: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markers that say little, before and after and in the midst of commands."""
    for first, second in ((True, False), (False, True), (True, True)):
        machine, clock = Machine(monkeypatch), QueueClock()
        machine.delays = iter([delays] * 12 if first else [])
        machine.calibrate(clock)
        machine.delays = iter([])
        told: list[int] = []
        for number in range(20):
            told.append(clock.host(machine.of_device()))
            machine.now += 2000
            if number == 10:
                machine.delays = iter([delays] * 12 if second else [])
                machine.calibrate(clock)
        lengths = [after - before for before, after in pairwise(told)]
        del lengths[10]
        assert all(1990 <= length <= 2010 for length in lengths)
        assert told == sorted(told)
        assert abs(told[-1] - machine.now) <= 2 * 10**7
