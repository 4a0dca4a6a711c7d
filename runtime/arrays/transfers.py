"""Arrays from NumPy to devices, from one device to another, and back to NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ..devices import Device, default_device
from .array import Array
from .memory import SUBMISSION, Memory, wait_for_host

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...targets.opencl.devices.device import OpenCLDevice
    from ...targets.opencl.events import RunEvent
    from ...targets.opencl.memory.buffer import DeviceBuffer

    Host = NDArray[Any]


def as_device_array(
    x: Any, device: str | Device | None, dtype: Any, copy: bool | None
) -> Array:
    """See `gingham.asarray`."""
    if isinstance(x, Array):
        return _converted(x, device, dtype, copy)
    chosen = _chosen(device) or default_device()
    source = _in_numpy(x)
    host = _as_host(source, dtype, copy)
    is_new = not _shares(host, source)
    if copy is False and is_new and host.size:
        raise _would_copy(f"{type(x).__name__} is no array that fits")
    return from_host(host, chosen, is_new, copy)


def from_host(
    host: Host, device: Device, is_new: bool = False, copy: bool | None = None
) -> Array:
    """An array of NumPy on a device, in place where `copy` and the device allow it.

    `is_new` says that nobody else has it, so that it needs no further copy.
    """
    opencl = opencl_device(device)
    kind = host.shape, host.dtype, device
    if opencl is None:
        own = host.copy() if copy is True and not is_new else host
        return Array(device, kind, own, None, Memory())
    if opencl.details.host_unified_memory:
        return _wrapped(host, opencl, is_new, copy)
    if copy is False:
        raise _would_copy(f"device '{device.name}' has memory of its own")
    buffer = _written_buffer(opencl, host)
    return Array(device, kind, None, buffer, Memory())


def empty(shape: Sequence[int], dtype: np.dtype[Any], device: Device) -> Array:
    """An array whose elements are undefined.

    Raises GinghamError where there is not that much memory.
    """
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.memory.host_memory import aligned_empty

    opencl = opencl_device(device)
    kind = tuple(shape), dtype, device
    if opencl is None:
        return Array(device, kind, aligned_empty(shape, dtype), None, Memory())
    buffer = allocate(opencl, kind[0], dtype)
    return Array(device, kind, buffer.host, buffer, Memory())


def host_array(array: Array) -> Host:
    """The contents of an array that is ready."""
    from ...targets.opencl.transfers import start_read

    array.check()
    if array.host is not None:
        if not _is_visible(array.device):
            from ...targets.opencl.memory.buffer import make_visible

            make_visible(array.buffer)
        return array.host.view()
    buffer = array.buffer
    host = _empty_host(buffer)
    with SUBMISSION:
        sources = array.memory.sources()
        event = start_read(buffer.device.transfer_queue, buffer, host, sources)
        _note_reader(array.memory, event)
    if event is not None:
        event.wait()
    return host


def moved(array: Array, device: str | Device, copy: bool | None) -> Array:
    """See `Array.to`."""
    chosen = _chosen(device)
    if chosen is None:
        raise GinghamError("expected a device, got None")
    if chosen is array.device and copy is not True:
        array.check()
        return array
    # Closed, or known to have failed: that is an error here.
    array.memory.sources()
    source, target = opencl_device(array.device), opencl_device(chosen)
    shares = _is_visible(array.device) and (
        target is None or target.details.host_unified_memory
    )
    if shares and _fits(array.host, target) and copy is not True:
        return _shared(array, chosen, target)
    if source is None or target is None:
        # The interpreter is never ahead of its caller.
        return from_host(array.numpy(), chosen, False, copy)
    if copy is False:
        raise _would_copy(f"'{source.name}' and '{target.name}' share no memory")
    if source is target and array.host is None:
        return _duplicate(array, source)
    return _copied(array, source, target)


def overwrite(target: Array, result: Host) -> None:
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


def write_into(target: Array, array: Array) -> None:
    """Copy an array into another of its shape and type, on whatever device.

    It comes after all that uses the target, and is started only, but for arrays of the
    reference interpreter. Raises GinghamError where the array is known to have failed.
    """
    from ...targets.opencl.transfers import start_copy, start_read, start_write

    source, device = opencl_device(array.device), opencl_device(target.device)
    if device is None:
        overwrite(target, array.numpy())
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
            read = start_read(
                array.buffer.device.transfer_queue, array.buffer, host, sources
            )
            _note_reader(origin, read)
            sources = () if read is None else (read,)
            event = start_write(queue, buffer, host, sources, behind)
        _note_reader(origin, event)
        memory.written = event


def opencl_device(device: Device) -> OpenCLDevice | None:
    """The device as an OpenCL device; None for the reference interpreter."""
    from ...targets.opencl.devices.device import OpenCLDevice

    if device.is_reference:
        return None
    if not isinstance(device, OpenCLDevice):
        raise GinghamError(f"device '{device.name}' cannot hold arrays")
    return device


def _wrapped(
    host: Host, device: OpenCLDevice, is_new: bool, copy: bool | None
) -> Array:
    from ...targets.opencl.memory.buffer import upload, wrap
    from ...targets.opencl.memory.host_memory import fit_for_kernels

    fitting = fit_for_kernels(host)
    if copy is False and fitting is not host:
        raise _would_copy(
            "the elements do not lie one behind the other, or are not aligned"
        )
    if copy is True and fitting is host and not is_new:
        fitting = _copy(host, device)
    if fitting.flags.writeable:
        buffer = wrap(device, fitting)
    else:
        buffer = upload(device.queue, fitting)
    kind = fitting.shape, fitting.dtype, device
    return Array(device, kind, fitting, buffer, Memory())


def _fits(host: Host | None, device: OpenCLDevice | None) -> bool:
    """Whether an array of NumPy can be used in place, by kernels or else by NumPy."""
    from ...targets.opencl.memory.host_memory import fit_for_kernels

    return host is not None and (device is None or fit_for_kernels(host) is host)


def _shared(array: Array, device: Device, opencl: OpenCLDevice | None) -> Array:
    """The same memory for another device, whose runs are put in order with others."""
    from ...targets.opencl.memory.buffer import upload, wrap

    host, memory = array.host, array.memory
    if host is None:
        raise GinghamError("expected an array in the host's memory")
    buffer = None
    if opencl is not None:
        is_writable = host.flags.writeable
        buffer = wrap(opencl, host) if is_writable else upload(opencl.queue, host)
    return Array(device, (array.shape, array.dtype, device), host, buffer, memory)


def _copied(array: Array, source: OpenCLDevice, target: OpenCLDevice) -> Array:
    """A copy on another device, by way of the host where it has to be."""
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_read, start_write

    memory, origin = Memory(), array.memory
    buffer = allocate(target, array.shape, array.dtype)
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
    kind = array.shape, array.dtype, target
    return Array(target, kind, buffer.host, buffer, memory)


def _duplicate(array: Array, device: OpenCLDevice) -> Array:
    """A copy on the same device, which has memory of its own.

    It must not go through the host: NVIDIA's driver takes the bytes of a write when it
    is told of it, though the read before it has not put them there yet.
    """
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_copy

    memory, origin = Memory(), array.memory
    buffer = allocate(device, array.shape, array.dtype)
    with SUBMISSION:
        queue, sources = device.transfer_queue, origin.sources()
        memory.written = start_copy(queue, array.buffer, buffer, sources)
        _note_reader(origin, memory.written)
    return Array(array.device, array.kind, None, buffer, memory)


def _note_reader(memory: Memory, event: RunEvent | None) -> None:
    if event is not None:
        memory.readers[event.queue] = event


def _written_buffer(device: OpenCLDevice, host: Host) -> DeviceBuffer:
    """A buffer with the elements of an array, which may be changed afterwards."""
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.memory.host_memory import fit_for_kernels
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
    from ...targets.opencl.memory.host_memory import aligned_empty

    return aligned_empty(buffer.shape, buffer.dtype)


def _copy(host: Host, device: OpenCLDevice) -> Host:
    import numpy as np

    copy = device.pool.host_array(host.shape, host.dtype, "tensors")
    np.copyto(copy, host)
    return copy


# From other libraries


def _in_numpy(x: Any) -> Any:
    """An array of another library as one of NumPy, where it can be; else as it is."""
    import numpy as np

    from .dlpack import imported

    is_foreign = not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__")
    return imported(x) if is_foreign else x


def _as_host(x: Any, dtype: Any, copy: bool | None) -> Host:
    """A value as an array of NumPy that a tensor can hold."""
    import numpy as np

    from ..arguments import as_array

    if dtype is None:
        return as_array("x", x)
    wanted = _dtype(dtype)
    if not isinstance(x, np.ndarray):
        # NumPy refuses Python's integers that do not fit, and wraps those of arrays.
        try:
            x = np.asarray(x, wanted)
        except (OverflowError, RuntimeError, TypeError, ValueError) as error:
            raise GinghamError(f"'x' is no array of {wanted.name}: {error}") from error
    host = as_array("x", x)
    if host.dtype == wanted:
        return host
    if copy is False:
        raise _would_copy(f"elements are {host.dtype.name}, not {wanted.name}")
    return as_array("x", host.astype(wanted))


def _dtype(dtype: Any) -> np.dtype[Any]:
    import numpy as np

    try:
        return np.dtype(dtype)
    except TypeError as error:
        raise GinghamError(f"{dtype!r} is no type of elements") from error


def _converted(
    x: Array, device: str | Device | None, dtype: Any, copy: bool | None
) -> Array:
    if dtype is not None and _dtype(dtype) != x.dtype:
        return as_device_array(x.numpy(), device or x.device, dtype, copy)
    return moved(x, device or x.device, copy)


def _chosen(device: str | Device | None) -> Device | None:
    from ..function import chosen_device

    return chosen_device(device)


def _shares(host: Host, x: Any) -> bool:
    """Whether an array is in the memory of what it was made of."""
    import numpy as np

    return isinstance(x, np.ndarray) and np.may_share_memory(host, x)


def _would_copy(why: str) -> GinghamError:
    return GinghamError(
        f"the array can not be used in place: {why}", hint="leave out copy=False"
    )
