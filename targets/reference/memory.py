"""Memory: buffers and arrays, as cells that know whether they were ever written."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import element_of
from ...dialects.locations import error_at
from .boxes import strides
from .conflicts import Tracker
from .contraction import aggregating_function
from .elements import Array
from .frame import Frame


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
        self.cells = np.zeros(copies * self.size, numpy_dtype(self.element))
        self.written = np.zeros(self.cells.size, np.bool_)
        self._trackers: dict[object, Tracker] = {}

    @property
    def identity(self) -> int:
        """The same number for all shapes of one memory, another for other memories."""
        return id(self.cells)

    def reshaped(self, name: str, shape: Sequence[int]) -> Memory:
        """The same cells under another shape of as many elements."""
        other = copy(self)
        other.name = name
        other.shape = tuple(shape)
        other.array_shape = (*other.shape, *self.array_shape[len(self.shape) :])
        other.steps = tuple(step * self.lanes for step in strides(other.shape))
        return other

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
            raise error_at(op, f"the result {self.show(cell)} was never written")
        return self.cells.reshape(self.array_shape).copy()

    def _check_written(
        self, op: Operation, frame: Frame, cells: Array, verb: str
    ) -> None:
        written = self.written[cells]
        if written.all():
            return
        place = np.unravel_index(int((~written).argmax()), cells.shape)
        raise error_at(
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
