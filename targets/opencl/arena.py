"""One piece of a device's memory, of which buffers are parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .buffer import DeviceBuffer, allocate
from .status import as_gingham_error

if TYPE_CHECKING:
    from .device import OpenCLDevice
    from .host_program import Slot


def allocate_placed(
    device: OpenCLDevice, slots: Mapping[int, Slot]
) -> dict[int, DeviceBuffer]:
    """The buffers of slots that have places, by the numbers of the slots.

    A device that takes no parts at such places, or no piece of this size, gets a buffer
    for each; one with memory of its own a buffer for each place, as NVIDIA's driver
    crashes when parts that overlap are released.
    """
    import pyopencl as cl

    if not device.details.host_unified_memory:
        return _by_place(device, slots)
    size = max(((s.place or 0) + s.size_in_bytes for s in slots.values()), default=0)
    step = max(device.handle.mem_base_addr_align // 8, 1)
    fits = size <= device.details.max_allocation_bytes
    if not fits or any((slot.place or 0) % step for slot in slots.values()):
        return {n: allocate(device, s.shape, s.dtype) for n, s in slots.items()}
    if not slots:
        return {}
    arena = allocate(device, (size,), "uint8", for_host=False)
    buffers: dict[int, DeviceBuffer] = {}
    try:
        for number, slot in slots.items():
            part = arena.handle.get_sub_region(slot.place or 0, slot.size_in_bytes)
            buffers[number] = DeviceBuffer(device, slot.shape, slot.dtype, part, None)
    except cl.Error as error:
        raise as_gingham_error("taking a part of a buffer", error) from error
    return buffers


def _by_place(
    device: OpenCLDevice, slots: Mapping[int, Slot]
) -> dict[int, DeviceBuffer]:
    """Slots at one place share a buffer that is large enough for each of them."""
    sizes: dict[int | None, int] = {}
    for slot in slots.values():
        sizes[slot.place] = max(sizes.get(slot.place, 0), slot.size_in_bytes)
    pieces = {
        place: allocate(device, (size,), "uint8", for_host=False)
        for place, size in sizes.items()
    }
    return {
        number: DeviceBuffer(
            device, slot.shape, slot.dtype, pieces[slot.place].handle, None
        )
        for number, slot in slots.items()
    }
