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
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from ....errors import GinghamError
from ..handles.handle import DeviceHandle
from ..handles.properties import OpenCLProperties, read_properties
from ..status import meaning

if TYPE_CHECKING:
    import pyopencl as cl

SEPARATOR = "/"
"""Stands between the name of a device and the range of a part."""

_RANGE = re.compile(r"(\d{1,6}):(\d{1,6})")


def range_of(device: DeviceHandle, text: str) -> tuple[int, int]:
    """The compute units that `0:1` names, by the first and the one behind the last.

    Raises GinghamError for what is no range.
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        raise GinghamError(
            f"expected a range of compute units, such as '{device.name}/0:1', got "
            f"'{device.name}/{text}'",
            hint=_range_hint(device),
        )
    return int(match[1]), int(match[2])


def ranges(device: DeviceHandle, counts: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges of so many compute units each, one behind the other.

    Raises GinghamError for counts below 1.
    """
    for count in counts:
        if count < 1:
            raise GinghamError(
                f"a part of device '{device.name}' needs at least one compute unit, "
                f"got {count}",
                hint=_range_hint(device),
            )
    ends = [*accumulate(counts, initial=0)]
    return [*pairwise(ends)]


def divided(
    device: DeviceHandle, start: int, stop: int
) -> tuple[cl.Device, OpenCLProperties]:
    """The compute units from `start` to before `stop`, as a device of OpenCL.

    Raises GinghamError where there are no such units, and where the driver can not
    divide the device.
    """
    import pyopencl as cl

    units = device.details.compute_units
    if not 0 <= start < stop <= units:
        raise GinghamError(
            f"device '{device.name}' has no compute units {start}:{stop}",
            hint=_range_hint(device),
        )
    if stop - start == units:
        # Drivers do not divide what has one unit.
        return device.handle, device.details
    counts = [start, stop - start] if start else [stop]
    properties: list[Any] = [cl.device_partition_property.BY_COUNTS, *counts, 0]
    try:
        if not _divides_by_counts(device):
            raise _refusal(device, "its driver does not divide devices")
        handle = device.handle.create_sub_devices(properties)[-1]
        return handle, read_properties(handle)
    except (cl.Error, UnicodeDecodeError) as error:
        code = getattr(error, "code", None)
        reason = meaning(code) if isinstance(code, int) else str(error)
        raise _refusal(device, reason) from error


def _divides_by_counts(device: DeviceHandle) -> bool:
    import pyopencl as cl

    ways: Any = device.handle.partition_properties
    return int(cl.device_partition_property.BY_COUNTS) in map(int, ways)


def _refusal(device: DeviceHandle, reason: str) -> GinghamError:
    return GinghamError(
        f"device '{device.name}' can not be divided into parts: {reason}",
        hint="CPU runtimes (Intel's, PoCL) can be divided; most GPUs can not",
    )


def _range_hint(device: DeviceHandle) -> str:
    units = device.details.compute_units
    return f"'{device.name}' has {units} compute unit(s), 0:{units}"
