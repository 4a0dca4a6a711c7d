"""`tile.gather` and `tile.scatter`: cells that tensors of indices choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

from ...dialects.eltwise.element_types import computation_type, promote
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import element_of
from ...dialects.locations import error_at
from ...dialects.tile.gather import GatherOp, Interpolation, NearestMode
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.scatter import ScatterOp
from ...dialects.tile.special_shapes import GatherMode, ScatterMode, Shape
from .boxes import strides
from .dispatch import Step, prepare
from .elements import Array
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
            result = interpolate(read, read.coordinates(indices))
        frame[op.result] = np.asarray(result).astype(values.dtype, copy=False)

    return step


class _Cells:
    """The cells of the values that a gather may read, by their coordinates.

    Coordinates are those of the axes that the indices choose from.
    """

    def __init__(self, op: GatherOp, values: Array, indices: Array) -> None:
        self._op = op
        self._values = values
        self._shape = indices.shape
        self._batch = op.options.batch_dims
        self._axis = op.options.axis
        self._is_nd = op.options.mode is GatherMode.ND
        self.clamps = op.options.out_of_bounds is OutOfBounds.CLAMP

    @property
    def limits(self) -> tuple[int, ...]:
        """The sizes of the axes that the indices choose from."""
        first = self._batch if self._is_nd else self._axis
        depth = self._shape[-1] if self._is_nd else 1
        return self._values.shape[first : first + depth]

    def coordinates(self, indices: Array) -> list[Array]:
        """An array for each coordinate, of a shape that broadcasts to the result's."""
        shape = indices.shape
        if self._is_nd:
            tail = (1,) * (self._values.ndim - self._batch - shape[-1])
            return [
                indices[..., number].reshape((*shape[:-1], *tail))
                for number in range(shape[-1])
            ]
        before = (1,) * (self._axis - self._batch)
        behind = (1,) * (self._values.ndim - self._axis - 1)
        target = (*shape[: self._batch], *before, *shape[self._batch :], *behind)
        return [indices.reshape(target)]

    def at(self, chosen: Sequence[Array], clamps: bool | None = None) -> Array:
        """The values at coordinates that are integers, clamped or 0."""
        if self._is_nd:
            first = self._batch
            outer = len(self._shape) - 1
            inner = self._values.ndim - self._batch - self._shape[-1]
        else:
            first = self._axis
            outer = self._axis + len(self._shape) - self._batch
            inner = self._values.ndim - self._axis - 1
        clamps = self.clamps if clamps is None else clamps
        return self._read(chosen, first, outer, inner, clamps)

    def _read(
        self,
        chosen: Sequence[Array],
        first: int,
        outer: int,
        inner: int,
        clamps: bool,
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
            raise error_at(self._op, f"expected a result of known shape, got {target}")
        if 0 in limits or 0 in target.get_shape():
            if self.clamps and prod(target.get_shape()):
                raise error_at(self._op, "an index is clamped to an axis without cells")
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
        if clamps:
            return result
        inside = np.logical_and.reduce(
            np.broadcast_arrays(True, *(inside for _, inside in clamped))
        )
        return np.where(inside, result, np.zeros((), self._values.dtype))


Weight = Callable[[Array], Array]
"""The weight of a neighbour by the fraction of the index."""


def _interpolation(op: GatherOp) -> Callable[[_Cells, Sequence[Array]], Array]:
    """How a gather reads at coordinates of any kind."""
    match op.options.interpolation:
        case Interpolation.NONE:
            return lambda cells, chosen: cells.at(chosen)
        case Interpolation.NEAREST:
            rounded = _ROUNDING[op.options.nearest_mode]
            wide = numpy_dtype(computation_type(element_of(op.indices.type)))
            return lambda cells, chosen: cells.at(
                [rounded(x.astype(wide)) for x in chosen]
            )
        case Interpolation.LINEAR:
            weights = _linear()
        case Interpolation.CUBIC:
            weights = _cubic(op.options.cube_coefficient)
    elements = [element_of(operand.type) for operand in op.operands]
    dtype = numpy_dtype(computation_type(promote(elements)))

    def weighted(cells: _Cells, chosen: Sequence[Array]) -> Array:
        places = [x.astype(dtype) for x in chosen]
        floors = [np.floor(x) for x in places]
        terms: list[Array] = []
        for offsets in product(weights, repeat=len(places)):
            moved = [
                floor + offset for floor, offset in zip(floors, offsets, strict=True)
            ]
            term = cells.at(moved, clamps=True).astype(dtype)
            for x, floor, offset in zip(places, floors, offsets, strict=True):
                term = term * weights[offset](x - floor)
            terms.append(term)
        total: Array = np.add.reduce(terms)
        if cells.clamps:
            return total
        zero = np.zeros((), dtype)
        for x, limit in zip(places, cells.limits, strict=True):
            total = np.where((x < 0) | (x > limit - 1), zero, total)
        return total

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
    is_sum = op.options.mode is ScatterMode.NORMAL
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
    clamps = op.options.out_of_bounds is OutOfBounds.CLAMP
    if 0 in limits or 0 in updates:
        if clamps and prod(updates):
            raise error_at(op, "an index is clamped to an axis without cells")
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
    axis, rank = op.options.axis, len(shape)
    if op.options.mode is ScatterMode.UPDATE_ND:
        depth = indices.shape[-1]
        tail = (1,) * (rank - depth)
        chosen = {
            number: indices[..., number].reshape((*indices.shape[:-1], *tail))
            for number in range(depth)
        }
        first = indices.ndim - 1
        axes = {depth + number: first + number for number in range(rank - depth)}
        return chosen, shape[:depth], axes
    if op.options.mode is ScatterMode.UPDATE_ELT:
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
