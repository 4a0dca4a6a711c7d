"""Timing two ways of computing one thing against each other.

The machine may be shared and its speed may drift, so contenders take turns, round by
round, and only ratios of one run are to be compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median

_DEVIATIONS = 2.58
"""That a normal distribution keeps to in 99 of 100 cases."""
_FEWEST_ROUNDS = 12
_UNTIL_NEXT_CHECK = 1.25


@dataclass(frozen=True)
class Measurement:
    """The seconds that one call took, per round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Seconds of a call, the median over the rounds."""
        return median(self.seconds)

    @property
    def fastest(self) -> float:
        """Seconds of a call in the fastest round."""
        return min(self.seconds)

    @property
    def typical(self) -> float:
        """Seconds of a call in the faster half of the rounds, as their mean.

        Neither what disturbed some rounds nor a lucky one counts for much.
        """
        ordered = sorted(self.seconds)
        half = ordered[: (len(ordered) + 1) // 2]
        return sum(half) / len(half)

    def relative_to(self, other: Measurement) -> float:
        """What a call takes as a part of another's time: the median over the rounds.

        Both were measured in the same rounds, so that what comes upon a round as a
        whole comes upon both.
        """
        pairs = zip(self.seconds, other.seconds, strict=True)
        return median(own / their for own, their in pairs)

    def bounds_to(self, other: Measurement) -> tuple[float, float]:
        """Between what `relative_to` would be after more and more rounds.

        The ranks of the ratios that enclose their median in 99 of 100 cases.
        """
        ratios = sorted(a / b for a, b in zip(self.seconds, other.seconds, strict=True))
        count = len(ratios)
        rank = int((count - _DEVIATIONS * math.sqrt(count)) / 2)
        if rank < 1:
            return 0.0, math.inf
        return ratios[rank - 1], ratios[-rank]


def interleaved(
    contenders: Sequence[Callable[[], object]],
    budget: float,
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Measurement]:
    """Time each contender in every round, after a warm-up call that is not counted.

    `budget` is the seconds that all rounds together should take; short calls are
    repeated within a round. The order of each round is drawn anew, so that none always
    comes behind the same one: a busy system holds up who has just worked. `clock` tells
    the time: that of the process leaves out what others do meanwhile.
    """
    turns = [
        _Turns(call, _repeats(call, budget / rounds / len(contenders)))
        for call in contenders
    ]
    generator = Random(0)
    for _ in range(rounds):
        for each in generator.sample(turns, len(turns)):
            each.take(clock)
    return [each.measured for each in turns]


def interleaved_until(
    contenders: Sequence[Callable[[], object]],
    is_enough: Callable[[list[Measurement]], bool],
    budget: float,
    turn: float = 2e-3,
) -> list[Measurement]:
    """As `interleaved`, by as many rounds as it takes to know enough.

    Turns are short, so that many of them can be compared: `turn` seconds, or one call,
    behind a call that brings back into caches what the others have displaced. `budget`
    is the seconds that all may take.
    """
    turns = [_Turns(call, _repeats(call, turn)) for call in contenders]
    generator = Random(0)
    end = time.perf_counter() + budget
    done, check = 0, _FEWEST_ROUNDS
    while True:
        for each in generator.sample(turns, len(turns)):
            each.call()
            each.take()
        done += 1
        is_over = time.perf_counter() > end
        if is_over or done >= check:
            # Who looks too often sees by chance what is not there.
            check = int(done * _UNTIL_NEXT_CHECK)
            measured = [each.measured for each in turns]
            if is_over or is_enough(measured):
                return measured


@dataclass
class _Turns:
    """Those of one contender, each of which is so many calls."""

    call: Callable[[], object]
    count: int
    seconds: list[float] = field(default_factory=list[float])

    def take(self, clock: Callable[[], float] = time.perf_counter) -> None:
        start = clock()
        for _ in range(self.count):
            self.call()
        self.seconds.append((clock() - start) / self.count)

    @property
    def measured(self) -> Measurement:
        return Measurement(tuple(self.seconds))


def _repeats(call: Callable[[], object], budget: float) -> int:
    """How often a call fits into the budget, at least once."""
    call()
    start = time.perf_counter()
    call()
    single = max(time.perf_counter() - start, 1e-7)
    return max(1, min(1000, int(budget / single)))
