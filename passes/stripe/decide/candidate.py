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
    """Those that are next to `count` times which follow each other by one factor.

    The fastest is the first. They are fewer where most take the same time.
    """
    found = sorted(ways, key=lambda one: one.seconds)
    found = [one for one in found if one.seconds <= _SLOWEST * found[0].seconds]
    if not found:
        return []
    first, last = found[0].seconds, found[-1].seconds
    taken: dict[int, None] = {}
    for part in range(count):
        wanted = first * (last / first) ** (part / max(count - 1, 1))
        apart = [abs(one.seconds - wanted) for one in found]
        taken[apart.index(min(apart))] = None
    return [found[number] for number in taken]
