"""Arrays from NumPy to devices, from one device to another, and back to NumPy.

These work on `Storage`, what arrays are made of; `Array` is on top of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ..device import Device
from .host_values import would_copy
from .memory import SUBMISSION, Memory, wait_for_host
from .storage import Storage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...targets.opencl.command_queue import CommandQueue
    from ...targets.opencl.devices.device import OpenCLDevice
    from ...targets.opencl.events import RunEvent
    from ...targets.opencl.memory.buffer import DeviceBuffer

    Host = NDArray[Any]


def stored(
    host: Host, device: Device, is_new: bool = False, copy: bool | None = None
) -> Storage:
    """An array of NumPy on a device, in place where `copy` and the device allow it.

    `is_new` says that nobody else has it, so that it needs no further copy.
    """
    opencl = opencl_device(device)
    kind = host.shape, host.dtype, device
    if opencl is None:
        own = host.copy() if copy is True and not is_new else host
        return Storage(device, kind, own, None, Memory())
    if opencl.details.host_unified_memory:
        return _wrapped(host, opencl, is_new, copy)
    if copy is False:
        raise would_copy(f"device '{device.name}' has memory of its own")
    buffer = _written_buffer(opencl, host)
    return Storage(device, kind, None, buffer, Memory())


def empty(shape: Sequence[int], dtype: np.dtype[Any], device: Device) -> Storage:
    """An array whose elements are undefined.

    Raises GinghamError where there is not that much memory.
    """
    from ...targets.host_arrays import aligned_empty
    from ...targets.opencl.memory.buffer import allocate

    opencl = opencl_device(device)
    kind = tuple(shape), dtype, device
    if opencl is None:
        return Storage(device, kind, aligned_empty(shape, dtype), None, Memory())
    buffer = allocate(opencl, kind[0], dtype)
    return Storage(device, kind, buffer.host, buffer, Memory())


def contents(array: Storage) -> Host:
    """See `Array.numpy`."""
    event = array.memory.written
    if event is not None:
        event.wait()
    return _read(array)


def _read(array: Storage) -> Host:
    """The contents of an array that is ready."""
    from ...targets.opencl.transfers import start_read

    array.check()
    if array.host is not None:
        opencl = opencl_device(array.device)
        if opencl is not None and not _is_visible(opencl):
            from ...targets.opencl.memory.copies import make_visible

            make_visible(opencl.queue, array.buffer)
        return array.host.view()
    buffer = array.buffer
    host = _empty_host(buffer)
    with SUBMISSION:
        sources = array.memory.sources()
        event = start_read(_copier(array.device), buffer, host, sources)
        _note_reader(array.memory, event)
    if event is not None:
        event.wait()
    return host


def moved(array: Storage, chosen: Device, copy: bool | None) -> Storage:
    """See `Array.to`, for another device or where `copy` is True."""
    # Closed, or known to have failed: that is an error here.
    array.memory.sources()
    source, target = opencl_device(array.device), opencl_device(chosen)
    shares = _is_visible(array.device) and (
        target is None or target.details.host_unified_memory
    )
    if shares and _fits(array.host, target) and copy is not True:
        return _shared(array, chosen, target)
    if source is None or target is None:
        # Work on NumPy's arrays is never ahead of its caller.
        return stored(contents(array), chosen, False, copy)
    if copy is False:
        raise would_copy(f"'{source.name}' and '{target.name}' share no memory")
    if source is target and array.host is None:
        return _duplicate(array, source)
    return _copied(array, source, target)


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
    from ...targets.opencl.transfers import start_copy, start_read, start_write

    source, device = opencl_device(array.device), opencl_device(target.device)
    if device is None:
        overwrite(target, contents(array))
        return
    memory, origin, buffer = target.memory, array.memory, target.buffer
    with SUBMISSION:
        wait_for_host(memory)
        sources, behind = origin.sources(), memory.users()
        queue = device.transfer_queue
        host = array.host if _is_visible(array.device) else None
        if source is device and host is None:
            event = start_copy(queue, array.buffer, buffer, sources, behind)
        elif host is not None:
            event = start_write(queue, buffer, host, sources, behind)
        else:
            host = _empty_host(buffer)
            copier = _copier(array.device)
            read = start_read(copier, array.buffer, host, sources)
            _note_reader(origin, read)
            sources = () if read is None else (read,)
            event = start_write(queue, buffer, host, sources, behind)
        _note_reader(origin, event)
        memory.written = event


def opencl_device(device: Device) -> OpenCLDevice | None:
    """The device as an OpenCL device; None for one whose arrays are NumPy's."""
    from ...targets.opencl.devices.device import OpenCLDevice

    if not device.has_buffers:
        return None
    if not isinstance(device, OpenCLDevice):
        raise GinghamError(f"device '{device.name}' cannot hold arrays")
    return device


def _wrapped(
    host: Host, device: OpenCLDevice, is_new: bool, copy: bool | None
) -> Storage:
    from ...targets.host_arrays import fit_for_kernels
    from ...targets.opencl.memory.buffer import wrap
    from ...targets.opencl.memory.copies import upload

    fitting = fit_for_kernels(host)
    if copy is False and fitting is not host:
        raise would_copy(
            "the elements do not lie one behind the other, or are not aligned"
        )
    if copy is True and fitting is host and not is_new:
        fitting = _copy(host, device)
    if fitting.flags.writeable:
        buffer = wrap(device, fitting)
    else:
        buffer = upload(device.queue, fitting)
    kind = fitting.shape, fitting.dtype, device
    return Storage(device, kind, fitting, buffer, Memory())


def _fits(host: Host | None, device: OpenCLDevice | None) -> bool:
    """Whether an array of NumPy can be used in place, by kernels or else by NumPy."""
    from ...targets.host_arrays import fit_for_kernels

    return host is not None and (device is None or fit_for_kernels(host) is host)


def _shared(array: Storage, device: Device, opencl: OpenCLDevice | None) -> Storage:
    """The same memory for another device, whose runs are put in order with others."""
    from ...targets.opencl.memory.buffer import wrap
    from ...targets.opencl.memory.copies import upload

    host, memory = array.host, array.memory
    if host is None:
        raise GinghamError("expected an array in the host's memory")
    buffer = None
    if opencl is not None:
        is_writable = host.flags.writeable
        buffer = wrap(opencl, host) if is_writable else upload(opencl.queue, host)
    return Storage(device, (*array.kind[:2], device), host, buffer, memory)


def _copied(array: Storage, source: OpenCLDevice, target: OpenCLDevice) -> Storage:
    """A copy on another device, by way of the host where it has to be."""
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_read, start_write

    memory, origin = Memory(), array.memory
    shape, dtype, _ = array.kind
    buffer = allocate(target, shape, dtype)
    with SUBMISSION:
        sources = origin.sources()
        host, event = array.host, None
        if buffer.host is not None or host is None or not _is_visible(source):
            host = _empty_host(buffer) if buffer.host is None else buffer.host
            event = start_read(source.transfer_queue, array.buffer, host, sources)
            _note_reader(origin, event)
            sources = () if event is None else (event,)
        if buffer.host is None:
            event = start_write(target.transfer_queue, buffer, host, sources)
            _note_reader(origin, event)
        memory.written = event
    return Storage(target, (shape, dtype, target), buffer.host, buffer, memory)


def _duplicate(array: Storage, device: OpenCLDevice) -> Storage:
    """A copy on the same device, which has memory of its own.

    It must not go through the host: NVIDIA's driver takes the bytes of a write when it
    is told of it, though the read before it has not put them there yet.
    """
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_copy

    memory, origin = Memory(), array.memory
    shape, dtype, _ = array.kind
    buffer = allocate(device, shape, dtype)
    with SUBMISSION:
        queue, sources = device.transfer_queue, origin.sources()
        memory.written = start_copy(queue, array.buffer, buffer, sources)
        _note_reader(origin, memory.written)
    return Storage(array.device, array.kind, None, buffer, memory)


def _copier(device: Device) -> CommandQueue:
    """The queue for copies of a device with buffers."""
    opencl = opencl_device(device)
    if opencl is None:
        raise GinghamError(f"device '{device.name}' has no OpenCL buffers")
    return opencl.transfer_queue


def _note_reader(memory: Memory, event: RunEvent | None) -> None:
    if event is not None:
        memory.readers[event.queue] = event


def _written_buffer(device: OpenCLDevice, host: Host) -> DeviceBuffer:
    """A buffer with the elements of an array, which may be changed afterwards."""
    from ...targets.host_arrays import fit_for_kernels
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_write

    fitting = fit_for_kernels(host)
    buffer = allocate(device, fitting.shape, fitting.dtype)
    event = start_write(device.transfer_queue, buffer, fitting)
    if event is not None:
        event.wait()
    return buffer


def _is_visible(device: Device) -> bool:
    """Whether the host sees what kernels write without asking the device for it."""
    opencl = opencl_device(device)
    if opencl is None:
        return True
    return opencl.details.shares_host_memory or opencl.kind == "cpu"


def _empty_host(buffer: DeviceBuffer) -> Host:
    from ...targets.host_arrays import aligned_empty

    return aligned_empty(buffer.shape, buffer.dtype)


def _copy(host: Host, device: OpenCLDevice) -> Host:
    import numpy as np

    copy = device.pool.host_array(host.shape, host.dtype, "tensors")
    np.copyto(copy, host)
    return copy
