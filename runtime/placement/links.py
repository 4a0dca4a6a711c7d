"""How long data takes from one device to another, measured once for a driver.

Devices that work on the host's memory need no copies: what their link takes is telling
the other that data is there. All other data goes through the host's memory.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from threading import Event as ThreadEvent
from threading import Thread
from typing import TYPE_CHECKING, Any

from ...targets.hardware.machine import HOST, Link
from ..backends import memory_of
from ..records import device_parts
from .database import Database, database

if TYPE_CHECKING:
    from ...targets.device_memory import DeviceMemory
    from ..device import Device

_FEW = 1 << 10
"""The elements of a small copy."""
_MANY = 1 << 20
"""And of one as programs make them: what is far larger goes faster, by threads."""
_TRIES = 7
_HANDOVERS = 50
_LEAST_SECONDS = 1e-7


def links_between(devices: Sequence[Device]) -> dict[tuple[str, str], Link]:
    """The links between the devices, and of each with the host.

    What is not known yet is measured, some 50 ms for a device. Raises GinghamError
    where a device fails.
    """
    known = database()
    names = [device.name for device in devices]
    arriving = {d.name: _link(known, HOST, d) for d in devices}
    leaving = {d.name: _link(known, d, HOST) for d in devices}
    links = {(HOST, name): arriving[name] for name in names}
    links |= {(name, HOST): leaving[name] for name in names}
    handover = _handover(known) if len(names) > 1 else 0.0
    for source in names:
        for target in names:
            if source != target:
                links[source, target] = _through_host(
                    leaving[source], arriving[target], handover
                )
    return links


def device_text(device: Device) -> str:
    """A device with its driver: where this is the same, measurements hold."""
    parts = device_parts(device)
    # The first part of a device may be faster than the second.
    _, _, part = device.name.partition("/")
    return "; ".join([*parts, part] if part else parts)


def _through_host(first: Link, second: Link, handover: float) -> Link:
    slow = 1 / first.bytes_per_second + 1 / second.bytes_per_second
    return Link(
        first.latency_seconds + second.latency_seconds + handover,
        1 / slow if slow else math.inf,
    )


def _link(known: Database, source: Device | str, target: Device | str) -> Link:
    names = _text(source), _text(target)
    found = known.link(*names)
    if found is None:
        found = _measured(source, target)
        known.add_link(*names, *found)
    return Link(*found)


def _text(place: Device | str) -> str:
    return place if isinstance(place, str) else device_text(place)


def _measured(source: Device | str, target: Device | str) -> tuple[float, float]:
    place = target if isinstance(source, str) else source
    memory = None if isinstance(place, str) else memory_of(place)
    if memory is None or isinstance(place, str):
        return _LEAST_SECONDS, math.inf
    place.require_usable()
    seconds = _arrival if isinstance(source, str) else _departure
    few = max(seconds(memory, _FEW), _LEAST_SECONDS)
    if memory.is_shared:
        return few, math.inf
    many = seconds(memory, _MANY)
    return few, 4 * _MANY / max(many - few, _LEAST_SECONDS)


def _arrival(memory: DeviceMemory[Any, Any], count: int) -> float:
    """The seconds to give so many floats of the host to a device."""
    import numpy as np

    array = np.ones(count, np.float32)
    queue = memory.queue

    def arrive() -> None:
        memory.upload(array)
        queue.finish()

    return _fastest(arrive) - _fastest(queue.finish)


def _departure(memory: DeviceMemory[Any, Any], count: int) -> float:
    """The seconds to get so many floats of a device."""
    import numpy as np

    queue = memory.queue
    buffer = memory.upload(np.ones(count, np.float32))
    queue.finish()
    return _fastest(lambda: memory.download(buffer)) - _fastest(queue.finish)


def _handover(known: Database) -> float:
    """The seconds for one thread to let another go on."""
    name = "another thread"
    found = known.link(HOST, name)
    if found is None:
        found = _measured_handover(), math.inf
        known.add_link(HOST, name, *found)
    return found[0]


def _measured_handover() -> float:
    there, back = ThreadEvent(), ThreadEvent()

    def answer() -> None:
        for _ in range(_HANDOVERS):
            there.wait()
            there.clear()
            back.set()

    thread = Thread(target=answer, daemon=True)
    thread.start()
    start = time.perf_counter()
    for _ in range(_HANDOVERS):
        there.set()
        back.wait()
        back.clear()
    seconds = (time.perf_counter() - start) / _HANDOVERS / 2
    thread.join()
    return seconds


def _fastest(action: Callable[[], object]) -> float:
    """The seconds of the fastest of several tries, after one that is not counted."""
    action()
    found = math.inf
    for _ in range(_TRIES):
        start = time.perf_counter()
        action()
        found = min(found, time.perf_counter() - start)
    return found
