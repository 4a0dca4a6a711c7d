"""Memory of a device, and the ways of NumPy arrays into it and out of it.

A device whose memory is the host's (every CPU, an integrated GPU) works on NumPy memory
in place: `upload` wraps the caller's array, and `allocate` makes an aligned array and
wraps that, so that `download` hands out a result that was never copied. Other devices
get copies in queue order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....errors import GinghamError
from ....observation import observe_copy
from ..status import as_gingham_error
from .host_memory import (
    aligned_empty,
    as_bytes,
    check_element_type,
    fit_for_kernels,
    format_bytes,
    format_shape,
)
from .pool import OutOfBudget

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import DTypeLike

    from ..command_queue import CommandQueue
    from ..devices.device import OpenCLDevice
    from .host_memory import Array
    from .pool import Purpose

# OpenCL has no buffer of no bytes; an empty tensor gets one that no kernel touches.
_SMALLEST_BUFFER = 64


@dataclass(eq=False, slots=True, weakref_slot=True)
class DeviceBuffer:
    """A row-major array in a device's memory.

    `host` is the NumPy array over the same memory where device and host share it. Who
    uses `handle` refers to the buffer until that use has ended: `lease` ends with it,
    and then the memory may be another's.
    """

    device: OpenCLDevice
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    handle: cl.Buffer
    host: Array | None
    lease: object = None

    @property
    def size_in_bytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def allocate(
    device: OpenCLDevice,
    shape: Sequence[int],
    dtype: DTypeLike,
    *,
    for_host: bool = True,
    purpose: Purpose = "tensors",
) -> DeviceBuffer:
    """An uninitialised buffer that kernels may read and write.

    Without `for_host` only kernels use it, so that the device may choose what memory it
    has. Raises GinghamError when the device can not hold it, or the budget of its
    memory does not allow it.
    """
    import numpy as np
    import pyopencl as cl

    element = np.dtype(dtype)
    check_element_type(element)
    sizes = tuple(int(size) for size in shape)
    _check_size(device, sizes, element)
    if not for_host or not device.details.host_unified_memory:
        return _create(device, sizes, element, purpose)
    try:
        host = device.pool.host_array(sizes, element, purpose)
    except OutOfBudget as error:
        raise _no_room(sizes, element, error) from error
    return _wrap(device, host, cl.mem_flags.READ_WRITE)


def upload(queue: CommandQueue, array: Array, alignment: int = 1) -> DeviceBuffer:
    """`array` on the queue's device, for kernels to read only.

    It is used in place where memory is shared and the array is contiguous and aligned
    (its first byte at a multiple of the element size and of `alignment` bytes), and
    copied otherwise. The array must not change until the kernels that read it have
    ended. Raises GinghamError when the device can not hold it.
    """
    device = queue.device
    fitting = fit_for_kernels(array, alignment)
    _check_size(device, fitting.shape, fitting.dtype)
    if device.details.host_unified_memory:
        # Not READ_ONLY: Intel's CPU runtime then copies memory that is not aligned to
        # 64 bytes. Without a flag pyopencl does not ask for a writable array.
        return _wrap(device, fitting, 0)
    buffer = _create(device, fitting.shape, fitting.dtype, "tensors")
    if fitting.size > 0:
        queue.write(buffer, as_bytes(fitting))
    return buffer


def wrap(device: OpenCLDevice, array: Array) -> DeviceBuffer:
    """A buffer over an array that kernels may write, where memory is shared.

    The array has to be contiguous, aligned and writable.
    """
    import pyopencl as cl

    _check_size(device, array.shape, array.dtype)
    return _wrap(device, array, cl.mem_flags.READ_WRITE)


def copy_buffers(
    queue: CommandQueue,
    copies: Sequence[tuple[DeviceBuffer, DeviceBuffer]],
    wait_for: Sequence[cl.Event] = (),
) -> list[cl.Event]:
    """Enqueue copies of buffers into others, the first behind these events."""
    import pyopencl as cl

    handles: list[cl.Event] = []
    try:
        for source, target in copies:
            waits = None if handles else [*wait_for]
            size = source.size_in_bytes
            handles.append(
                cl.enqueue_copy(
                    queue.handle,
                    target.handle,
                    source.handle,
                    byte_count=size,
                    wait_for=waits,
                )
            )
            observe_copy(queue, "on the device", size, handles[-1])
    except cl.Error as error:
        raise as_gingham_error("copying a buffer", error) from error
    return handles


def download(queue: CommandQueue, buffer: DeviceBuffer) -> Array:
    """The buffer's contents once all commands of the queue so far have ended.

    Raises GinghamError where one of them failed.
    Where memory is shared this is the buffer's own memory: a kernel that writes to the
    buffer later changes the array.
    """
    if buffer.host is None:
        host = aligned_empty(buffer.shape, buffer.dtype)
        if host.size > 0:
            queue.read(buffer, as_bytes(host))
        queue.finish()
        return host
    queue.finish()
    if not buffer.device.details.shares_host_memory and buffer.host.size > 0:
        make_visible(buffer)
    return buffer.host


def _wrap(
    device: OpenCLDevice, host: Array, access: cl.mem_flags | int
) -> DeviceBuffer:
    """A buffer over the memory of `host`, which must fit for kernels."""
    import pyopencl as cl

    if host.size == 0:
        buffer = _create(device, host.shape, host.dtype, "tensors")
        buffer.host = host
        return buffer
    flags = access | cl.mem_flags.USE_HOST_PTR
    try:
        # Only what has no buffer protocol takes the way over bytes, which is slow.
        memory = host if host.dtype.kind in "biuf" else as_bytes(host)
        handle = cl.Buffer(device.context, flags, 0, memory)
    except cl.Error as error:
        raise _allocation_error(device, host.shape, host.dtype, error) from error
    return DeviceBuffer(device, host.shape, host.dtype, handle, host)


def _create(
    device: OpenCLDevice,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    purpose: Purpose,
) -> DeviceBuffer:
    """A buffer in the memory that the device chooses."""
    import pyopencl as cl

    def create(size: int) -> cl.Buffer:
        try:
            return cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size)
        except cl.Error as error:
            raise _allocation_error(device, shape, dtype, error) from error

    needed = max(math.prod(shape) * dtype.itemsize, _SMALLEST_BUFFER)
    try:
        handle, lease = device.pool.take(needed, purpose, create)
    except OutOfBudget as error:
        raise _no_room(shape, dtype, error) from error
    return DeviceBuffer(device, shape, dtype, handle, None, lease)


def make_visible(buffer: DeviceBuffer) -> None:
    """Bring what kernels wrote into the host array that the buffer wraps.

    Comes after all commands of the device's queue so far.

    A mapping of such a buffer is the array's own memory by OpenCL's definition, so the
    mapped view itself is not needed.
    """
    import numpy as np
    import pyopencl as cl

    queue = buffer.device.queue
    try:
        view, _ = cl.enqueue_map_buffer(
            queue.handle,
            buffer.handle,
            cl.map_flags.READ,
            0,
            (buffer.size_in_bytes,),
            np.dtype(np.uint8),
        )
        view.base.release(queue.handle)
    except cl.Error as error:
        action = f"reading a result from device {buffer.device.name!r}"
        raise as_gingham_error(action, error) from error


def _check_size(
    device: OpenCLDevice, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    needed = math.prod(shape) * dtype.itemsize
    if needed > device.details.max_allocation_bytes:
        raise _too_large(device, shape, dtype)


def _allocation_error(
    device: OpenCLDevice, shape: tuple[int, ...], dtype: np.dtype[Any], error: cl.Error
) -> GinghamError:
    refusal = _too_large(device, shape, dtype)
    reason = as_gingham_error("the allocation", error).message
    return GinghamError(f"{refusal.message}; {reason}")


def _no_room(
    shape: tuple[int, ...], dtype: np.dtype[Any], error: OutOfBudget
) -> OutOfBudget:
    what = f"for a buffer of shape {format_shape(shape)} and type {dtype.name}"
    return OutOfBudget(f"no memory {what}: {error.message}", hint=error.hint)


def _too_large(
    device: OpenCLDevice, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> GinghamError:
    needed = format_bytes(math.prod(shape) * dtype.itemsize)
    largest = format_bytes(device.details.max_allocation_bytes)
    total = format_bytes(device.details.global_memory_bytes)
    return GinghamError(
        f"device {device.name!r} can not hold a buffer of shape {format_shape(shape)} "
        f"and type {dtype.name}: it needs {needed}, and the device gives at most "
        f"{largest} to one buffer, of {total} in all"
    )
