"""Launches without an event, by OpenCL's C interface.

pyopencl makes an event for each launch. On NVIDIA's driver that takes a third of the
host's time for it, and lets the GPU rest 3 us between two kernels instead of 1.5. The
queue tells when such launches have ended by an event that is behind them: see
`CommandQueue.mark`.
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
"""`clEnqueueNDRangeKernel`: 0 where the launch is enqueued, else an error's number."""


@cache
def bare_enqueue() -> Enqueue | None:
    """The function that pyopencl launches by; None where it cannot be found."""
    from pyopencl import _cl

    # Who asks a library for a name is given that of the libraries it needs, too, but
    # not on Windows.
    try:
        return ctypes.CDLL(_cl.__file__).clEnqueueNDRangeKernel
    except (OSError, AttributeError):
        return None


def bare_arguments(
    queue: cl.CommandQueue, kernel: cl.Kernel, global_size: Sizes, local_size: Sizes
) -> tuple[object, ...]:
    """What `bare_enqueue` is called with: who has it keeps queue and kernel alive."""
    count = len(global_size)
    sizes = ctypes.c_size_t * count
    return (
        ctypes.c_void_p(queue.int_ptr),
        ctypes.c_void_p(kernel.int_ptr),
        ctypes.c_uint(count),
        None,
        sizes(*global_size),
        sizes(*local_size),
        ctypes.c_uint(0),
        None,
        None,
    )
