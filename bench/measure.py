"""Timing two ways of computing one thing against each other.

The machine may be shared and its speed may drift, so contenders take turns, round by
round, and only ratios of one run are to be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median


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

    def __add__(self, later: Measurement) -> Measurement:
        """Of all rounds, where more were measured."""
        return Measurement(self.seconds + later.seconds)


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
    repeats = [_repeats(call, budget / rounds / len(contenders)) for call in contenders]
    seconds: list[list[float]] = [[] for _ in contenders]
    turns = [*zip(contenders, repeats, seconds, strict=True)]
    generator = Random(0)
    for _ in range(rounds):
        generator.shuffle(turns)
        for call, count, taken in turns:
            start = clock()
            for _ in range(count):
                call()
            taken.append((clock() - start) / count)
    return [Measurement(tuple(taken)) for taken in seconds]


def _repeats(call: Callable[[], object], budget: float) -> int:
    """How often a call fits into the budget, at least once."""
    call()
    start = time.perf_counter()
    call()
    single = max(time.perf_counter() - start, 1e-7)
    return max(1, min(1000, int(budget / single)))
