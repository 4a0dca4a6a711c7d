"""A way to run a block, with what it is predicted to take: what decisions are among.

To compare predictions with measurements, `evenly` takes some whose predicted times are
spread evenly, by ratio, from the best to what takes many times as long. A sample
without this choice has most of its ways so near to each other that their order is that
of the measuring errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ....dialects.stripe.schedule import Schedule
from ...clock import Estimate

_SLOWEST = 32.0
"""Ways that take longer than the best by this factor are no part of a spread."""


@dataclass(frozen=True)
class Candidate:
    """One way to run a block."""

    estimate: Estimate
    """The predicted time of all cores together."""
    schedule: Schedule
    """What makes the passes build it, with the reason."""

    @property
    def seconds(self) -> float:
        """The predicted seconds."""
        return self.estimate.seconds


class _Timed(Protocol):
    @property
    def seconds(self) -> float: ...


_TimedT = TypeVar("_TimedT", bound=_Timed)


def evenly(ways: Iterable[_TimedT], count: int) -> list[_TimedT]:
    """Up to `count` of them, next to times that follow each other by one factor.

    The fastest is the first.
    """
    left = sorted(ways, key=lambda one: one.seconds)
    left = [one for one in left if one.seconds <= _SLOWEST * left[0].seconds]
    if len(left) <= count:
        return left
    first, last = left[0].seconds, left[-1].seconds
    taken: list[_TimedT] = []
    for number in range(count):
        wanted = first * (last / first) ** (number / max(count - 1, 1))
        nearest = min(left, key=lambda one: abs(one.seconds - wanted) / wanted)
        left.remove(nearest)
        taken.append(nearest)
    return sorted(taken, key=lambda one: one.seconds)
