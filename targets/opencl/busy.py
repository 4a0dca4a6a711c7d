"""A kernel that keeps a device busy for some milliseconds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from .handles.buffer import allocate
from .program import build_program

if TYPE_CHECKING:
    from .devices.device import OpenCLDevice

_SOURCE = """\
kernel void work(global float *values, int steps) {
  const size_t i = get_global_id(0);
  float sum = values[i];
  for (int step = 0; step < steps; step++) {
    sum = sum * 0.5f + 1.0f;
  }
  values[i] = sum;
}
"""
_ITEMS = 4096
_GROUP = 16
_FIRST_STEPS = 256
_MOST_STEPS = 1 << 24
_SECONDS = 3e-3
"""How long it works alone, at least."""


class BusyKernel:
    """See `BusyWork`."""

    def __init__(self, device: OpenCLDevice) -> None:
        self._queue = device.queue
        self._kernel = build_program(device, _SOURCE).new_kernel("work")
        self._values = allocate(device, (_ITEMS,), np.float32)
        self._steps = _FIRST_STEPS
        while self._seconds() < _SECONDS and self._steps < _MOST_STEPS:
            self._steps *= 2

    def start(self) -> None:
        """See `BusyWork`."""
        arguments = self._values, np.int32(self._steps)
        event = self._queue.enqueue(self._kernel, (_ITEMS,), (_GROUP,), arguments)
        event.start()

    def finish(self) -> None:
        """See `BusyWork`."""
        self._queue.finish()

    def _seconds(self) -> float:
        start = time.perf_counter()
        self.start()
        self.finish()
        return time.perf_counter() - start
