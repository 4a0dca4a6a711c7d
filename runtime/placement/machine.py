"""`this_machine`: what placement is decided by, found out and measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...targets.hardware.machine import Machine, MachineDevice
from ..hardware import hardware_of, target_options
from ..load import load_of
from .database import database
from .links import device_text, links_between
from .sharing import processors

if TYPE_CHECKING:
    from ...targets.hardware import Hardware
    from ..device import Device

_UNKNOWN_MEMORY = 1 << 40
_START_SECONDS = 8e-5
"""What it takes to start a segment from Python, and to wait for it, about."""
_INTERPRETED = 3000.0
"""How much slower the interpreter is than kernels, in contractions."""
_INTERPRETED_MICROSECONDS = 200.0


def this_machine(devices: Sequence[Device], units: Iterable[str] = ()) -> Machine:
    """The devices as `tile-place` wants to know them, and the links between them.

    `units` are the keys of those whose measured times are asked for. Links are measured
    when they are asked for first, and kept. Raises GinghamError where a device fails.
    """
    keys = [*units]
    links = links_between(devices)
    cores = processors(devices)
    described = (_described(device, keys, cores[device.name]) for device in devices)
    return Machine(tuple(described), links, _START_SECONDS)


def _described(device: Device, units: Sequence[str], processor: str) -> MachineDevice:
    return MachineDevice(
        device.name,
        _hardware(device),
        _memory_bytes(device),
        load_of(device),
        database().times(device_text(device), units),
        processor,
        target_options(device).unsupported,
    )


def _hardware(device: Device) -> Hardware:
    """The figures of the device; the interpreter is a very slow processor."""
    hardware = hardware_of(device)
    if not device.is_reference:
        return hardware
    return replace(
        hardware,
        clock_gigahertz=hardware.clock_gigahertz / _INTERPRETED,
        launch_microseconds=_INTERPRETED_MICROSECONDS,
    )


def _memory_bytes(device: Device) -> int:
    """What programs may use of a device's memory."""
    if (budget := device.memory_budget_bytes) is not None:
        return budget
    found = device.properties.get("global_memory_bytes")
    return found if isinstance(found, int) and found > 0 else _UNKNOWN_MEMORY
