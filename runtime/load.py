"""How busy devices are with other work: a CPU by the system, others by what runs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ..targets.cores import core_count

if TYPE_CHECKING:
    from .device import Device

_STATISTICS = Path("/proc/stat")
_WINDOW_SECONDS = 0.1
_OLD_SECONDS = 2.0
_STEPS = 4
_MOST = 0.75

_CALM = 0.25

_lock = Lock()
_running: Counter[str] = Counter()


@contextmanager
def running(device: str) -> Generator[None]:
    """Count what runs on a device as load for what is placed meanwhile."""
    with _lock:
        _running[device] += 1
    try:
        yield
    finally:
        with _lock:
            _running[device] -= 1


def load_of(device: Device) -> float:
    """The share of a device's time, from 0 to 0.75, that other work takes.

    In steps of a quarter, so that small changes do not change decisions. Of a CPU that
    is what other processes take of the cores that this one may use.
    """
    own = _running[device.name]
    share = own / (own + 1)
    if device.kind in ("cpu", "interpreter"):
        share = 1 - (1 - share) * (1 - _others_share())
    return min(round(share * _STEPS) / _STEPS, _MOST)


def load_of_now(device: Device) -> float:
    """As `load_of`, without waiting: since it was asked for last, if not just now."""
    _look()
    return load_of(device)


@dataclass
class Meanwhile:
    """What others did while something ran: known when it has ended."""

    share: float = 0.0
    """Of the cores that this process may use, from 0 to 1."""


@contextmanager
def others_meanwhile() -> Generator[Meanwhile]:
    """Find out what other processes take of this one's cores while the body runs."""
    meanwhile = Meanwhile()
    before = _sample()
    yield meanwhile
    after = _sample()
    if before is None or after is None:
        meanwhile.share = _by_average()
    else:
        meanwhile.share = _note(before, after)


def is_calm(load: float) -> bool:
    """Whether times beside such a load hold for ever, and not just for now."""
    return load <= _CALM


def available_cores() -> int:
    """The cores that this process may use."""
    cores = core_count()
    return min(cores, _quota() or cores)


def _quota() -> int | None:
    """The cores that the control group grants, where it limits them."""
    try:
        text = Path("/sys/fs/cgroup/cpu.max").read_text()
        quota, period = text.split()[:2]
        return max(1, int(quota) // int(period))
    except (OSError, ValueError, ZeroDivisionError):
        return None


@dataclass(frozen=True)
class _Sample:
    when: float
    busy: float
    own: float


_known: tuple[float, float] | None = None
"""When it was found out, and what."""
_last: _Sample | None = None
"""What was looked at then."""


def _others_share() -> float:
    """What other processes take of this one's cores, lately."""
    with _lock:
        known = _known
    if known is not None and time.monotonic() - known[0] < _OLD_SECONDS:
        return known[1]
    before = _sample()
    if before is None:
        return _by_average()
    time.sleep(_WINDOW_SECONDS)
    return _note(before, _sample() or before)


def _look() -> None:
    """Find out what others have taken since the last look."""
    with _lock:
        before = _last
    now = _sample()
    if before is None or now is None or now.when - before.when < _WINDOW_SECONDS:
        return
    _note(before, now)


def _note(before: _Sample, now: _Sample) -> float:
    """What others took between two looks."""
    global _known, _last
    elapsed = max(now.when - before.when, 1e-3) * available_cores()
    others = (now.busy - before.busy) - (now.own - before.own)
    share = min(max(others / elapsed, 0.0), 1.0)
    with _lock:
        _known, _last = (now.when, share), now
    return share


def _sample() -> _Sample | None:
    """The seconds that this process' cores and this process have worked so far."""
    try:
        lines = _STATISTICS.read_text().splitlines()
        ticks = os.sysconf("SC_CLK_TCK")
        allowed = os.sched_getaffinity(0)
        busy = 0
        for line in lines:
            name, *fields = line.split()
            if (
                name.startswith("cpu")
                and name[3:].isdigit()
                and int(name[3:]) in allowed
            ):
                user, nice, system = (int(field) for field in fields[:3])
                busy += user + nice + system
    except (OSError, ValueError, AttributeError):
        return None
    return _Sample(time.monotonic(), busy / ticks, time.process_time())


def _by_average() -> float:
    """The same from the average of the last minute, this process included."""
    try:
        return min(os.getloadavg()[0] / available_cores(), 1.0)
    except (OSError, AttributeError):
        return 0.0
