"""Whether a device really computes: one small kernel, built, run and checked.

A runtime may list a device and then fail every build (the PoCL of PyPI on a processor
that its LLVM does not know), or never end one, so a device is trusted only after this.
The probe takes the road of every program: upload, build, launch, download.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from ....errors import GinghamError
from ..memory.copies import download, upload
from ..program import build_program

if TYPE_CHECKING:
    from ..command_queue import CommandQueue
    from ..handles.handle import DeviceHandle

_COUNT = 1000

_LIMIT_SECONDS = 120.0
"""The slowest known, a compiler on a busy machine, takes a few seconds."""

_SOURCE = """\
kernel void probe(global const float *input, global float *output, int scale) {
  const size_t i = get_global_id(0);
  output[i] = input[i] * scale + (float)i;
}
"""


def probe(device: DeviceHandle, queue: Callable[[], CommandQueue]) -> str | None:
    """None when the device computes as it should, else the reason why it does not.

    `queue` gives the queue to use, or the reason.
    """
    answers: list[str | None] = []
    # What hangs in a driver can not be stopped, but need not be waited for.
    thread = Thread(target=lambda: answers.append(_check(device, queue)), daemon=True)
    thread.start()
    thread.join(_LIMIT_SECONDS)
    if thread.is_alive():
        return f"a test kernel did not end within {_LIMIT_SECONDS:g} seconds"
    return answers[0] if answers else "a test kernel ended with an unknown error"


def _check(device: DeviceHandle, queue_of: Callable[[], CommandQueue]) -> str | None:
    import numpy as np

    values = (np.arange(_COUNT) % 37).astype(np.float32)
    expected = values * 3 + np.arange(_COUNT, dtype=np.float32)
    try:
        # Where warnings are errors, that of a known fault is not the device's failure.
        with suppress(Warning):
            _ = device.context
        queue = queue_of()
        kernel = build_program(device, _SOURCE).kernel("probe")
        # A device works, however little of it programs may use.
        with device.pool.exempt():
            source = upload(queue, values)
            # What an earlier probe left in memory would pass for a result.
            target = upload(queue, np.full(_COUNT, -1, np.float32))
        queue.enqueue(kernel, (_COUNT,), None, (source, target, np.int32(3)))
        result = download(queue, target)
    except GinghamError as error:
        return error.message
    except Exception as error:  # whatever a driver makes of it is told, not raised
        return f"a test kernel failed: {type(error).__name__}: {error}"
    # Small integers are exact in float32, so equality is the right test.
    wrong = np.flatnonzero(result != expected)
    if wrong.size > 0:
        first = int(wrong[0])
        return (
            f"a test kernel gave {wrong.size} wrong values of {_COUNT}: element "
            f"{first} is {float(result[first])}, expected {float(expected[first])}"
        )
    return None
