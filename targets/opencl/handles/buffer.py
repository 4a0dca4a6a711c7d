"""Memory of a device.

A device whose memory is the host's (every CPU, an integrated GPU) works on NumPy memory
in place: `wrap` makes a buffer of a caller's array, and `allocate` makes an aligned
array and wraps that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ....errors import GinghamError
from ...host_arrays import (
    as_bytes,
    check_element_type,
    format_bytes,
    format_shape,
)
from ..status import as_gingham_error
from .pool import OutOfBudget

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import DTypeLike

    from ...host_arrays import Array
    from .handle import DeviceHandle
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

    device: DeviceHandle
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    handle: cl.Buffer
    host: Array | None
    lease: object = None
    token: object = field(default_factory=object, init=False)
    """What no other buffer has, for who may know this one and not keep it alive."""

    @property
    def size_in_bytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def viewed(self, shape: tuple[int, ...]) -> DeviceBuffer:
        """The same memory under another shape of as many elements."""
        host = None if self.host is None else self.host.reshape(shape)
        return replace(self, shape=shape, host=host)


def allocate(
    device: DeviceHandle,
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


def wrap_for_reading(device: DeviceHandle, array: Array) -> DeviceBuffer:
    """A buffer over an array that kernels only read, where memory is shared.

    The array has to be contiguous and aligned.
    """
    _check_size(device, array.shape, array.dtype)
    # Not READ_ONLY: Intel's CPU runtime then copies memory that is not aligned to 64
    # bytes. Without a flag pyopencl does not ask for a writable array.
    return _wrap(device, array, 0)


def wrap(device: DeviceHandle, array: Array) -> DeviceBuffer:
    """A buffer over an array that kernels may write, where memory is shared.

    The array has to be contiguous, aligned and writable.
    """
    import pyopencl as cl

    _check_size(device, array.shape, array.dtype)
    return _wrap(device, array, cl.mem_flags.READ_WRITE)


def _wrap(
    device: DeviceHandle, host: Array, access: cl.mem_flags | int
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
    device: DeviceHandle,
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


def _check_size(
    device: DeviceHandle, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    needed = math.prod(shape) * dtype.itemsize
    if needed > device.details.max_allocation_bytes:
        raise _too_large(device, shape, dtype)


def _allocation_error(
    device: DeviceHandle, shape: tuple[int, ...], dtype: np.dtype[Any], error: cl.Error
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
    device: DeviceHandle, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> GinghamError:
    needed = format_bytes(math.prod(shape) * dtype.itemsize)
    largest = format_bytes(device.details.max_allocation_bytes)
    total = format_bytes(device.details.global_memory_bytes)
    return GinghamError(
        f"device {device.name!r} can not hold a buffer of shape {format_shape(shape)} "
        f"and type {dtype.name}: it needs {needed}, and the device gives at most "
        f"{largest} to one buffer, of {total} in all"
    )
