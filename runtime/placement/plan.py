"""From a program and devices to what is run: decided, cut, and in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ...placement.build import Residency
from ...placement.decide import Decision, decide, task_graph_of
from ...targets.hardware.machine import HOST
from .machine import this_machine
from .rival import GAIN
from .segments import Segments, force_all, forced_devices, split

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ...targets.hardware.machine import Machine
    from ..device import Device


@dataclass(frozen=True)
class Plan:
    """How a program runs on several devices."""

    module: ModuleOp
    """With a device on each operation."""
    decision: Decision
    segments: Segments
    order: tuple[int, ...]
    """The segments in the order in which they are started."""

    @property
    def only_device(self) -> str | None:
        """The one device that runs everything in one go, if it is so."""
        names = {segment.device for segment in self.segments.segments}
        return names.pop() if len(self.segments.segments) == 1 else None


@dataclass(frozen=True)
class Request:
    """What is to be placed: `inputs` and `places` are devices by names of tensors."""

    devices: Sequence[Device]
    inputs: Mapping[str, tuple[str, ...]]
    """Where inputs are."""
    results: Sequence[str]
    """Where each result has to be: a device, the host or anywhere."""
    places: Mapping[str, str]
    """What the user wants where."""


def make_plan(
    module: ModuleOp, request: Request, machine: Machine, only: str | None = None
) -> Plan:
    """Decide where each operation of a flattened module runs, and cut it.

    The module gets the attributes. With `only`, what is not forced elsewhere is on that
    device. Raises GinghamError where no placement is possible.
    """
    forced_devices(module, request.places)
    if only is not None:
        force_all(module, only)
    program = task_graph_of(module)
    results = dict(zip(program.result_names, request.results, strict=True))
    residency = Residency(request.inputs, results)
    decision = decide(program, machine, residency, GAIN)
    decision.write()
    times = _UnitTimes(decision)
    segments = split(module, request.devices[0].name, times.seconds)
    in_place = [device.name for device in request.devices if _is_in_place(device)]
    order = in_place_first(segments, _order(segments, times), in_place)
    return Plan(module, decision, segments, order)


def _is_in_place(device: Device) -> bool:
    """Whether a device works on the host's memory, so that starting it is quick."""
    return device.properties.get("host_unified_memory", True) is True


def in_place_first(
    segments: Segments, order: Sequence[int], in_place: Sequence[str]
) -> tuple[int, ...]:
    """An order with the segments of these devices as early as they can be started.

    Drivers copy inputs to other devices while they are called, in which time the
    devices that need none should work. The order on each device stays.
    """
    waiting: dict[str, deque[int]] = {name: deque() for name in in_place}
    for number in order:
        waiting.setdefault(segments.segments[number].device, deque()).append(number)
    found: dict[int, None] = {}
    while len(found) < len(order):
        ready = (
            queue
            for queue in waiting.values()
            if queue and all(n in found for n in segments.segments[queue[0]].needs)
        )
        found[next(ready).popleft()] = None
    return tuple(found)


def machine_for(module: ModuleOp, devices: Sequence[Device]) -> Machine:
    """This machine, with what is known of the times of the module's units."""
    return this_machine(devices, {unit.key for unit in task_graph_of(module).units})


class _UnitTimes:
    """When operations start, and how long they take, as decided."""

    def __init__(self, decision: Decision) -> None:
        self._share: dict[Operation, float] = {}
        self.start: dict[Operation, float] = {}
        problem = decision.posed.problem
        units = decision.posed.program.units
        for run in decision.solution.schedule.runs:
            ops = units[run.unit].ops
            seconds = problem.seconds[run.unit][run.device]
            for op in ops:
                self._share[op] = seconds / len(ops)
                self.start[op] = run.start

    def seconds(self, operations: Sequence[Operation]) -> float:
        """How long operations take; those of a unit equally long."""
        return sum(self._share.get(op, 0.0) for op in operations)


def _order(segments: Segments, times: _UnitTimes) -> tuple[int, ...]:
    """The segments as planned, each behind those it needs."""
    all_of_them = segments.segments
    starts = [
        min((times.start.get(op, 0.0) for op in segment.operations), default=0.0)
        for segment in all_of_them
    ]
    missing = [len(segment.needs) for segment in all_of_them]
    users: list[list[int]] = [[] for _ in all_of_them]
    for number, segment in enumerate(all_of_them):
        for needed in segment.needs:
            users[needed].append(number)
    ready: list[tuple[float, int]] = []
    for number, count in enumerate(missing):
        if count == 0:
            heappush(ready, (starts[number], number))
    order: list[int] = []
    while ready:
        _, number = heappop(ready)
        order.append(number)
        for user in users[number]:
            missing[user] -= 1
            if missing[user] == 0:
                heappush(ready, (starts[user], user))
    return tuple(order)


def places_of(device: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Where data is, as placement calls it: a device that takes part, or the host."""
    return (device,) if device in known and device is not None else (HOST,)
