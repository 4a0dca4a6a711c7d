"""Which of several ways to run a program is the fastest: found out by its own calls.

A way is one device for the whole, or several devices as decided. Every way gives the
same results, so that a call may try one. What is predicted says which ways are worth
it, and in what order; what whole calls take, measured, says which way stays:

* a way is open while it may be the fastest and has not been measured: it is predicted
  to take less than `WORTH` times what the fastest one takes;
* open ways are tried, the most promising one first: a run that warms up, which may
  compile, and `ENOUGH` that count;
* then the fastest is used, several devices only where they save `GAIN`;
* when its latest calls are slower than another way was, by the factor `SLOWER`, that
  one is tried again; each time it is waited longer until the next.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from ..records import compiler_version

if TYPE_CHECKING:
    from .plan import Plan

PLACED = "placed"
"""The name of the way over several devices."""
GAIN = 0.05
"""The part of the time that several devices have to save, to be used."""
WORTH = 3.0
ENOUGH = 2
SLOWER = 1.1
_RECENT = 8
"""The calls of a way that say how fast it is."""
_UNSEEN_SECONDS = 1e-3
_UNSEEN = (7, 127)
"""So long calls are not looked at, and at least and at most so many."""
_ROUNDS = 31
_SECONDS = 1.0
_BLOCK_SECONDS = 0.02
"""How long one way is called in a row, when ways take turns."""


class Way:
    """What is known of one way: seconds of a call, predicted and of the latest runs."""

    def __init__(self, predicted: float) -> None:
        self.predicted = predicted
        self.latest: deque[float] = deque(maxlen=_RECENT)
        self.is_warm = False

    def know(self, seconds: float) -> None:
        """It was measured elsewhere."""
        self.latest.extend([seconds] * ENOUGH)
        self.is_warm = True

    @property
    def measured(self) -> float | None:
        """What the latest runs took; None while there are too few."""
        return typical(self.latest) if len(self.latest) >= ENOUGH else None


class Ways:
    """The ways of one program in one situation; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ways: dict[str, Way] = {}
        self._patience = _RECENT
        self._since = 0
        self.best = PLACED
        """The fastest way, as far as it is known."""
        self.is_settled = False
        """Whether there is nothing to be tried for now."""

    def predict(
        self, predicted: Mapping[str, float], known: Mapping[str, float]
    ) -> None:
        """Say how long a call takes each way; what was measured stays.

        Ways that are not named are none any more. `known` was measured before, maybe
        by another process.
        """
        with self._lock:
            before = self._ways
            self._ways = {
                name: before.get(name) or Way(seconds)
                for name, seconds in predicted.items()
            }
            for name, way in self._ways.items():
                way.predicted = predicted[name]
                if name in known and way.measured is None:
                    way.know(known[name])
            self._decide()

    def forget(self, name: str) -> None:
        """It is another way now, of which nothing has been measured."""
        with self._lock:
            self._ways.pop(name, None)

    def next(self) -> str:
        """The way for a call that is timed: the most promising open one, or best."""
        if self.is_settled:
            return self.best
        with self._lock:
            return min(self._open(), key=self._expected, default=self.best)

    @property
    def open(self) -> list[str]:
        """The ways that may be the fastest and were not measured."""
        with self._lock:
            return self._open()

    @property
    def unseen(self) -> int:
        """How many calls are run the best way before one is timed again.

        0 while there is something to be tried. To look at a call takes as long as a
        small kernel.
        """
        if not self.is_settled:
            return 0
        with self._lock:
            seconds = self._expected(self.best) if self._ways else math.inf
        return min(max(int(_UNSEEN_SECONDS / seconds), _UNSEEN[0]), _UNSEEN[1])

    def drop(self, name: str) -> bool:
        """A way turned out to be impossible; False where there is no other."""
        with self._lock:
            if len(self._ways) < 2:
                return False
            self._ways.pop(name, None)
            self._decide()
            return True

    def know(self, seconds: Mapping[str, float]) -> None:
        """Calls were measured to take so long."""
        with self._lock:
            for name, each in seconds.items():
                self._ways[name].know(each)
            self._decide()

    def note(self, name: str, seconds: float) -> bool:
        """A call has taken so long this way, its wait for results included.

        Whether with this all that is worth it has been tried.
        """
        with self._lock:
            way = self._ways.get(name)
            if way is None:
                return False
            if not way.is_warm:
                way.is_warm = True
                return False
            way.latest.append(seconds)
            if not self.is_settled:
                self._decide()
                return self.is_settled
            self._since += 1
            if self._since >= self._patience:
                self._since = 0
                self._doubt(way)
            return False

    @property
    def measured(self) -> dict[str, float]:
        """The seconds of a call, of each way that was measured."""
        with self._lock:
            ways = {name: way.measured for name, way in self._ways.items()}
        return {name: each for name, each in ways.items() if each is not None}

    def _doubt(self, current: Way) -> None:
        """Let ways be tried again that were faster than the best is by now."""
        limit = current.measured
        if limit is None:
            return
        doubted = False
        for way in self._ways.values():
            before = way.measured
            if way is not current and before is not None and SLOWER * before < limit:
                way.predicted = before
                way.latest.clear()
                doubted = True
        if doubted:
            self._patience *= 2
            self._decide()

    def _expected(self, name: str) -> float:
        way = self._ways[name]
        return way.predicted if way.measured is None else way.measured

    def _open(self) -> list[str]:
        if len(self._ways) < 2:
            return []
        least = min(map(self._expected, self._ways))
        return [
            name
            for name, way in self._ways.items()
            if way.measured is None and way.predicted <= WORTH * least
        ]

    def _decide(self) -> None:
        if self._ways:
            self.best = winner({name: self._expected(name) for name in self._ways})
        self.is_settled = not self._open()


def winner(seconds: Mapping[str, float]) -> str:
    """The fastest one; several devices only where they save enough."""
    singles = {name: each for name, each in seconds.items() if name != PLACED}
    if not singles:
        return PLACED
    single = min(singles, key=lambda name: singles[name])
    saved = 1 - seconds.get(PLACED, math.inf) / singles[single]
    return PLACED if saved >= GAIN else single


def way_key(plan: Plan, situation: object) -> str:
    """What the seconds of a way are kept under."""
    program, devices = plan.decision.posed.program.key(), plan.decision.devices
    text = "\0".join(map(str, (compiler_version(), program, devices, situation)))
    return sha256(text.encode()).hexdigest()


def typical(seconds: Iterable[float]) -> float:
    """The mean of the faster half: neither one lucky run nor what disturbed others."""
    ordered = sorted(seconds)
    half = ordered[: (len(ordered) + 1) // 2]
    return sum(half) / len(half)


def measured_seconds(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """What each of several calls takes, in turns, as a machine's speed changes.

    A turn is some calls in a row, as programs are mostly used, behind one that does not
    count: it finds the caches full of what others left, and threads asleep. What takes
    `WORTH` times as long as another call is called in one turn only.
    """
    for call in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + _SECONDS
    for number in range(_ROUNDS):
        least = min(map(typical, found.values())) if number else math.inf
        for name, call in calls.items():
            if not number or typical(found[name]) <= WORTH * least:
                found[name] += _turn(call)
        if number >= 2 and time.perf_counter() > end:
            break
    return {name: typical(each) for name, each in found.items()}


def _turn(call: Callable[[], object]) -> list[float]:
    call()
    found: list[float] = []
    while len(found) < ENOUGH or sum(found) < _BLOCK_SECONDS:
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return found
