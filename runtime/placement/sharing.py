"""Which devices are the same cores: found out by letting them work at once.

Two runtimes for one CPU take turns, whatever they are told; parts of a device need not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..arrays.transfers import opencl_device
from ..load import is_calm, load_of
from .database import Database, database
from .links import device_text

if TYPE_CHECKING:
    from ...targets.opencl.command_queue import CommandQueue
    from ...targets.opencl.devices.device import OpenCLDevice
    from ...targets.opencl.kernel import Kernel
    from ..device import Device

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
"""How long each works alone, at least."""
_TRIES = 7
_DOUBTS = 2
_SAME = 0.7
"""Half of the sum is what devices of their own take, all of it what one takes."""


def processors(devices: Sequence[Device]) -> dict[str, str]:
    """For each device by its name, a name that those which are the same cores share.

    Pairs of CPU devices are measured when they are asked for first, some 0.1 s each.
    Raises GinghamError where a device fails.
    """
    found = {device.name: device.name for device in devices}
    opencl = [opencl_device(each) for each in devices if each.kind == "cpu"]
    cpus = [each for each in opencl if each is not None]
    known = database()
    for number, second in enumerate(cpus):
        for first in cpus[:number]:
            if found[first.name] == found[second.name]:
                continue
            if _share(known, first, second) > _SAME:
                old, new = found[second.name], found[first.name]
                found = {name: new if e == old else e for name, e in found.items()}
    return found


def _share(known: Database, first: OpenCLDevice, second: OpenCLDevice) -> float:
    """What both take at once, as a part of one after the other."""
    names = f"at once: {device_text(first)}", device_text(second)
    found = known.link(*names)
    if found is None:
        share = measured_share(first, second)
        for _ in range(_DOUBTS if share > _SAME else 0):
            # Other work makes them look like one, and nothing like two.
            share = min(share, measured_share(first, second))
        found = share, math.inf
        lasting = share <= _SAME or is_calm(load_of(first))
        known.add_link(*names, *found, lasting)
    return found[0]


def measured_share(first: OpenCLDevice, second: OpenCLDevice) -> float:
    """Measure what both take at once, as a part of one after the other."""
    loads = [_Load(first), _Load(second)]
    both = math.inf
    alone = [math.inf, math.inf]
    # In turns, as the speed of a machine changes.
    for _ in range(_TRIES):
        for number, load in enumerate(loads):
            alone[number] = min(alone[number], _seconds([load]))
        both = min(both, _seconds(loads))
    return both / sum(alone)


class _Load:
    """A kernel that keeps a device busy for some milliseconds."""

    def __init__(self, device: OpenCLDevice) -> None:
        import numpy as np

        from ...targets.opencl.memory.buffer import allocate
        from ...targets.opencl.program import build_program

        device.require_usable()
        self.queue: CommandQueue = device.queue
        self._kernel: Kernel = build_program(device, _SOURCE).new_kernel("work")
        self._values = allocate(device, (_ITEMS,), np.float32)
        self._steps = _FIRST_STEPS
        while _seconds([self]) < _SECONDS and self._steps < _MOST_STEPS:
            self._steps *= 2

    def start(self) -> None:
        """Let the device begin."""
        import numpy as np

        arguments = self._values, np.int32(self._steps)
        event = self.queue.enqueue(self._kernel, (_ITEMS,), (_GROUP,), arguments)
        event.start()


def _seconds(loads: Sequence[_Load]) -> float:
    """What the loads take when they start at once."""
    start = time.perf_counter()
    for load in loads:
        load.start()
    for load in loads:
        load.queue.finish()
    return time.perf_counter() - start
