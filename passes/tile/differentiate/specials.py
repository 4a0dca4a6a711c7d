"""The derivatives of reshape, gather and scatter: what moves elements moves them back.

A gather adds the derivative of each element of its result to the cell that the element
came from, which is a scatter of sums. A scatter of sums is read by a gather. A scatter
that overwrites gives the base nothing where it was overwritten, and an update nothing
unless it is the last of its cell:

    n     the updates numbered from 1, in order
    w     the scatter of n over zeros: the last update of each cell
    dU    gather(w) == n ? gather(d) : 0
    dB    the scatter of zeros over d

Both ops clamp or drop the same indices. Where there is no gather or scatter that is the
other way round, cells are numbered in row-major order.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ....dialects.eltwise.element_types import si32
from ....dialects.tile.gather import GatherOp, GatherOptions
from ....dialects.tile.indexing import OutOfBounds
from ....dialects.tile.scatter import ScatterOp, ScatterOptions
from ....dialects.tile.special import IndexOp, ReshapeOp
from ....dialects.tile.special_shapes import GatherMode, ScatterMode
from .contractions import Parts
from .emitter import Emitter, Tensor, static
from .positions import element_positions, row_positions


def differentiate_reshape(op: ReshapeOp, d: Tensor, emitter: Emitter) -> Parts:
    """The derivative in the operand's shape."""
    shape = static(op.tensor, op).type.get_shape()
    yield op.tensor, _reshaped(d, shape, emitter)


def differentiate_gather(op: GatherOp, d: Tensor, emitter: Emitter) -> Parts:
    """The derivative by the values of a gather whose indices are integers."""
    values, indices = static(op.values, op), static(op.indices, op)
    bounds = op.options.out_of_bounds
    if op.options.mode is GatherMode.NORMAL and not op.options.batch_dims:
        options = ScatterOptions(op.options.axis, out_of_bounds=bounds)
        scatter = ScatterOp([d, indices, values], options)
        yield op.values, emitter.add(scatter)
        return
    shape = values.type.get_shape()
    rows, count = row_positions(op, emitter)
    number, size = prod(rows.type.get_shape()), prod(shape[:count])
    width = prod(shape[count:])
    table = TensorType(values.type.element_type, [size, width])
    scatter = ScatterOp(
        [
            _reshaped(d, [number, width], emitter),
            _reshaped(rows, [number], emitter),
            emitter.constant(0.0, table),
        ],
        ScatterOptions(out_of_bounds=OutOfBounds.ZERO),
    )
    yield op.values, _reshaped(emitter.add(scatter), shape, emitter)


def differentiate_scatter(
    op: ScatterOp, d: Tensor, emitter: Emitter, active: Collection[SSAValue]
) -> Parts:
    """The derivatives by the updates and the base, where these are `active`."""
    if op.updates in active:
        read = _read(op, d, emitter)
        if op.options.mode is not ScatterMode.NORMAL:
            zero = emitter.scalar(0.0, d.type.element_type)
            read = emitter.apply("cond", _is_last(op, emitter), read, zero)
        yield op.updates, read
    if op.base in active and op.options.mode is not ScatterMode.NORMAL:
        zeros = emitter.constant(0.0, static(op.updates, op).type)
        yield op.base, _write(op, zeros, d, emitter)


def _read(op: ScatterOp, tensor: Tensor, emitter: Emitter) -> Tensor:
    """The cells of a tensor, of the shape of the result, that the updates go to.

    0 for an update that is dropped.
    """
    bounds, indices = op.options.out_of_bounds, op.indices
    match op.options.mode:
        case ScatterMode.NORMAL | ScatterMode.UPDATE_SLICE:
            options = GatherOptions(op.options.axis, out_of_bounds=bounds)
        case ScatterMode.UPDATE_ND:
            options = GatherOptions(mode=GatherMode.ND, out_of_bounds=bounds)
        case ScatterMode.UPDATE_ELT:
            tensor = _reshaped(tensor, [prod(tensor.type.get_shape())], emitter)
            indices = element_positions(op, emitter)
            options = GatherOptions(out_of_bounds=OutOfBounds.ZERO)
    return emitter.add(GatherOp([tensor, indices], options))


def _write(op: ScatterOp, updates: Tensor, base: Tensor, emitter: Emitter) -> Tensor:
    """The same scatter of other updates over another base."""
    return emitter.add(ScatterOp([updates, op.indices, base], op.options))


def _is_last(op: ScatterOp, emitter: Emitter) -> Tensor:
    """Whether an update is the one that its cell has in the end."""
    shape = static(op.updates, op).type.get_shape()
    first = IndexOp(0, TensorType(si32, [prod(shape)]))
    numbers = emitter.apply("add", emitter.add(first), emitter.scalar(1, si32))
    numbers = _reshaped(numbers, shape, emitter)
    nobody: TensorType[Attribute] = TensorType(
        si32, static(op.base, op).type.get_shape()
    )
    last = _write(op, numbers, emitter.constant(0, nobody), emitter)
    return emitter.apply("cmp_eq", _read(op, last, emitter), numbers)


def _reshaped(
    tensor: Tensor, shape: list[int] | tuple[int, ...], emitter: Emitter
) -> Tensor:
    type = TensorType(tensor.type.element_type, shape)
    return tensor if tensor.type == type else emitter.add(ReshapeOp(tensor, type))
