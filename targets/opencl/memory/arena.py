"""One piece of a device's memory, of which buffers are parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..handles.buffer import DeviceBuffer, allocate
from ..status import as_gingham_error

if TYPE_CHECKING:
    import pyopencl as cl

    from ...host_program import Slot
    from ..handles.handle import DeviceHandle


def allocate_placed(
    device: DeviceHandle, slots: Mapping[int, Slot]
) -> dict[int, DeviceBuffer]:
    """The buffers of slots that have places, by the numbers of the slots.

    A device that takes no parts at such places, or no piece of this size, gets a buffer
    for each; one with memory of its own a buffer for each place, as NVIDIA's driver
    crashes when parts that overlap are released.
    """
    import pyopencl as cl

    if not device.details.host_unified_memory:
        return _by_place(device, slots)
    if not _fits_one_piece(device, slots):
        return {
            number: allocate(device, slot.shape, slot.dtype, purpose="scratch")
            for number, slot in slots.items()
        }
    if not slots:
        return {}
    arena = _piece(device, _end(slots))
    buffers: dict[int, DeviceBuffer] = {}
    try:
        for number, slot in slots.items():
            part = arena.handle.get_sub_region(slot.place or 0, slot.size_in_bytes)
            buffers[number] = _part(slot, part, arena)
    except cl.Error as error:
        raise as_gingham_error("taking a part of a buffer", error) from error
    return buffers


def placed_bytes(device: DeviceHandle, slots: Mapping[int, Slot]) -> int:
    """The memory of slots, of which some have places and share it."""
    alone = sum(s.size_in_bytes for s in slots.values() if s.place is None)
    placed = {n: slot for n, slot in slots.items() if slot.place is not None}
    if not device.details.host_unified_memory:
        return alone + sum(_sizes_by_place(placed).values())
    if not _fits_one_piece(device, placed):
        return alone + sum(slot.size_in_bytes for slot in placed.values())
    return alone + _end(placed)


def _by_place(
    device: DeviceHandle, slots: Mapping[int, Slot]
) -> dict[int, DeviceBuffer]:
    """Slots at one place share a buffer that is large enough for each of them."""
    sizes = _sizes_by_place(slots)
    pieces = {place: _piece(device, size) for place, size in sizes.items()}
    return {
        number: _part(slot, pieces[slot.place].handle, pieces[slot.place])
        for number, slot in slots.items()
    }


def _sizes_by_place(slots: Mapping[int, Slot]) -> dict[int | None, int]:
    sizes: dict[int | None, int] = {}
    for slot in slots.values():
        sizes[slot.place] = max(sizes.get(slot.place, 0), slot.size_in_bytes)
    return sizes


def _end(slots: Mapping[int, Slot]) -> int:
    ends = [(slot.place or 0) + slot.size_in_bytes for slot in slots.values()]
    return max(ends, default=0)


def _fits_one_piece(device: DeviceHandle, slots: Mapping[int, Slot]) -> bool:
    step = max(device.handle.mem_base_addr_align // 8, 1)
    if any((slot.place or 0) % step for slot in slots.values()):
        return False
    return _end(slots) <= device.details.max_allocation_bytes


def _piece(device: DeviceHandle, size: int) -> DeviceBuffer:
    return allocate(device, (size,), "uint8", for_host=False, purpose="scratch")


def _part(slot: Slot, handle: cl.Buffer, piece: DeviceBuffer) -> DeviceBuffer:
    """A slot's buffer; the piece is in use as long as one of its parts is."""
    return DeviceBuffer(piece.device, slot.shape, slot.dtype, handle, None, piece.lease)
