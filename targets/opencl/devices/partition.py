"""Parts of a device as devices: some of its compute units, with a queue of their own.

`intel.0/0:1` is the first compute unit of `intel.0`, `intel.0/1:4` the next three: the
range is Python's. A name says all that is needed to make the part again, so it means
the same in every process.

Who may run there is for the driver to keep. PoCL gives each part its own threads.
Intel's runtime lets the thread that waits for a part help, so that the first part of a
small machine is as fast as the whole, and parts that work at once wait for each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ....errors import GinghamError
from ..status import meaning
from .device import OpenCLDevice
from .properties import read_properties

if TYPE_CHECKING:
    pass

SEPARATOR = "/"
"""Stands between the name of a device and the range of a part."""

_RANGE = re.compile(r"(\d{1,6}):(\d{1,6})")

_lock = Lock()
_parts: WeakKeyDictionary[OpenCLDevice, dict[tuple[int, int], OpenCLDevice]]
_parts = WeakKeyDictionary()


def part_named(device: OpenCLDevice, text: str) -> OpenCLDevice:
    """The part of a device by its range: `0:1`.

    Raises GinghamError for what is no range of its compute units, and where the driver
    can not divide the device.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        raise GinghamError(
            f"expected a range of compute units, such as '{device.name}/0:1', got "
            f"'{device.name}/{text}'",
            hint=_range_hint(device),
        )
    return part(device, int(match[1]), int(match[2]))


def split(device: OpenCLDevice, counts: Sequence[int]) -> list[OpenCLDevice]:
    """Parts of so many compute units each, one behind the other.

    Raises GinghamError for counts below 1, for more units than there are, and where the
    driver can not divide the device.
    """
    for count in counts:
        if count < 1:
            raise GinghamError(
                f"a part of device '{device.name}' needs at least one compute unit, "
                f"got {count}",
                hint=_range_hint(device),
            )
    parts: list[OpenCLDevice] = []
    start = 0
    for count in counts:
        parts.append(part(device, start, start + count))
        start += count
    return parts


def part(device: OpenCLDevice, start: int, stop: int) -> OpenCLDevice:
    """The compute units from `start` to before `stop`; the same object each time."""
    units = device.details.compute_units
    if not 0 <= start < stop <= units:
        raise GinghamError(
            f"device '{device.name}' has no compute units {start}:{stop}",
            hint=_range_hint(device),
        )
    with _lock:
        known = _parts.setdefault(device, {})
        if (start, stop) not in known:
            known[start, stop] = _make(device, start, stop)
        return known[start, stop]


def _make(device: OpenCLDevice, start: int, stop: int) -> OpenCLDevice:
    import pyopencl as cl

    name = f"{device.name}{SEPARATOR}{start}:{stop}"
    if stop - start == device.details.compute_units:
        # Drivers do not divide what has one unit.
        return OpenCLDevice(name, device.kind, device.details, device.handle)
    counts = [start, stop - start] if start else [stop]
    properties: list[Any] = [cl.device_partition_property.BY_COUNTS, *counts, 0]
    try:
        if not _divides_by_counts(device):
            raise _refusal(device, "its driver does not divide devices")
        handle = device.handle.create_sub_devices(properties)[-1]
        details = read_properties(handle)
    except (cl.Error, UnicodeDecodeError) as error:
        code = getattr(error, "code", None)
        reason = meaning(code) if isinstance(code, int) else str(error)
        raise _refusal(device, reason) from error
    made = OpenCLDevice(name, device.kind, details, handle)
    if details.host_unified_memory:
        # One memory has one budget.
        made.pool = device.pool
    return made


def _divides_by_counts(device: OpenCLDevice) -> bool:
    import pyopencl as cl

    ways: Any = device.handle.partition_properties
    return int(cl.device_partition_property.BY_COUNTS) in map(int, ways)


def _refusal(device: OpenCLDevice, reason: str) -> GinghamError:
    return GinghamError(
        f"device '{device.name}' can not be divided into parts: {reason}",
        hint="CPU runtimes (Intel's, PoCL) can be divided; most GPUs can not",
    )


def _range_hint(device: OpenCLDevice) -> str:
    units = device.details.compute_units
    return f"'{device.name}' has {units} compute unit(s), 0:{units}"
