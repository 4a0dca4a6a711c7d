"""Which of several ways to run a program is the fastest: found out by its own calls.

A way is one device for the whole, or several devices as decided. Every way gives the
same results, so that a call may try one. What is predicted says which ways are worth
it, and in what order; what whole calls take, measured, says which way stays:

* a way may be the fastest while it was not measured and is predicted to take less than
  `WORTH` times what the fastest one takes, or so little that trying it costs next to
  nothing: of small programs predictions say the least. Where what was measured took
  less than was predicted, so may the others;
* such ways are tried in turns, the most promising one first. A turn is a run that warms
  up, which may compile, and `ENOUGH` that count;
* those that take less than `CLOSE` times what the fastest one takes have further turns,
  up to `TURNS`, so that what other processes do meanwhile comes upon all of them;
* then the fastest is used, several devices only where they save `GAIN`;
* once in a while it has a duel with another one that took less than `RIVAL` times as
  long, and sooner when it has become slower than that was. Each time it is waited
  longer until the next.
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
from .duel import ENOUGH, GAIN, Duel

if TYPE_CHECKING:
    from .plan import Plan

PLACED = "placed"
"""The name of the way over several devices."""
WORTH = 3.0
SHORT_SECONDS = 1e-3
CLOSE = 1.3
TURNS = 4
RIVAL = 1.5
SLOWER = 1.1
_RECENT = 8
"""The calls of a way that say how fast it is."""
_PATIENCE = 16
_HURRY = 8
"""After so many timed calls there is the first duel, and where another way was faster
than the one that is used is by now, by the factor `SLOWER`."""
_MOST_PATIENCE = 1024
_UNSEEN_SECONDS = 1e-3
_UNSEEN = (7, 127)
"""So long calls are not looked at, and at least and at most so many."""
_ROUNDS = 31
_SECONDS = 1.0
_BLOCK_SECONDS = 0.02
"""How long one way is called in a row, when ways take turns."""


class Way:
    """What is known of one way: seconds of a call, predicted and measured."""

    def __init__(self, predicted: float) -> None:
        self.predicted = predicted
        self.latest: deque[float] = deque(maxlen=_RECENT)
        """Of its last runs."""
        self.turns: list[float] = []
        """Of its runs since ways take turns."""
        self.is_warm = False
        """Whether its last run is not long ago."""
        self.duels = 0
        """In how many it was the rival."""

    def know(self, seconds: float) -> None:
        """It was measured elsewhere."""
        self.latest.clear()
        self.latest.extend([seconds] * ENOUGH)

    @property
    def measured(self) -> float | None:
        """What runs took; None while there are too few."""
        runs = self.turns if len(self.turns) >= ENOUGH else self.latest
        return typical(runs) if len(runs) >= ENOUGH else None


class Ways:
    """The ways of one program in one situation; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ways: dict[str, Way] = {}
        self._patience, self._hurry = _PATIENCE, _HURRY
        self._since = 0
        self._takes_turns = False
        self._turn = ""
        self._duel: Duel | None = None
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
        """The way for a call that is timed: that whose turn it is, or the best."""
        if self.is_settled:
            return self.best
        with self._lock:
            before = self._turn
            if self._duel is not None:
                self._turn = self._duel.turn
            elif before not in (open_ones := self._open()):
                self._turn = min(open_ones, key=self._rank, default=self.best)
            if self._turn != before and self._turn in self._ways:
                self._ways[self._turn].is_warm = False
            return self._turn

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
            if self.is_settled:
                way.latest.append(seconds)
                # A call that another thread began before may end now.
                self._since += name == self.best
                if self._since >= self._hurry:
                    self._doubt(self.best)
                return False
            if self._duel is not None:
                return self._fight(self._duel, name, seconds)
            way.turns.append(seconds)
            if len(way.turns) % ENOUGH == 0:
                self._turn = ""
            self._decide()
            return self.is_settled

    @property
    def measured(self) -> dict[str, float]:
        """The seconds of a call, of each way that was measured."""
        with self._lock:
            ways = {name: way.measured for name, way in self._ways.items()}
        return {name: each for name, each in ways.items() if each is not None}

    def _doubt(self, name: str) -> None:
        """Begin a duel with another way, if it is time for that."""
        now = self._expected(name)
        rivals = {
            each: way.measured / now
            for each, way in self._ways.items()
            if each != name and way.measured is not None
        }
        if any(SLOWER * ratio < 1 for ratio in rivals.values()):
            self._hurry = min(2 * self._hurry, self._patience)
        elif self._since >= self._patience:
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
        else:
            return
        self._since = 0
        close = [each for each, ratio in rivals.items() if ratio <= RIVAL]
        if not close:
            return
        rival = min(close, key=lambda n: (self._ways[n].duels, rivals[n]))
        self._ways[rival].duels += 1
        self._duel = Duel(name, rival)
        self._turn = name
        self.is_settled = False

    def _fight(self, duel: Duel, name: str, seconds: float) -> bool:
        """Note a run in a duel; whether that has ended."""
        if name in duel.runs:
            duel.runs[name].append(seconds)
        if not duel.is_over:
            return False
        for each, runs in duel.runs.items():
            self._ways[each].latest = deque(runs, _RECENT)
        self._end()
        if duel.is_won:
            self.best = duel.rival
        return True

    def _end(self) -> None:
        """Nothing is to be tried for now."""
        self.is_settled = True
        self._duel, self._turn, self._takes_turns = None, "", False
        for way in self._ways.values():
            way.is_warm = False

    def _expected(self, name: str) -> float:
        return self._seconds_of(self._ways[name])

    def _seconds_of(self, way: Way) -> float:
        """What a call takes; by what others took, where it was not measured."""
        if way.measured is not None:
            return way.measured
        known = [
            each.measured / each.predicted
            for each in self._ways.values()
            if each.measured is not None
        ]
        return way.predicted * min(1.0, *known) if known else way.predicted

    def _rank(self, name: str) -> tuple[int, float]:
        return len(self._ways[name].turns) // ENOUGH, self._expected(name)

    def _open(self) -> list[str]:
        if len(self._ways) < 2:
            return []
        least = min(map(self._expected, self._ways))
        return [
            name for name, way in self._ways.items() if self._may_be_best(way, least)
        ]

    def _may_be_best(self, way: Way, least: float) -> bool:
        """Whether a way should be tried where the best one takes `least` seconds."""
        seconds = self._seconds_of(way)
        if way.measured is None:
            return seconds <= max(WORTH * least, SHORT_SECONDS)
        if not self._takes_turns or len(way.turns) >= TURNS * ENOUGH:
            return False
        return seconds <= (CLOSE if way.turns else RIVAL) * least

    def _decide(self) -> None:
        self._duel = None
        if self._ways:
            self.best = winner({name: self._expected(name) for name in self._ways})
        if any(way.turns for way in self._ways.values()):
            self._takes_turns = True
        self.is_settled = not self._open()
        if self.is_settled:
            for way in self._ways.values():
                way.latest.extend(way.turns)
                way.turns.clear()
            self._end()


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
