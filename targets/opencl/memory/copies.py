"""The ways of NumPy arrays into the memory of a device and out of it, in queue order.

Where memory is shared nothing is copied: `upload` wraps the caller's array, and
`download` hands out the array that a buffer wraps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....observation import observe_copy
from ...host_arrays import aligned_empty, as_bytes, fit_for_kernels
from ..handles.buffer import DeviceBuffer, allocate, wrap_for_reading
from ..status import as_gingham_error
from .staging import is_staged, read_staged, write_staged

if TYPE_CHECKING:
    import pyopencl as cl

    from ...host_arrays import Array
    from ..command_queue import CommandQueue


def upload(queue: CommandQueue, array: Array, alignment: int = 1) -> DeviceBuffer:
    """`array` on the queue's device, for kernels to read only.

    It is used in place where memory is shared and the array is contiguous and aligned
    (its first byte at a multiple of the element size and of `alignment` bytes), and
    copied otherwise. The array must not change until the kernels that read it have
    ended. Raises GinghamError when the device can not hold it.
    """
    device = queue.device
    fitting = fit_for_kernels(array, alignment)
    if device.details.host_unified_memory:
        return wrap_for_reading(device, fitting)
    buffer = allocate(device, fitting.shape, fitting.dtype)
    if is_staged(device, fitting.nbytes):
        write_staged(buffer, as_bytes(fitting))
    elif fitting.size > 0:
        queue.write(buffer, as_bytes(fitting))
    return buffer


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


def download(
    queue: CommandQueue, buffer: DeviceBuffer, target: Array | None = None
) -> Array:
    """The buffer's contents once all commands of the queue so far have ended.

    A copy is in `target`, which is contiguous, or in a new array. Where memory is
    shared this is the buffer's own memory: a kernel that writes to the buffer later
    changes the array. Raises GinghamError where a command failed.
    """
    if buffer.host is None:
        host = target
        if host is None:
            host = aligned_empty(buffer.shape, buffer.dtype)
        if is_staged(buffer.device, host.nbytes):
            queue.finish()
            read_staged(buffer, as_bytes(host))
            return host
        if host.size > 0:
            queue.read(buffer, as_bytes(host))
        queue.finish()
        return host
    queue.finish()
    if not buffer.device.is_visible and buffer.host.size > 0:
        make_visible(queue, buffer)
    return buffer.host


def make_visible(queue: CommandQueue, buffer: DeviceBuffer) -> None:
    """Bring what kernels wrote into the host array that the buffer wraps.

    Comes after all commands of the queue so far.

    A mapping of such a buffer is the array's own memory by OpenCL's definition, so the
    mapped view itself is not needed.
    """
    import numpy as np
    import pyopencl as cl

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
