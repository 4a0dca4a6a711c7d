"""The cells that a gather reads or a scatter writes, numbered in row-major order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ....affine.polynomial import Polynomial
from ....dialects.aggregation import Aggregation, Combination
from ....dialects.eltwise.element_types import si32, si64, ui32, ui64
from ....dialects.tile.gather import GatherOp
from ....dialects.tile.indexing import OutOfBounds
from ....dialects.tile.scatter import ScatterOp
from ....dialects.tile.special import IndexOp
from ....dialects.tile.special_shapes import GatherMode
from .emitter import Emitter, Tensor, identity, index_names, static


@dataclass(frozen=True)
class _Coordinate:
    """A coordinate along an axis of some size; `is_given` ones may be out of bounds."""

    value: Tensor
    size: int
    is_given: bool


def row_positions(op: GatherOp, emitter: Emitter) -> tuple[Tensor, int]:
    """The row of the values that each row of the result is; -1 for none.

    A row has the axes behind those that indices choose from. The second result is how
    many axes of the values come before them; the first one is si32 with the axes of the
    result that come before.
    """
    values = static(op.values, op).type.get_shape()
    batch = op.options.batch_dims
    if op.options.mode is GatherMode.ND:
        return _nd_positions(op, emitter, values, batch)
    indices = static(op.indices, op)
    axis = op.options.axis
    result = static(op.result, op).type.get_shape()
    shape = result[: axis + len(indices.type.get_shape()) - batch]
    # The indices have the batch and their own axes of these, but not those between.
    places = identity(len(shape))
    spread = emitter.contract(
        Aggregation.ASSIGN,
        Combination.NONE,
        [(indices, (*places[:batch], *places[axis:]))],
        places,
        shape,
        index_names(len(shape)),
    )
    coordinates = [
        _Coordinate(_index(number, shape, emitter), values[number], False)
        for number in range(axis)
    ]
    coordinates.append(_Coordinate(spread, values[axis], True))
    return _position(coordinates, op.options.out_of_bounds, emitter), axis + 1


def _nd_positions(
    op: GatherOp, emitter: Emitter, values: tuple[int, ...], batch: int
) -> tuple[Tensor, int]:
    indices = static(op.indices, op)
    *shape, depth = indices.type.get_shape()
    coordinates = [
        _Coordinate(_index(number, shape, emitter), values[number], False)
        for number in range(batch)
    ]
    places = identity(len(shape))
    for number in range(depth):
        column = emitter.contract(
            Aggregation.ASSIGN,
            Combination.NONE,
            [(indices, (*places, Polynomial.constant(number)))],
            places,
            shape,
            index_names(len(shape)),
        )
        coordinates.append(_Coordinate(column, values[batch + number], True))
    if not coordinates:
        # Indices of no coordinates all mean the whole tensor.
        return emitter.constant(0, TensorType(si32, shape)), 0
    return _position(coordinates, op.options.out_of_bounds, emitter), batch + depth


def element_positions(op: ScatterOp, emitter: Emitter) -> Tensor:
    """The cell of the base that each update of mode `update_elt` goes to; -1: none."""
    indices = static(op.indices, op)
    base = static(op.base, op).type.get_shape()
    shape = indices.type.get_shape()
    axis = op.options.axis
    coordinates = [
        _Coordinate(indices, size, True)
        if number == axis
        else _Coordinate(_index(number, shape, emitter), size, False)
        for number, size in enumerate(base)
    ]
    return _position(coordinates, op.options.out_of_bounds, emitter)


def _index(axis: int, shape: Sequence[int], emitter: Emitter) -> Tensor:
    return emitter.add(IndexOp(axis, TensorType(si32, shape)))


def _position(
    coordinates: Sequence[_Coordinate], bounds: OutOfBounds, emitter: Emitter
) -> Tensor:
    """The row-major number of a cell, of type si32."""
    total: Tensor | None = None
    inside: Tensor | None = None
    for coordinate in coordinates:
        value = coordinate.value
        if coordinate.is_given:
            value, holds = _clamped(coordinate, emitter)
            inside = (
                holds if inside is None else emitter.apply("logical_and", inside, holds)
            )
        if total is not None:
            size = emitter.scalar(coordinate.size, si32)
            value = emitter.apply("add", emitter.apply("mul", total, size), value)
        total = value
    if total is None:
        raise ValueError("expected at least one coordinate")
    if inside is None or bounds is OutOfBounds.CLAMP:
        return total
    return emitter.apply("cond", inside, total, emitter.scalar(-1, si32))


def _clamped(coordinate: _Coordinate, emitter: Emitter) -> tuple[Tensor, Tensor]:
    """A coordinate brought into bounds, as si32, and whether it was there."""
    value = coordinate.value
    element = value.type.element_type
    # In a type that holds both the coordinate and the size.
    wide = _WIDE.get(element, si32)
    value = emitter.cast(value, wide)
    zero = emitter.scalar(0, wide)
    last = emitter.scalar(max(coordinate.size - 1, 0), wide)
    clamped = emitter.apply("max", emitter.apply("min", value, last), zero)
    holds = emitter.apply("cmp_eq", clamped, value)
    return emitter.cast(clamped, si32), holds


_WIDE: dict[Attribute, Attribute] = {ui32: si64, si64: si64, ui64: ui64}
