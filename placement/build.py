"""From a function and a machine to the numbers that placements are found by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, SSAValue

from ..dialects.constants import constant_arguments
from ..dialects.eltwise.element_types import ELEMENT_TYPES
from ..errors import GinghamError
from ..passes.locations import error_at
from ..suggestions import did_you_mean
from ..targets.hardware.machine import HOST, Machine
from .grouping import device_of, units_of
from .problem import Problem, Tensor
from .times import UnitTime, unit_times
from .units import Unit, is_constant, size_in_bytes

ANYWHERE = "anywhere"
"""Of a result: where it is computed."""


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A function as units and the values that they exchange.

    It has no figures of devices, so that it can be placed again when those change.
    """

    function: FuncOp
    units: tuple[Unit, ...]
    values: tuple[SSAValue, ...]
    """The inputs, then what units compute and others use, or the program returns."""
    input_names: tuple[str, ...]
    result_names: tuple[str, ...]

    @staticmethod
    def of(function: FuncOp) -> TaskGraph:
        """The program of a specialized and flattened function.

        Raises GinghamError, located, where it is not.
        """
        units = tuple(units_of(function))
        values: dict[SSAValue, None] = {}
        for unit in units:
            values |= dict.fromkeys(v for v in unit.inputs if _is_input(v))
        values |= dict.fromkeys(v for v in _returned(function) if _is_input(v))
        for unit in units:
            values |= dict.fromkeys(unit.outputs)
        return TaskGraph(
            function,
            units,
            tuple(values),
            _names(function, "tile.inputs", len(function.body.block.args)),
            _names(function, "tile.outputs", len(_returned(function))),
        )

    @property
    def results(self) -> tuple[SSAValue, ...]:
        """What the function returns."""
        return tuple(_returned(self.function))

    def name_of(self, value: SSAValue) -> str:
        """What the program calls a value."""
        if isinstance(value, BlockArgument):
            return self.input_names[value.index]
        return value.name_hint or "(no name)"

    def key(self) -> str:
        """The same text for programs with the same units and the same graph."""
        numbers = {value: number for number, value in enumerate(self.values)}
        graph = [
            (
                unit.key,
                [numbers[v] for v in unit.inputs],
                [numbers[v] for v in unit.outputs],
            )
            for unit in self.units
        ]
        return str(graph)


def _is_input(value: SSAValue) -> bool:
    return isinstance(value, BlockArgument)


def _returned(function: FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise error_at(function, "expected the function to end in func.return")
    return last.arguments


def _names(function: FuncOp, attribute: str, count: int) -> tuple[str, ...]:
    found = function.attributes.get(attribute)
    entries = found.data if isinstance(found, ArrayAttr) else ()
    names = [entry.data for entry in entries if isinstance(entry, StringAttr)]
    return tuple(names) if len(names) == count else tuple(map(str, range(count)))


@dataclass(frozen=True)
class Residency:
    """Where inputs are before and results have to be after, by their names.

    Inputs are on the host, and results go there, where nothing else is said.
    """

    inputs: Mapping[str, str | tuple[str, ...]] = field(
        default_factory=dict[str, "str | tuple[str, ...]"]
    )
    """The device or devices that have an input, or `HOST`."""
    results: Mapping[str, str] = field(default_factory=dict[str, str])
    """A device, `HOST` or `ANYWHERE`."""


@dataclass(frozen=True)
class Posed:
    """The problem of a program on a machine."""

    program: TaskGraph
    machine: Machine
    times: tuple[tuple[UnitTime, ...], ...]
    problem: Problem
    forced: tuple[str | None, ...]
    """For each unit the device that it was forced onto, if it was."""


def pose(program: TaskGraph, machine: Machine, residency: Residency) -> Posed:
    """The problem to be solved.

    Raises GinghamError where the machine lacks a device that is named, or a link, or
    where no device can run an operation.
    """
    _check_machine(machine)
    _check_residency(program, machine, residency)
    times = unit_times(program.units, machine)
    latencies, per_byte, channels = _links(machine)
    problem = Problem(
        devices=tuple(device.name for device in machine.devices),
        seconds=_seconds(program, machine, times),
        tensors=tuple(_tensors(program, machine, residency)),
        latencies=latencies,
        per_byte=per_byte,
        memory_bytes=tuple(device.memory_bytes for device in machine.devices),
        channels=channels,
        queues=_queues(machine),
        start_seconds=machine.start_seconds,
        scratch_bytes=tuple(tuple(t.scratch_bytes for t in row) for row in times),
    )
    forced = tuple(forced_device(unit) for unit in program.units)
    return Posed(program, machine, times, problem, forced)


def _check_machine(machine: Machine) -> None:
    names = [device.name for device in machine.devices]
    if not names:
        raise GinghamError("the machine has no devices")
    for device in machine.devices:
        if names.count(device.name) > 1 or device.name == HOST:
            raise GinghamError(
                f"the machine has a second device called '{device.name}'"
                if device.name != HOST
                else f"no device can be called '{HOST}'"
            )
        for name in device.unsupported:
            if name not in ELEMENT_TYPES:
                raise GinghamError(
                    f"'{device.name}' is said not to compute with '{name}', which is "
                    "no element type",
                    hint=f"element types are {', '.join(ELEMENT_TYPES)}",
                )
        if device.memory_bytes < 1:
            raise GinghamError(
                f"expected memory of 1 byte or more on '{device.name}', got "
                f"{device.memory_bytes}"
            )
        if not 0 <= device.load < 1:
            raise GinghamError(
                f"expected the load of '{device.name}' from 0 to below 1, got "
                f"{device.load}"
            )


def _check_residency(
    program: TaskGraph, machine: Machine, residency: Residency
) -> None:
    known = {HOST, *(device.name for device in machine.devices)}
    for what, named, names in (
        ("input", residency.inputs, program.input_names),
        ("output", residency.results, program.result_names),
    ):
        for name, where in named.items():
            wanted = (where,) if isinstance(where, str) else where
            if name not in names:
                raise GinghamError(
                    f"the program has no {what} '{name}' to be on "
                    f"'{', '.join(wanted)}'",
                    hint=did_you_mean(name, names)
                    or f"it has {', '.join(names) or 'none'}",
                )
            for place in wanted:
                if place not in known and (place != ANYWHERE or what == "input"):
                    raise GinghamError(
                        f"{what} '{name}' is to be on '{place}', which the machine "
                        "does not have",
                        hint=f"it has {', '.join(sorted(known))}",
                    )


def _seconds(
    program: TaskGraph, machine: Machine, times: Sequence[Sequence[UnitTime]]
) -> tuple[tuple[float, ...], ...]:
    """The times, infinite where a unit is forced onto another device."""
    names = [device.name for device in machine.devices]
    found: list[tuple[float, ...]] = []
    for unit, row in zip(program.units, times, strict=True):
        forced = forced_device(unit)
        seconds = [time.seconds for time in row]
        if forced is not None:
            _check_forced(unit, forced, machine, row)
            seconds = [
                own if name == forced else math.inf
                for name, own in zip(names, seconds, strict=True)
            ]
        if not any(map(math.isfinite, seconds)):
            reasons = [
                f"'{name}': {time.why}" for name, time in zip(names, row, strict=True)
            ]
            raise error_at(
                unit.ops[0],
                f"no device can run {unit.name}: {'; '.join(reasons)}",
                "add a device that can",
            )
        found.append(tuple(seconds))
    return tuple(found)


def forced_device(unit: Unit) -> str | None:
    """The device that operations of a unit are forced onto."""
    return next((d for op in unit.ops if (d := device_of(op)) is not None), None)


def _check_forced(
    unit: Unit, forced: str, machine: Machine, row: Sequence[UnitTime]
) -> None:
    op = next(op for op in unit.ops if device_of(op) == forced)
    names = [device.name for device in machine.devices]
    if forced not in names:
        raise error_at(
            op,
            f"{unit.name} is forced onto '{forced}', which is not among the devices",
            f"the devices are {', '.join(names)}",
        )
    time = row[names.index(forced)]
    if not math.isfinite(time.seconds):
        raise error_at(
            op,
            f"{unit.name} is forced onto '{forced}', which cannot run it: {time.why}",
        )


def _tensors(
    program: TaskGraph, machine: Machine, residency: Residency
) -> list[Tensor]:
    numbers = {device.name: n for n, device in enumerate(machine.devices)}
    numbers[HOST] = len(numbers)
    constants = constant_arguments(program.function)
    source = {
        value: number
        for number, unit in enumerate(program.units)
        for value in unit.outputs
    }
    users: dict[SSAValue, list[int]] = {value: [] for value in program.values}
    for number, unit in enumerate(program.units):
        for value in unit.inputs:
            users[value].append(number)
    ends = _ends(program, residency)
    found: list[Tensor] = []
    for value in program.values:
        name = program.name_of(value)
        homes: tuple[int, ...] = ()
        if isinstance(value, BlockArgument):
            where = residency.inputs.get(name, HOST)
            named = (where,) if isinstance(where, str) else where
            homes = tuple(numbers[place] for place in named) or (numbers[HOST],)
        end = ends.get(value)
        found.append(
            Tensor(
                name,
                size_in_bytes(value),
                source.get(value),
                tuple(users[value]),
                homes,
                None if end is None or end == ANYWHERE else numbers[end],
                value in ends,
                isinstance(value, BlockArgument) and value.index in constants,
            )
        )
    return found


def _ends(program: TaskGraph, residency: Residency) -> dict[SSAValue, str]:
    """Where each result has to be; of a value that is returned twice, the first."""
    found: dict[SSAValue, str] = {}
    for name, value in zip(program.result_names, program.results, strict=True):
        if not is_constant(value):
            found.setdefault(value, residency.results.get(name, HOST))
    return found


@dataclass(frozen=True)
class _Way:
    """How data gets from one place to another."""

    latency: float
    per_byte: float
    channel: tuple[str, str]


def _links(
    machine: Machine,
) -> tuple[
    tuple[tuple[float, ...], ...],
    tuple[tuple[float, ...], ...],
    tuple[tuple[int, ...], ...],
]:
    """Latency, seconds for a byte, and the channel between all places."""
    names = [*(device.name for device in machine.devices), HOST]
    ways = [[_way(machine, source, target) for target in names] for source in names]
    channels: dict[tuple[str, str], int] = {}
    return (
        tuple(tuple(way.latency for way in row) for row in ways),
        tuple(tuple(way.per_byte for way in row) for row in ways),
        tuple(
            tuple(channels.setdefault(way.channel, len(channels)) for way in row)
            for row in ways
        ),
    )


def _way(machine: Machine, source: str, target: str) -> _Way:
    """A link of their own, or else through the host."""
    if source == target:
        return _Way(0.0, 0.0, (source, target))
    links = machine.links
    parts = [(source, target)]
    if parts[0] not in links and HOST not in parts[0]:
        parts = [(source, HOST), (HOST, target)]
    for part in parts:
        if part not in links:
            raise GinghamError(
                f"the machine has no link from '{part[0]}' to '{part[1]}'",
                hint="each device needs one to and one from the host",
            )
    return _Way(
        sum(links[part].latency_seconds for part in parts),
        sum(1 / links[part].bytes_per_second for part in parts),
        min(parts, key=lambda part: links[part].bytes_per_second),
    )


def _queues(machine: Machine) -> tuple[int, ...]:
    """A queue for each device, one for all that are the same processor."""
    numbers: dict[str, int] = {}
    return tuple(
        numbers.setdefault(device.processor or f"device {device.name}", len(numbers))
        for device in machine.devices
    )
