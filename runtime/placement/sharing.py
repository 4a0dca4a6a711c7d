"""Which devices are the same cores: found out by letting them work at once.

Two runtimes for one CPU take turns, whatever they are told; parts of a device need not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import GinghamError
from ..backends import backend_of
from ..load import is_calm, load_of
from .database import Database, database
from .links import device_text

if TYPE_CHECKING:
    from ...targets.backend import BusyWork
    from ..device import Device

_TRIES = 7
_DOUBTS = 2
_DOUBTED_SECONDS = 30.0
"""How long is believed what was measured beside other work."""
_doubted: dict[tuple[str, str], tuple[float, float]] = {}
"""That, and when it was measured."""
_SAME = 0.7
"""Half of the sum is what devices of their own take, all of it what one takes."""


def processors(devices: Sequence[Device]) -> dict[str, str]:
    """For each device by its name, a name that those which are the same cores share.

    Pairs of CPU devices are measured when they are asked for first, some 0.1 s each.
    Raises GinghamError where a device fails.
    """
    found = {device.name: device.name for device in devices}
    cpus = [each for each in devices if each.kind == "cpu" and each.has_buffers]
    known = database()
    for number, second in enumerate(cpus):
        for first in cpus[:number]:
            if found[first.name] == found[second.name]:
                continue
            if _share(known, first, second) > _SAME:
                old, new = found[second.name], found[first.name]
                found = {name: new if e == old else e for name, e in found.items()}
    return found


def _share(known: Database, first: Device, second: Device) -> float:
    """What both take at once, as a part of one after the other."""
    names = f"at once: {device_text(first)}", device_text(second)
    found = known.link(*names)
    if found is not None:
        return found[0]
    share, when = _doubted.get(names, (1.0, -math.inf))
    if time.monotonic() - when < _DOUBTED_SECONDS:
        return share
    share = measured_share(first, second)
    for _ in range(_DOUBTS if share > _SAME else 0):
        # Other work makes them look like one, and nothing like two.
        share = min(share, measured_share(first, second))
    if share <= _SAME or is_calm(load_of(first)):
        known.add_link(*names, share, math.inf)
    else:
        _doubted[names] = share, time.monotonic()
    return share


def measured_share(first: Device, second: Device) -> float:
    """Measure what both take at once, as a part of one after the other."""
    loads = [_busy(first), _busy(second)]
    both = math.inf
    alone = [math.inf, math.inf]
    # In turns, as the speed of a machine changes.
    for _ in range(_TRIES):
        for number, load in enumerate(loads):
            alone[number] = min(alone[number], _seconds([load]))
        both = min(both, _seconds(loads))
    return both / sum(alone)


def _busy(device: Device) -> BusyWork:
    device.require_usable()
    work = backend_of(device).busy_work()
    if work is None:
        raise GinghamError(f"device '{device.name}' cannot be given work to wait for")
    return work


def _seconds(loads: Sequence[BusyWork]) -> float:
    """What the loads take when they start at once."""
    start = time.perf_counter()
    for load in loads:
        load.start()
    for load in loads:
        load.finish()
    return time.perf_counter() - start
