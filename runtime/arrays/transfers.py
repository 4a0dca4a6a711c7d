"""Arrays from NumPy to devices, from one device to another, and back to NumPy.

These work on `Storage`, what arrays are made of; `Array` is on top of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ..backends import memory_of
from ..device import Device
from .host_values import would_copy
from .memory import SUBMISSION, Memory, read_by_host, wait_for_host
from .storage import Storage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...targets.device_memory import Buffer, DeviceMemory, Event

    Host = NDArray[Any]
    AnyMemory = DeviceMemory[Any, Any]


def stored(
    host: Host, device: Device, is_new: bool = False, copy: bool | None = None
) -> Storage:
    """An array of NumPy on a device, in place where `copy` and the device allow it.

    `is_new` says that nobody else has it, so that it needs no further copy.
    """
    place = memory_of(device)
    kind = host.shape, host.dtype, device
    if place is None:
        own = host.copy() if copy is True and not is_new else host
        return Storage(device, kind, own, None, Memory())
    if place.is_shared:
        return _wrapped(host, device, place, is_new, copy)
    if copy is False:
        raise would_copy(f"device '{device.name}' has memory of its own")
    buffer = _written_buffer(place, host)
    return Storage(device, kind, None, buffer, Memory())


def empty(shape: Sequence[int], dtype: np.dtype[Any], device: Device) -> Storage:
    """An array whose elements are undefined.

    Raises GinghamError where there is not that much memory.
    """
    from ...targets.host_arrays import aligned_empty

    place = memory_of(device)
    kind = tuple(shape), dtype, device
    if place is None:
        return Storage(device, kind, aligned_empty(shape, dtype), None, Memory())
    buffer = place.allocate(kind[0], dtype)
    return Storage(device, kind, buffer.host, buffer, Memory())


def contents(array: Storage) -> Host:
    """See `Array.numpy`."""
    event = array.memory.written
    if event is not None:
        event.wait()
    return _read(array)


def _read(array: Storage) -> Host:
    """The contents of an array that is ready."""
    array.check()
    if array.host is not None:
        place = memory_of(array.device)
        if place is not None and not place.is_visible:
            place.show(array.buffer)
        return array.host.view()
    buffer = array.buffer
    host = _empty_host(buffer)
    with read_by_host([array.memory]):
        for source in array.memory.sources():
            source.wait()
        _memory(array.device).fetch(buffer, host)
    return host


def moved(array: Storage, chosen: Device, copy: bool | None) -> Storage:
    """See `Array.to`, for another device or where `copy` is True."""
    # Closed, or known to have failed: that is an error here.
    array.memory.sources()
    source, target = memory_of(array.device), memory_of(chosen)
    shares = _is_visible(source) and (target is None or target.is_shared)
    if shares and _fits(array.host, target) and copy is not True:
        return _shared(array, chosen, target)
    if source is None or target is None:
        # Work on NumPy's arrays is never ahead of its caller.
        return stored(contents(array), chosen, False, copy)
    if copy is False:
        names = f"'{array.device.name}' and '{chosen.name}'"
        raise would_copy(f"{names} share no memory")
    if array.device is chosen and array.host is None:
        return _duplicate(array, source)
    return _copied(array, source, chosen, target)


def overwrite(target: Storage, result: Host) -> None:
    """Write to memory that runs of other devices may use, when they have ended."""
    for user in target.memory.users():
        user.settle()
    with SUBMISSION:
        memory, host = target.memory, target.host
        wait_for_host(memory)
        for user in memory.users():
            user.settle()
        if host is None:
            raise GinghamError("expected an array in the host's memory")
        host[...] = result
        # What is there now is good, whatever became of the runs before.
        memory.written = None
        memory.readers.clear()


def write_into(target: Storage, array: Storage) -> None:
    """Copy an array into another of its shape and type, on whatever device.

    It comes after all that uses the target, and is started only, but for targets whose
    memory is NumPy's. Raises GinghamError where the array is known to have failed.
    """
    place = memory_of(target.device)
    if place is None:
        overwrite(target, contents(array))
        return
    memory, origin, buffer = target.memory, array.memory, target.buffer
    with SUBMISSION:
        wait_for_host(memory)
        sources, behind = origin.sources(), memory.users()
        host = array.host if _is_visible(memory_of(array.device)) else None
        if array.device is target.device and host is None:
            event = place.copy(array.buffer, buffer, sources, behind)
        elif host is not None:
            event = place.write(buffer, host, sources, behind)
        else:
            host = _empty_host(buffer)
            read = _memory(array.device).read(array.buffer, host, sources)
            _note_reader(origin, read)
            sources = () if read is None else (read,)
            event = place.write(buffer, host, sources, behind)
        _note_reader(origin, event)
        memory.written = event


def _wrapped(
    host: Host, device: Device, place: AnyMemory, is_new: bool, copy: bool | None
) -> Storage:
    from ...targets.host_arrays import fit_for_kernels

    fitting = fit_for_kernels(host)
    if copy is False and fitting is not host:
        raise would_copy(
            "the elements do not lie one behind the other, or are not aligned"
        )
    if copy is True and fitting is host and not is_new:
        fitting = _copy(host, place)
    kind = fitting.shape, fitting.dtype, device
    return Storage(device, kind, fitting, place.in_place(fitting), Memory())


def _fits(host: Host | None, place: AnyMemory | None) -> bool:
    """Whether an array of NumPy can be used in place, by kernels or else by NumPy."""
    from ...targets.host_arrays import fit_for_kernels

    return host is not None and (place is None or fit_for_kernels(host) is host)


def _shared(array: Storage, device: Device, place: AnyMemory | None) -> Storage:
    """The same memory for another device, whose runs are put in order with others."""
    host, memory = array.host, array.memory
    if host is None:
        raise GinghamError("expected an array in the host's memory")
    buffer = None if place is None else place.in_place(host)
    return Storage(device, (*array.kind[:2], device), host, buffer, memory)


def _copied(
    array: Storage, source: AnyMemory, device: Device, target: AnyMemory
) -> Storage:
    """A copy on another device, by way of the host where it has to be."""
    memory, origin = Memory(), array.memory
    shape, dtype, _ = array.kind
    buffer = target.allocate(shape, dtype)
    with SUBMISSION:
        sources = origin.sources()
        host, event = array.host, None
        if buffer.host is not None or host is None or not source.is_visible:
            host = _empty_host(buffer) if buffer.host is None else buffer.host
            event = source.read(array.buffer, host, sources)
            _note_reader(origin, event)
            sources = () if event is None else (event,)
        if buffer.host is None:
            event = target.write(buffer, host, sources)
            _note_reader(origin, event)
        memory.written = event
    return Storage(device, (shape, dtype, device), buffer.host, buffer, memory)


def _duplicate(array: Storage, place: AnyMemory) -> Storage:
    """A copy on the same device, which has memory of its own.

    It must not go through the host: NVIDIA's driver takes the bytes of a write when it
    is told of it, though the read before it has not put them there yet.
    """
    memory, origin = Memory(), array.memory
    shape, dtype, _ = array.kind
    buffer = place.allocate(shape, dtype)
    with SUBMISSION:
        memory.written = place.copy(array.buffer, buffer, origin.sources())
        _note_reader(origin, memory.written)
    return Storage(array.device, array.kind, None, buffer, memory)


def _memory(device: Device) -> AnyMemory:
    """The memory of a device with buffers."""
    place = memory_of(device)
    if place is None:
        raise GinghamError(f"device '{device.name}' has no buffers")
    return place


def _note_reader(memory: Memory, event: Event | None) -> None:
    if event is not None:
        memory.readers[event.queue] = event


def _written_buffer(place: AnyMemory, host: Host) -> Buffer:
    """A buffer with the elements of an array, which may be changed afterwards."""
    from ...targets.host_arrays import fit_for_kernels

    fitting = fit_for_kernels(host)
    buffer = place.allocate(fitting.shape, fitting.dtype)
    place.fill(buffer, fitting)
    return buffer


def _is_visible(place: AnyMemory | None) -> bool:
    """Whether the host sees what kernels write without asking the device for it."""
    return place is None or place.is_visible


def _empty_host(buffer: Buffer) -> Host:
    from ...targets.host_arrays import aligned_empty

    return aligned_empty(buffer.shape, buffer.dtype)


def _copy(host: Host, place: AnyMemory) -> Host:
    import numpy as np

    copy = place.host_array(host.shape, host.dtype)
    np.copyto(copy, host)
    return copy
