"""Which of several ways to run a program is the fastest: found out by its own calls.

A way is one device for the whole, or several devices as decided. Every way gives the
same results, so that a call may try one. What is predicted says which ways are worth
it, and in what order; what whole calls take, measured, says which way stays:

* a way may be the fastest while it was not measured and is predicted to take less than
  `WORTH` times what the fastest one takes, or so little that trying it costs next to
  nothing: of small programs predictions say the least. Where what was measured took
  less than was predicted, so may the others;
* such a way is compared with the one that is used, the most promising one first. Both
  have turns in pairs, a turn being a call that warms up, which may compile, and
  `ENOUGH` that count, until a `Rival` has won, is far behind, or had `_MOST_PAIRS`;
* then what was found to be the fastest is used, and few calls are timed. Each other way
  is due for another pair once in a while, as soon as what that costs is a small share
  of all time: a way that was nearly as fast is looked at often, another one seldom, but
  at once when a call takes longer than it did. While it is ahead there are more pairs,
  and when it has won it is used.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from ..records import compiler_version
from .rival import GAIN, LEAST_GAIN, LOST, WON, Rival

if TYPE_CHECKING:
    from .plan import Plan

PLACED = "placed"
"""The name of the way over several devices."""
WORTH = 3.0
SHORT_SECONDS = 1e-3
ENOUGH = 2
"""The calls of a turn that count."""
_LONG_SECONDS = 0.05
"""One call that takes so long is a turn, warm or not."""
_MOST_PAIRS = 8
"""Behind so many it is left open for now which way is faster."""
_RECENT = 8
"""The turns of a way that say how fast it is."""
_FIRST_SHARE, _SHARE = 0.1, 0.01
"""The part of all time that pairs with a way may cost: what was believed at first is
doubted more than what was seen again and again."""
_LOOK_SECONDS = 2e-5
"""What is added to a call that is measured."""
_LEAST_CALLS = 32
"""Between two that are timed, so that calls that do not wait seldom have to."""
_UNSEEN_SECONDS = 0.02
"""How long calls are run, if they are not fewer, until one is timed."""


class Way:
    """What is known of one way."""

    def __init__(self, predicted: float) -> None:
        self.predicted = predicted
        """Seconds of a call."""
        self.turns: deque[float] = deque(maxlen=_RECENT)
        """Seconds of a call in its last turns, or as measured elsewhere."""
        self.rival = Rival()
        """It, against the way that is used."""
        self.is_open = True
        """Whether it has the next pair, as far as it is worth one."""
        self.in_row = 0
        """Its pairs since then."""
        self.waits = 0
        """How often it has waited for more since there is this best way."""
        self.due = 0
        """The call at which that ends."""

    @property
    def measured(self) -> float | None:
        """Seconds of a call; None where there was no turn."""
        return typical(self.turns) if self.turns else None


class Ways:
    """The ways of one program in one situation; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ways: dict[str, Way] = {}
        self._calls = 0
        """Since there are ways, as far as they were counted."""
        self._rival: str | None = None
        """The way that is compared with the best one."""
        self._turn: str | None = None
        self._runs: list[float] = []
        """Seconds of the calls of this turn that count."""
        self._is_warm = False
        """Whether the call of this turn that does not count is over."""
        self._is_look = False
        """Whether this turn is one call of the best way: is it slower by now?"""
        self.best = PLACED
        """The fastest way, as far as it is known."""
        self.turn_seconds = 0.0
        """How long the calls of a turn take together, at least."""

    def predict(
        self, predicted: Mapping[str, float], known: Mapping[str, float]
    ) -> None:
        """Say how long a call takes each way; what was measured stays.

        Ways that are not named are none any more. `known` was measured before, maybe
        by another process, and when the machine may have been another.
        """
        with self._lock:
            for name in [name for name in self._ways if name not in predicted]:
                self._remove(name)
            for name, seconds in predicted.items():
                way = self._ways.setdefault(name, Way(seconds))
                way.predicted = seconds
                if name in known and not way.turns:
                    way.turns.append(known[name])
            self._choose()

    def forget(self, name: str) -> None:
        """It is another way now, of which nothing has been measured."""
        with self._lock:
            self._remove(name)

    def drop(self, name: str) -> bool:
        """A way turned out to be impossible; False where there is no other."""
        with self._lock:
            if len(self._ways) < 2:
                return False
            self._remove(name)
            self._choose()
            return True

    def next(self) -> str | None:
        """The way whose turn it is, for a call that can be timed; None for the best."""
        with self._lock:
            self._calls += 1
            if self._turn is None:
                self._begin_turns()
            return self._turn

    def skip(self) -> int:
        """How many calls may be run the best way before `next` has to be asked again.

        They count as run.
        """
        with self._lock:
            if self._turn is not None or self._open():
                return 0
            if not self._ways:
                return 0
            most = max(int(_UNSEEN_SECONDS / self._expected(self.best)), _LEAST_CALLS)
            due = [self._ways[name].due - self._calls for name in self._tried()]
            count = max(min([most, *due]) - 1, 0)
            self._calls += count
            return count

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to be tried, but what is tried again at times."""
        with self._lock:
            return self._turn is None and not self._open()

    def note(self, name: str, seconds: float, is_alone: bool = True) -> bool:
        """A call has taken so long this way, its wait for results included.

        Whether something has been found out with this: all that is worth it has been
        tried, or another way is the best. A call that is not `is_alone` may have waited
        for those before it as well.
        """
        with self._lock:
            # A call that another thread began before may end now.
            if name != self._turn:
                return False
            way = self._ways[name]
            is_long = seconds >= _LONG_SECONDS
            counts = is_alone and bool(way.turns) and (self._is_look or is_long)
            if not (self._is_warm or counts):
                self._is_warm = True
                return False
            if self._is_look:
                self._look(way, seconds)
                return False
            self._runs.append(seconds)
            is_enough = is_long or len(self._runs) >= ENOUGH
            if not is_enough or sum(self._runs) < self.turn_seconds:
                return False
            way.turns.append(typical(self._runs))
            return self._end_turn()

    @property
    def measured(self) -> dict[str, float]:
        """The seconds of a call, of each way that was measured."""
        with self._lock:
            ways = {name: way.measured for name, way in self._ways.items()}
        return {name: each for name, each in ways.items() if each is not None}

    def _remove(self, name: str) -> None:
        self._ways.pop(name, None)
        if name in (self._turn, self._rival):
            self._end_turns()

    def _choose(self) -> None:
        """Use a way that has been measured, or the most promising one."""
        used = self._ways.get(self.best)
        if used is not None and used.turns:
            return
        self._end_turns()
        measured = [name for name, way in self._ways.items() if way.turns]
        names = measured or self._ways
        self._use(winner({name: self._expected(name) for name in names}))

    def _begin_turns(self) -> None:
        """Begin the turns of a pair, or a look at the best way alone."""
        if len(self._ways) < 2:
            return
        for name in self._tried():
            way = self._ways[name]
            way.is_open |= way.due <= self._calls
        candidates = self._open()
        name = min(candidates, key=self._expected, default=self.best)
        self._rival = name if name != self.best else None
        self._begin_turn(self.best)
        self._is_look = not candidates

    def _begin_turn(self, name: str | None) -> None:
        self._turn, self._is_warm, self._is_look = name, False, False
        self._runs = []

    def _look(self, used: Way, seconds: float) -> None:
        """See what a call of the best way took: others may be faster by now."""
        self._end_turns()
        # One alone may have been disturbed.
        least = min(seconds, used.turns[-1])
        used.turns.append(seconds)
        for name in self._tried():
            way = self._ways[name]
            if typical(way.turns) < (1 - GAIN) * least:
                way.due = self._calls

    def _end_turns(self) -> None:
        self._rival = None
        self._begin_turn(None)

    def _end_turn(self) -> bool:
        """See `note`."""
        rival, turn = self._rival, self._turn
        if rival is not None and turn != rival:
            self._begin_turn(rival)
            return False
        self._end_turns()
        return self._judge(rival) if rival else not self._open()

    def _judge(self, name: str) -> bool:
        """By a pair of turns that has just ended; see `note`."""
        used, way = self._ways[self.best], self._ways[name]
        way.rival.note(used.turns[-1], way.turns[-1], self._least_gain(name))
        if way.rival.lead >= WON:
            self._use(name)
            return True
        way.in_row += 1
        if way.rival.lead > LOST and way.in_row < _MOST_PAIRS:
            return False
        self._wait(name)
        return way.waits == 1 and not self._open()

    def _least_gain(self, name: str) -> float:
        """The part of the time that a way has to save against the best one."""
        if name == PLACED:
            return GAIN
        return -LEAST_GAIN if self.best == PLACED else LEAST_GAIN

    def _use(self, name: str) -> None:
        """Go over to another way: what lost against the one before has lost again."""
        self.best = name
        for each in self._tried():
            way = self._ways[each]
            way.rival.lead, way.waits = LOST, 0
            self._wait(each)

    def _wait(self, name: str) -> None:
        """Let so many calls pass until this way has its next pair."""
        used, way = self._ways[self.best], self._ways[name]
        # Its turn counts as lost, as caches are cold behind it.
        costs = (ENOUGH + 1) * (typical(way.turns) + 2 * _LOOK_SECONDS)
        share = max(_FIRST_SHARE * 0.5**way.waits, _SHARE)
        wait = int(costs / (share * self._seconds(used)))
        way.due = self._calls + max(_LEAST_CALLS, wait)
        way.is_open = False
        way.in_row = 0
        way.waits += 1

    def _expected(self, name: str) -> float:
        return self._seconds(self._ways[name])

    def _seconds(self, way: Way) -> float:
        """What a call takes; by what others took, where it was not measured."""
        if way.measured is not None:
            return way.measured
        known = [
            each.measured / each.predicted
            for each in self._ways.values()
            if each.measured is not None
        ]
        return way.predicted * min(1.0, *known) if known else way.predicted

    def _open(self) -> list[str]:
        """The ways that should have turns: the best one, where it had none."""
        if len(self._ways) < 2:
            return []
        used = self._ways[self.best]
        most = max(WORTH * self._seconds(used), SHORT_SECONDS)
        found = [
            name
            for name, way in self._ways.items()
            if name != self.best
            and way.is_open
            and (way.turns or self._seconds(way) <= most)
        ]
        return found if found or used.turns else [self.best]

    def _tried(self) -> list[str]:
        """The ways beside the best one that were measured."""
        return [n for n, way in self._ways.items() if n != self.best and way.turns]


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
