"""Launches and copies without an event, by OpenCL's C interface.

pyopencl makes an event for each launch. On NVIDIA's driver that takes a third of the
host's time for it, and lets the GPU rest 3 us between two kernels instead of 1.5. The
queue tells when such launches have ended by an event that is behind them: see
`CommandQueue.mark`. What a call is given is prepared once, which saves a copy 3 us.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyopencl as cl

    Sizes: TypeAlias = Sequence[int]

Enqueue: TypeAlias = Callable[..., int]
"""A function of OpenCL: 0 where the command is enqueued, else an error's number."""

_INVALID_OPERATION = -59


def bare_enqueue() -> Enqueue | None:
    """The function that pyopencl launches by; None where it cannot be found."""
    return _function("clEnqueueNDRangeKernel")


def bare_write() -> Enqueue:
    """The function that copies from the host, where `bare_enqueue` finds its own."""
    return _function("clEnqueueWriteBuffer") or _refuse


def bare_read() -> Enqueue:
    """The function that copies to the host, where `bare_enqueue` finds its own."""
    return _function("clEnqueueReadBuffer") or _refuse


def _refuse(*_: object) -> int:
    return _INVALID_OPERATION


@cache
def _function(name: str) -> Enqueue | None:
    from pyopencl import _cl

    # Who asks a library for a name is given that of the libraries it needs, too, but
    # not on Windows.
    try:
        return getattr(ctypes.CDLL(_cl.__file__), name)
    except (OSError, AttributeError):
        return None


def launch_arguments(
    queue: cl.CommandQueue, kernel: cl.Kernel, global_size: Sizes, local_size: Sizes
) -> tuple[object, ...]:
    """What `bare_enqueue` is called with: who has it keeps queue and kernel alive."""
    count = len(global_size)
    sizes = ctypes.c_size_t * count
    # Of what is converted already, a call takes a quarter less of the host's time.
    pointer = ctypes.c_void_p.from_param
    return (
        pointer(queue.int_ptr),
        pointer(kernel.int_ptr),
        count,
        None,
        ctypes.byref(sizes(*global_size)),
        ctypes.byref(sizes(*local_size)),
        0,
        None,
        None,
    )


def copy_arguments(
    queue: cl.CommandQueue,
    buffer: cl.Buffer,
    piece: range,
    address: int,
    *,
    is_blocking: bool,
) -> tuple[object, ...]:
    """What `bare_write` and `bare_read` are called with, for bytes of a buffer.

    `address` is that of the first of them on the host.
    """
    return (
        ctypes.c_void_p(queue.int_ptr),
        ctypes.c_void_p(buffer.int_ptr),
        ctypes.c_uint(is_blocking),
        ctypes.c_size_t(piece.start),
        ctypes.c_size_t(len(piece)),
        ctypes.c_void_p(address),
        ctypes.c_uint(0),
        None,
        None,
    )
