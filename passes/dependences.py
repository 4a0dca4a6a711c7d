"""Which statements must keep their order: those of which one writes what others use."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import SSAValue


@dataclass
class Effects:
    """The memories that a statement uses, or several do, and those that they write."""

    used: set[SSAValue] = field(default_factory=set[SSAValue])
    written: set[SSAValue] = field(default_factory=set[SSAValue])

    @staticmethod
    def of(uses: Iterable[tuple[SSAValue, bool]]) -> Effects:
        """Of memories, each with whether it is written."""
        known = [*uses]
        written = {memory for memory, writes in known if writes}
        return Effects({memory for memory, _ in known}, written)

    def add(self, other: Effects) -> None:
        """Count in what another statement does."""
        self.used |= other.used
        self.written |= other.written

    def depends_on(self, other: Effects) -> bool:
        """Whether the order of the two matters."""
        return not (
            self.written.isdisjoint(other.used) and other.written.isdisjoint(self.used)
        )


class Dependences:
    """What statements depend on directly, as they come one after the other.

    They are known by their positions, which grow.
    """

    def __init__(self) -> None:
        self._users: dict[SSAValue, list[int]] = {}
        self._writers: dict[SSAValue, list[int]] = {}

    def add(self, position: int, effects: Effects) -> set[int]:
        """The statements so far that the one at a position depends on."""
        before: set[int] = set()
        for memory in effects.used:
            writes = memory in effects.written
            earlier = self._users if writes else self._writers
            before.update(earlier.get(memory, ()))
            self._users.setdefault(memory, []).append(position)
            if writes:
                self._writers.setdefault(memory, []).append(position)
        return before

    def forget(self) -> None:
        """Nothing depends on a statement so far."""
        self._users.clear()
        self._writers.clear()

    def are_written(self, memories: Iterable[SSAValue], first: int, last: int) -> bool:
        """Whether a statement behind `first` writes memories, `last` being the last."""
        return any(
            bisect_right(places, first) < bisect_right(places, last)
            for memory in memories
            for places in [self._writers.get(memory, [])]
        )
