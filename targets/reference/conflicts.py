"""Conflicts: two points of a block, or two work-items, that use one cell of memory.

Points run in any order, so a program has a meaning only when no point reads what
another writes, and no two write one cell; but any number may aggregate into it by one
function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntFlag
from typing import Protocol

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from ...dialects.aggregation import Aggregation
from ...dialects.locations import error_at
from .elements import Array
from .frame import pick


class Cells(Protocol):
    """A memory, as far as errors show its cells."""

    def show(self, cell: int) -> str:
        """A cell by its number, for people."""
        ...


class Use(IntFlag):
    """How a point uses a cell."""

    READ = 1
    ASSIGN = 2
    ADD = 4
    MUL = 8
    MAX = 16
    MIN = 32

    @staticmethod
    def of(aggregation: Aggregation) -> Use:
        """The use of a store with this aggregation."""
        return Use[aggregation.name]


_SHARED = 64
"""Set beside the uses of a cell that more than one point used."""


def _compatible_uses() -> npt.NDArray[np.bool_]:
    """For every set of uses, with `_SHARED` or not, whether it is no conflict."""
    compatible = np.zeros(2 * _SHARED, np.bool_)
    compatible[:_SHARED] = True
    for use in Use:
        compatible[_SHARED | use] = use is not Use.ASSIGN
    return compatible


_COMPATIBLE = _compatible_uses()


class Tracker:
    """For each cell of a memory: which point used it first, and all uses of it.

    Points have numbers. Those of a later run are larger than all of earlier ones, so a
    tracker need not be cleared between runs: what is older than the run is forgotten.
    """

    def __init__(self, cells: int) -> None:
        self.first: npt.NDArray[np.int64] = np.full(cells, -1, np.int64)
        self.uses: npt.NDArray[np.uint8] = np.zeros(cells, np.uint8)

    def record(
        self, cells: Array, points: Array, use: Use, start: int
    ) -> tuple[int, int | None] | None:
        """Note that point `points[n]` uses `cells[n]`; `start` is the run's first.

        None when there is no conflict. Else the position `n` of a use in conflict, and
        the number of the other point, or None where it is not known any more.
        """
        fresh = self.first[cells] < start
        self.first[cells[fresh]] = points[fresh]
        self.uses[cells[fresh]] = 0
        # Equal cells get equal values, so repeated cells do no harm.
        self.uses[cells] |= np.uint8(use)
        shared = cells[self.first[cells] != points]
        self.uses[shared] |= np.uint8(_SHARED)
        wrong = ~_COMPATIBLE[self.uses[cells]]
        if not wrong.any():
            return None
        position = int(wrong.argmax())
        return position, self._other(position, cells, points)

    def _other(self, position: int, cells: Array, points: Array) -> int | None:
        first = int(self.first[cells[position]])
        if first != points[position]:
            return first
        others = points[(cells == cells[position]) & (points != first)]
        return int(others[0]) if others.size else None


@dataclass
class ConcurrentPoints:
    """Points that may run at the same time: of one block, or between two barriers.

    `start` is added to the numbers of the points; `describe` says which point a number
    (without `start`) is; `advice` is what to do about a conflict.
    """

    start: int
    describe: Callable[[int], str]
    advice: str = (
        "points run in any order: let them write different cells, or aggregate"
    )


@dataclass(frozen=True)
class Level:
    """The conflicts that the users of a memory may have at one level of nesting.

    `points` is the number of the point in `run` that each point of a frame is part of.
    A store is the use `use`, or else counts as an assignment.
    """

    tracker: Tracker
    run: ConcurrentPoints
    points: Array
    use: Use = Use.ASSIGN

    def at(self, origin: Array | None) -> Level:
        """The same level for the points of an inner frame."""
        return replace(self, points=pick(self.points, origin))

    def record(self, op: Operation, memory: Cells, cells: Array, use: Use) -> None:
        """Note the use of cells by the points of a frame; raise a conflict."""
        if use not in (Use.READ, self.use):
            use = Use.ASSIGN
        points = self.run.start + self.points
        if cells.ndim > 1:
            points = np.repeat(points, cells.shape[1])
            cells = cells.reshape(-1)
        conflict = self.tracker.record(cells, points, use, self.run.start)
        if conflict is None:
            return
        position, other = conflict
        numbers = [int(points[position]), *([] if other is None else [other])]
        names = [self.run.describe(n - self.run.start) for n in sorted(numbers)]
        raise error_at(
            op,
            f"'{op.name}': two points use the cell "
            f"{memory.show(int(cells[position]))}, and at least one writes it: "
            f"{' and '.join(names)}",
            self.run.advice,
        )
