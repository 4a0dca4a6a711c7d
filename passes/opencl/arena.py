"""Places for buffers in one piece of memory, so that those in use at once are apart.

To find the smallest memory is NP-hard: it is dynamic storage allocation. Buffers are
placed one by one, each at the lowest gap between those that it meets, which is best
with some order of the buffers. The first orders that are tried, the largest first among
them, are those of Y. Pisarchyk and J. Lee, "Efficient Memory Management for Deep Neural
Net Inference" (2020), https://arxiv.org/abs/2001.03288. Where none reaches the lower
bound, hill climbing follows: two buffers that stand in the way of the highest one swap
their turns, and stay so unless that makes the memory larger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from .lifetimes import Lifetime, lower_bound

_MOST_WORK = 400_000
"""Pairs of buffers that hill climbing may look at, about 0.05 seconds."""

_ORDERS: tuple[Callable[[Lifetime], tuple[int, int]], ...] = (
    lambda lifetime: (-lifetime.size, lifetime.first),
    lambda lifetime: (
        -lifetime.size * (lifetime.last - lifetime.first + 1),
        lifetime.first,
    ),
    lambda lifetime: (lifetime.first, -lifetime.size),
    lambda lifetime: (lifetime.first - lifetime.last, -lifetime.size),
)


def place(lifetimes: Sequence[Lifetime]) -> list[int]:
    """The first byte of each buffer; the same for the same lifetimes.

    Two buffers whose lifetimes meet share no byte. Where sizes are multiples of some
    alignment, so are the places.
    """
    search = _Search(lifetimes)
    numbers = range(len(lifetimes))
    for key in _ORDERS:
        order = sorted(numbers, key=lambda number: key(lifetimes[number]))
        if search.tries(order):
            return search.places
    search.climb()
    return search.places


def extent(lifetimes: Sequence[Lifetime], places: Sequence[int]) -> int:
    """The bytes of memory that a placement needs."""
    pairs = zip(lifetimes, places, strict=True)
    return max((place + lifetime.size for lifetime, place in pairs), default=0)


class _Search:
    """The best placement so far."""

    def __init__(self, lifetimes: Sequence[Lifetime]) -> None:
        self.places = [0] * len(lifetimes)
        self._sizes = [lifetime.size for lifetime in lifetimes]
        self._lifetimes = lifetimes
        self._meeting = _meeting(lifetimes)
        self._bound = lower_bound(lifetimes)
        self._least: int | None = None
        self._order: list[int] = []

    def tries(self, order: list[int]) -> bool:
        """Keep the placement of this order if it is as good; whether it is perfect."""
        places = self._placed(order)
        needed = extent(self._lifetimes, places)
        if self._least is None or needed <= self._least:
            self.places, self._least, self._order = places, needed, order
        return needed == self._bound

    def climb(self) -> None:
        """Swap the turns of buffers until that is perfect, or took too long."""
        random = Random(0)
        work = sum(map(len, self._meeting)) + len(self._meeting)
        for _ in range(_MOST_WORK // max(work, 1)):
            order = self._order.copy()
            first, second = self._in_the_way(random)
            order[first], order[second] = order[second], order[first]
            if self.tries(order):
                return

    def _in_the_way(self, random: Random) -> tuple[int, int]:
        """The turns of one that reaches the top and one that it rests on, or so."""
        tops = [
            turn
            for turn, number in enumerate(self._order)
            if self.places[number] + self._sizes[number] == self._least
        ]
        top = random.choice(tops)
        below = set(self._meeting[self._order[top]])
        for number in [*below]:
            below.update(self._meeting[number])
        turns = [turn for turn, n in enumerate(self._order) if n in below]
        first = random.choice([top, *turns])
        return first, random.choice(turns or [top])

    def _placed(self, order: Sequence[int]) -> list[int]:
        """The place of each buffer when they take their places in this order."""
        sizes = self._sizes
        ends: list[int | None] = [None] * len(order)
        for number in order:
            size, start = sizes[number], 0
            taken = [
                (end - sizes[other], end)
                for other in self._meeting[number]
                if (end := ends[other]) is not None
            ]
            for low, high in sorted(taken):
                if low - start >= size:
                    break
                start = max(start, high)
            ends[number] = start + size
        return [(end or 0) - size for end, size in zip(ends, sizes, strict=True)]


def _meeting(lifetimes: Sequence[Lifetime]) -> list[list[int]]:
    """For each buffer those that are in use while it is."""
    meeting: list[list[int]] = [[] for _ in lifetimes]
    active: list[int] = []
    for number in sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].first):
        first = lifetimes[number].first
        active = [other for other in active if lifetimes[other].last >= first]
        for other in active:
            meeting[other].append(number)
            meeting[number].append(other)
        active.append(number)
    return meeting
