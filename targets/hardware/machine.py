"""Several devices of one host, and how data gets from one to another.

What the placement of a program on devices is decided by: figures only, so that it can
be decided, printed and tested without any of the devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...errors import GinghamError
from ...suggestions import did_you_mean
from .description import Hardware

HOST = "host"
"""The name of the memory of the host in `Machine.links`."""


@dataclass(frozen=True)
class Link:
    """The way of data from one memory to another."""

    latency_seconds: float
    """From the start of a copy of a few bytes to its end."""
    bytes_per_second: float
    """Of large copies; infinite where both use the same memory."""

    def seconds(self, size_in_bytes: int) -> float:
        """How long a copy of so many bytes takes."""
        return self.latency_seconds + size_in_bytes / self.bytes_per_second


@dataclass(frozen=True)
class MachineDevice:
    """A device that operations can be placed on."""

    name: str
    """As of `gingham.devices()`: `intel.0`."""
    hardware: Hardware
    """The figures that the cost model predicts times from."""
    memory_bytes: int
    """What a program may use there at once."""
    load: float = 0.0
    """The share of its time, from 0 to below 1, that other work takes now."""
    measured: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds that units of a program took there, by the units' keys."""
    processor: str = ""
    """Devices with one name here, which is not empty, are one processor: two runtimes
    for the same cores. They take turns instead of running at the same time."""
    unsupported: tuple[str, ...] = ()
    """Element types that it does not compute with, such as "f64"."""


@dataclass(frozen=True)
class Machine:
    """Devices and the links between them."""

    devices: tuple[MachineDevice, ...]
    links: Mapping[tuple[str, str], Link]
    """By the names of source and target, devices' or `HOST`."""
    start_seconds: float = 0.0
    """What the host takes to start a part of a program, where it has several: parts of
    programs that only take as long are better off on one device."""

    def restricted(self, names: Sequence[str]) -> Machine:
        """The machine with some of its devices, in this order, and their links.

        Raises GinghamError for a device that it does not have.
        """
        known = {device.name: device for device in self.devices}
        for name in names:
            if name not in known:
                raise GinghamError(
                    f"the machine has no device '{name}'",
                    hint=did_you_mean(name, known)
                    or f"it has {', '.join(known) or 'none'}",
                )
        kept = {*names, HOST}
        links = {ends: link for ends, link in self.links.items() if kept >= {*ends}}
        devices = tuple(known[name] for name in dict.fromkeys(names))
        return replace(self, devices=devices, links=links)
