"""Memory: buffers and arrays, as cells that know whether they were ever written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.ops import element_of
from .boxes import strides
from .conflicts import Tracker, Use
from .contraction import aggregating_function
from .elements import Array, dtype_of
from .faults import fault
from .frame import Frame, pick


@cache
def _numbers(count: int) -> Array:
    return np.arange(count)


class Memory:
    """One allocation, or the copies of it that many points have, side by side.

    `shape` is that of one copy, in elements; an element may be a vector, whose lanes
    are then cells of their own. A cell is addressed by its position in row-major order,
    copies outermost.
    """

    def __init__(
        self, name: str, shape: Sequence[int], element: Attribute, copies: int = 1
    ) -> None:
        self.name = name
        self.shape = tuple(shape)
        self.element = element_of(element)
        lanes = element.get_shape() if isinstance(element, VectorType) else ()
        self.holds_vectors = isinstance(element, VectorType)
        self.lanes = prod(lanes)
        self.array_shape = (*self.shape, *lanes)
        """The shape of one copy in NumPy."""
        self.steps = tuple(step * self.lanes for step in strides(self.shape))
        self.size = prod(self.shape) * self.lanes
        """The number of cells of one copy."""
        self.cells = np.zeros(copies * self.size, dtype_of(self.element))
        self.written = np.zeros(self.cells.size, np.bool_)
        self._trackers: dict[object, Tracker] = {}

    def vectors(self, positions: Array, lanes: int | None = None) -> Array:
        """The cells of the elements, or of vectors of `lanes` elements, at positions.

        `positions` are of cells, one per point. The result has shape (points,) for
        scalars and (points, lanes) for vectors.
        """
        if self.holds_vectors:
            lanes = self.lanes
        return positions if lanes is None else positions[:, None] + _numbers(lanes)

    def tracker(self, key: object) -> Tracker:
        """The tracker of the uses within one kind of run, such as a nesting depth."""
        if key not in self._trackers:
            self._trackers[key] = Tracker(self.cells.size)
        return self._trackers[key]

    def show(self, cell: int) -> str:
        """A cell for a message: `[3, 70] of %A`."""
        within = cell % self.size // self.lanes
        place = np.unravel_index(within, self.shape) if self.shape else ()
        return f"[{', '.join(map(str, place))}] of {self.name}"

    def read(self, op: Operation, frame: Frame, cells: Array) -> Array:
        """The values of cells; one that was never written is an error."""
        self._check_written(op, frame, cells, "reads")
        return self.cells[cells]

    def assign(self, cells: Array | slice, values: Any) -> None:
        """Set cells to values; of equal cells any one wins."""
        self.cells[cells] = values
        self.written[cells] = True

    def aggregate(
        self,
        op: Operation,
        frame: Frame,
        cells: Array,
        values: Array,
        aggregation: Aggregation,
    ) -> None:
        """Aggregate values into cells, which must have been written before.

        Floats of one operation are aggregated in double precision and rounded once.
        """
        self._check_written(op, frame, cells, "aggregates into")
        if not cells.size:
            return
        cells, values = cells.reshape(-1), values.reshape(-1)
        ufunc = aggregating_function(aggregation)
        if kind(self.element) is not Kind.FLOAT:
            ufunc.at(self.cells, cells, values)
            return
        used, places = _compacted(cells)
        sums = self.cells[used].astype(np.float64)
        with np.errstate(all="ignore"):
            ufunc.at(sums, places, values.astype(np.float64))
            self.cells[used] = sums.astype(self.cells.dtype)

    def contents(self, op: Operation) -> Array:
        """All of it as a new array; a cell that was never written is an error."""
        if not self.written.all():
            cell = int((~self.written).argmax())
            raise fault(op, f"the result {self.show(cell)} was never written")
        return self.cells.reshape(self.array_shape).copy()

    def _check_written(
        self, op: Operation, frame: Frame, cells: Array, verb: str
    ) -> None:
        written = self.written[cells]
        if written.all():
            return
        place = np.unravel_index(int((~written).argmax()), cells.shape)
        raise fault(
            op,
            f"'{op.name}' {verb} {self.show(int(cells[place]))}"
            f"{frame.describe(int(place[0]))}, which was never written",
        )


def _compacted(cells: Array) -> tuple[Any, Array]:
    """A selection that covers all cells, and the place of each cell in it."""
    low, high = int(cells.min()), int(cells.max()) + 1
    if high - low <= 8 * cells.size:
        return slice(low, high), cells - low
    return np.unique(cells, return_inverse=True)


@dataclass
class Run:
    """Points that may run at the same time: of one block, or between two barriers.

    `start` is added to the numbers of the points; `describe` says which point a number
    (without `start`) is.
    """

    start: int
    describe: Callable[[int], str]


@dataclass(frozen=True)
class Level:
    """The conflicts that the users of a memory may have at one level of nesting.

    `points` is the number of the point in `run` that each point of a frame is part of.
    A store is the use `use`, or else counts as an assignment.
    """

    tracker: Tracker
    run: Run
    points: Array
    use: Use = Use.ASSIGN

    def at(self, origin: Array | None) -> Level:
        """The same level for the points of an inner frame."""
        return replace(self, points=pick(self.points, origin))

    def record(self, op: Operation, memory: Memory, cells: Array, use: Use) -> None:
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
        raise fault(
            op,
            f"'{op.name}': two points use the cell "
            f"{memory.show(int(cells[position]))}, and at least one writes it: "
            f"{' and '.join(names)}",
            "points run in any order: let them write different cells, or aggregate",
        )
