"""`tile.gather` and `tile.scatter`: cells that tensors of indices choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

from ...dialects.eltwise.element_types import computation_type, promote
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import element_of
from ...dialects.tile.gather import GatherOp, Interpolation, NearestMode
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.scatter import ScatterOp
from ...dialects.tile.special_shapes import GatherMode, ScatterMode, Shape
from .boxes import strides
from .dispatch import Step, prepare
from .elements import Array
from .faults import fault
from .frame import Frame

Positions = npt.NDArray[np.int64]

_ROUNDING: dict[NearestMode, Callable[[Array], Array]] = {
    NearestMode.ROUND_PREFER_FLOOR: lambda x: _nearest(x, up=False),
    NearestMode.ROUND_PREFER_CEIL: lambda x: _nearest(x, up=True),
    NearestMode.FLOOR: np.floor,
    NearestMode.CEIL: np.ceil,
    NearestMode.SIMPLE: np.trunc,
}


def _nearest(x: Array, up: bool) -> Array:
    """The nearest integers, of two equally near ones the higher or the lower."""
    floor = np.floor(x)
    fraction = x - floor
    return np.where(fraction >= 0.5 if up else fraction > 0.5, floor + 1, floor)


@prepare.register(GatherOp)
def _prepare_gather(op: GatherOp) -> Step:
    interpolate = _interpolation(op)

    def step(frame: Frame) -> None:
        values, indices = frame[op.values], frame[op.indices]
        read = _Cells(op, values, indices)
        with np.errstate(all="ignore"):
            result = interpolate(read, read.spread(indices))
        frame[op.result] = np.asarray(result).astype(values.dtype, copy=False)

    return step


class _Cells:
    """The cells of the values that a gather may read, by position along its axis."""

    def __init__(self, op: GatherOp, values: Array, indices: Array) -> None:
        self._op = op
        self._values = values
        self._shape = indices.shape
        self._batch = op.batch_dims.value.data
        self._axis = op.axis.value.data
        self._is_nd = op.mode.data is GatherMode.ND
        self._clamps = op.out_of_bounds.data is OutOfBounds.CLAMP

    def spread(self, indices: Array) -> Array:
        """The indices in a shape that broadcasts to the result's."""
        if self._is_nd:
            return indices
        before = (1,) * (self._axis - self._batch)
        behind = (1,) * (self._values.ndim - self._axis - 1)
        shape = indices.shape
        return indices.reshape(
            (*shape[: self._batch], *before, *shape[self._batch :], *behind)
        )

    def at(self, positions: Array) -> Array:
        """The values at positions in the shape of `spread`, clamped or 0."""
        if self._is_nd:
            depth = self._shape[-1]
            rest = self._values.ndim - self._batch - depth
            tail = (1,) * rest
            # One array of coordinates for each axis that is chosen from.
            chosen = [
                positions[..., number].reshape((*self._shape[:-1], *tail))
                for number in range(depth)
            ]
            first = self._batch
            outer, inner = len(self._shape) - 1, rest
        else:
            chosen, first = [positions], self._axis
            outer = self._axis + len(self._shape) - self._batch
            inner = self._values.ndim - self._axis - 1
        return self._read(chosen, first, outer, inner)

    def _read(
        self, chosen: Sequence[Array], first: int, outer: int, inner: int
    ) -> Array:
        """Read at the chosen coordinates of the axes from `first` on.

        `outer` axes of the result are before its `inner` last ones, which are whole
        axes of the values; so are the first ones.
        """
        shape = self._values.shape
        rank = outer + inner
        limits = shape[first : first + len(chosen)]
        target = self._op.result.type
        if not isinstance(target, TensorType):
            raise fault(self._op, f"expected a result of known shape, got {target}")
        if 0 in limits or 0 in target.get_shape():
            if self._clamps and prod(target.get_shape()):
                raise fault(self._op, "an index is clamped to an axis without cells")
            return np.zeros(target.get_shape(), self._values.dtype)
        ends = zip(chosen, limits, strict=True)
        clamped = [clamp(x, limit) for x, limit in ends]
        coordinates = [
            *(along(axis, shape[axis], rank) for axis in range(first)),
            *(positions for positions, _ in clamped),
            *(
                along(outer + number, shape[number - inner], rank)
                for number in range(inner)
            ),
        ]
        result = np.broadcast_to(self._values[tuple(coordinates)], target.get_shape())
        if self._clamps:
            return result
        inside = np.logical_and.reduce(
            np.broadcast_arrays(True, *(inside for _, inside in clamped))
        )
        return np.where(inside, result, np.zeros((), self._values.dtype))


Weight = Callable[[Array], Array]
"""The weight of a neighbour by the fraction of the index."""


def _interpolation(op: GatherOp) -> Callable[[_Cells, Array], Array]:
    """How a gather reads at indices of any kind."""
    match op.interpolation.data:
        case Interpolation.NONE:
            return lambda cells, x: cells.at(x)
        case Interpolation.NEAREST:
            rounded = _ROUNDING[op.nearest_mode.data]
            wide = numpy_dtype(computation_type(element_of(op.indices.type)))
            return lambda cells, x: cells.at(rounded(x.astype(wide)))
        case Interpolation.LINEAR:
            weights = _linear()
        case Interpolation.CUBIC:
            weights = _cubic(op.cube_coefficient.value.data)
    elements = [element_of(operand.type) for operand in op.operands]
    dtype = numpy_dtype(computation_type(promote(elements)))

    def weighted(cells: _Cells, x: Array) -> Array:
        x = x.astype(dtype)
        floor = np.floor(x)
        terms = [
            cells.at(floor + offset).astype(dtype) * weight(x - floor)
            for offset, weight in weights.items()
        ]
        return np.add.reduce(terms)

    return weighted


def _linear() -> Mapping[int, Weight]:
    """The weight of each neighbour, by its distance from the floor of the index."""

    def lower(t: Array) -> Array:
        return 1 - t

    def upper(t: Array) -> Array:
        return t

    return {0: lower, 1: upper}


def _cubic(a: float) -> Mapping[int, Weight]:
    """As `_linear`, with the coefficient of cubic convolution."""

    def near(s: Array) -> Array:
        return (a + 2) * s**3 - (a + 3) * s**2 + 1

    def far(s: Array) -> Array:
        return a * s**3 - 5 * a * s**2 + 8 * a * s - 4 * a

    def weight(offset: int) -> Weight:
        outer = offset in (-1, 2)
        return lambda t: (far if outer else near)(abs(t - offset))

    return {offset: weight(offset) for offset in (-1, 0, 1, 2)}


@prepare.register(ScatterOp)
def _prepare_scatter(op: ScatterOp) -> Step:
    is_sum = op.mode.data is ScatterMode.NORMAL
    element = element_of(op.result.type)
    wide = numpy_dtype(computation_type(element))
    dtype = numpy_dtype(element)
    shape = op.result.type.get_shape() if isinstance(op.result.type, TensorType) else ()

    def step(frame: Frame) -> None:
        updates, base = frame[op.updates], frame[op.base]
        cells, kept = _targets(op, frame[op.indices], updates.shape, shape)
        values = updates.reshape(-1)[kept]
        if not is_sum:
            frame[op.result] = _overwritten(base, cells, values)
            return
        total = np.zeros(prod(shape), wide)
        with np.errstate(all="ignore"):
            np.add.at(total, cells, values.astype(wide))
            frame[op.result] = total.reshape(shape).astype(dtype)

    return step


def _overwritten(base: Array, cells: Positions, values: Array) -> Array:
    """The base with the last value of each cell, in the order given."""
    result = base.reshape(-1).copy()
    last, where = np.unique(cells[::-1], return_index=True)
    result[last] = values[::-1][where]
    return result.reshape(base.shape)


def _targets(
    op: ScatterOp, indices: Array, updates: Shape, shape: Shape
) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """The cell in row-major order of each update that is kept, and which are kept."""
    chosen, limits, axes = _coordinates(op, indices, updates, shape)
    clamps = op.out_of_bounds.data is OutOfBounds.CLAMP
    if 0 in limits or 0 in updates:
        if clamps and prod(updates):
            raise fault(op, "an index is clamped to an axis without cells")
        return np.zeros(0, np.int64), np.zeros(prod(updates), np.bool_)
    steps = strides(shape)
    cells, kept = np.zeros(updates, np.int64), np.ones(updates, np.bool_)
    for (axis, index), limit in zip(chosen.items(), limits, strict=True):
        position, inside = clamp(index, limit)
        cells = cells + position * steps[axis]
        kept = kept & (inside | clamps)
    for axis, own in axes.items():
        cells = cells + along(own, updates[own], len(updates)) * steps[axis]
    flat = kept.reshape(-1)
    return cells.reshape(-1)[flat], flat


def _coordinates(
    op: ScatterOp, indices: Array, updates: Shape, shape: Shape
) -> tuple[dict[int, Array], Shape, dict[int, int]]:
    """Where each axis of the result gets its coordinate from.

    The indices for axes that they choose, in a shape that broadcasts to the updates',
    with the sizes of these axes; and for the other axes that axis of the updates.
    """
    axis, rank = op.axis.value.data, len(shape)
    if op.mode.data is ScatterMode.UPDATE_ND:
        depth = indices.shape[-1]
        tail = (1,) * (rank - depth)
        chosen = {
            number: indices[..., number].reshape((*indices.shape[:-1], *tail))
            for number in range(depth)
        }
        first = indices.ndim - 1
        axes = {depth + number: first + number for number in range(rank - depth)}
        return chosen, shape[:depth], axes
    if op.mode.data is ScatterMode.UPDATE_ELT:
        axes = {number: number for number in range(rank) if number != axis}
        return {axis: indices}, (shape[axis],), axes
    inner = rank - axis - 1
    spread = indices.reshape((*(1,) * axis, *indices.shape, *(1,) * inner))
    axes = {number: number for number in range(axis)}
    axes |= {rank - n: len(updates) - n for n in range(1, inner + 1)}
    return {axis: spread}, (shape[axis],), axes


def clamp(indices: Array, limit: int) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """The indices within `0 <= i < limit`, and which of them were; NaN counts as 0."""
    exact = np.asarray(indices)
    if exact.dtype.kind == "f":
        exact = np.where(np.isnan(exact), 0, exact).astype(np.float64)
        # What is below 0 or beyond the limit is out of bounds by any amount.
        exact = np.clip(exact, -1, limit).astype(np.int64)
    elif exact.dtype.kind == "u":
        exact = np.minimum(exact.astype(np.uint64), np.uint64(limit)).astype(np.int64)
    else:
        exact = exact.astype(np.int64)
    return np.clip(exact, 0, limit - 1), (exact >= 0) & (exact < limit)


def along(axis: int, size: int, rank: int) -> Positions:
    """The coordinates along one of several axes, in a shape that broadcasts."""
    shape = [size if number == axis else 1 for number in range(rank)]
    return np.arange(size, dtype=np.int64).reshape(shape)
