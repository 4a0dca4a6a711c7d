"""Special operations on some cells: the same operations on smaller tensors.

Along some axes an operation needs whole rows, such as the axis that is sorted; along
the others it works cell by cell, so that a grid of cells is the result of the operation
on a tensor of the grid's shape. `rows_of` says which cells of the operands these are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.eltwise.ops import element_of
from ....dialects.tile.argsort import ArgsortOp
from ....dialects.tile.gather import GatherOp
from ....dialects.tile.scatter import ScatterOp
from ....dialects.tile.special import PrngOp
from ....dialects.tile.special_shapes import GatherMode, ScatterMode
from ..dispatch import prepare
from ..elements import Array
from ..frame import Frame
from .estimate import Estimate, precision, rounded, storage
from .grid import Coordinates, Grid


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor of known sizes."""
    if not isinstance(value.type, TensorType):
        raise ValueError(f"expected a tensor, got {value.type}")
    return tuple(value.type.get_shape())


def rows_of(op: Operation, wanted: Grid) -> tuple[Grid, list[Grid]]:
    """A grid of the result that holds the wanted one, and those of the operands."""
    axes = list(wanted.axes)
    match op:
        case ArgsortOp():
            rows = _widened(op.result, wanted, range(*_one(op.options.axis)))
            return rows, [rows]
        case GatherOp():
            return wanted, _gathered(op, axes)
        case ScatterOp():
            return _scattered(op, wanted)
        case _:
            whole = [Grid.whole(shape_of(value)) for value in op.operands]
            return Grid.whole(shape_of(op.results[0])), whole


def _one(axis: int) -> tuple[int, int]:
    return axis, axis + 1


def _widened(value: SSAValue, wanted: Grid, whole: Sequence[int]) -> Grid:
    """The grid with all coordinates along some axes."""
    every = Grid.whole(shape_of(value)).axes
    return Grid(tuple(every[n] if n in whole else a for n, a in enumerate(wanted.axes)))


def _gathered(op: GatherOp, axes: list[Coordinates]) -> list[Grid]:
    values, indices = shape_of(op.values), shape_of(op.indices)
    whole = Grid.whole(values).axes
    batch = op.options.batch_dims
    if op.options.mode is GatherMode.ND:
        depth = indices[-1]
        before, behind = len(indices) - 1, batch + depth
        coordinates = np.arange(depth, dtype=np.int64)
        chosen = Grid((*axes[:before], coordinates))
        return [Grid((*axes[:batch], *whole[batch:behind], *axes[before:])), chosen]
    axis = op.options.axis
    behind = axis + len(indices) - batch
    chosen = Grid((*axes[:batch], *axes[axis:behind]))
    return [Grid((*axes[:axis], whole[axis], *axes[behind:])), chosen]


def _scattered(op: ScatterOp, wanted: Grid) -> tuple[Grid, list[Grid]]:
    updates, indices = shape_of(op.updates), shape_of(op.indices)
    rank, axis = len(wanted.axes), op.options.axis
    every = Grid.whole(updates).axes
    if op.options.mode is ScatterMode.UPDATE_ELT:
        rows = _widened(op.result, wanted, range(*_one(axis)))
        own = tuple(
            every[n] if n == axis else coordinates[coordinates < updates[n]]
            for n, coordinates in enumerate(rows.axes)
        )
        return rows, [Grid(own), Grid(own), rows]
    if op.options.mode is ScatterMode.UPDATE_ND:
        rows = _widened(op.result, wanted, range(indices[-1]))
        before, inner = 0, rank - indices[-1]
    else:
        rows = _widened(op.result, wanted, range(*_one(axis)))
        before, inner = axis, rank - axis - 1
    own = (
        *rows.axes[:before],
        *every[before : len(updates) - inner],
        *rows.axes[rank - inner :],
    )
    base = Grid.whole(shape_of(op.base))
    if base.shape == shape_of(op.result):
        base = rows
    return rows, [Grid(own), Grid.whole(indices), base]


def special_cells(
    op: Operation, rows: Grid, operands: Sequence[Estimate]
) -> list[Estimate]:
    """The results on the grid of `rows_of`, of operands on the grids that it gives."""
    match op:
        case ArgsortOp():
            return [_sorted(op, rows, operands[0])]
        case GatherOp():
            (values,) = _run(op, rows, [each.values for each in operands])
            errors = _moved(op, rows, operands, operands[0].errors)
            return [_unless_unknown(Estimate(values, errors), operands[1])]
        case ScatterOp():
            return [_unless_unknown(_placed(op, rows, operands), operands[1])]
        case _:
            results = _run(op, rows, [each.values for each in operands])
            return [
                _unless_unknown(Estimate(values), *operands)
                if kind(element_of(result.type)) is not Kind.FLOAT
                else Estimate(values.astype(np.float64))
                for values, result in zip(results, op.results, strict=True)
            ]


def _unless_unknown(found: Estimate, *chosen: Estimate) -> Estimate:
    """What was found, if the operands that choose cells are known."""
    if all(each.errors is None or not each.errors.any() for each in chosen):
        return found
    return Estimate(found.values, np.full(found.values.shape, np.inf))


def _moved(
    op: Operation, rows: Grid, operands: Sequence[Estimate], errors: Array | None
) -> Array | None:
    """The errors of the first operand, moved as its values are."""
    if errors is None:
        return None
    others = [each.values for each in operands[1:]]
    return _run(op, rows, [errors, *others])[0]


def _sorted(op: ArgsortOp, rows: Grid, operand: Estimate) -> Estimate:
    (order,) = _run(op, rows, [operand.values])
    if operand.errors is None or not operand.errors.any():
        return Estimate(order)
    axis = op.options.axis
    with np.errstate(all="ignore"):
        values = np.take_along_axis(operand.values, order, axis)
        errors = np.take_along_axis(operand.bounds, order, axis)
        gaps = np.abs(np.diff(values, axis=axis))
        ends = np.split(errors, [1], axis)[1] + np.split(errors, [-1], axis)[0]
    unknown = np.zeros(order.shape, np.bool_)
    close = (gaps <= ends) & (ends > 0)
    ahead = [slice(None)] * order.ndim
    behind = [slice(None)] * order.ndim
    ahead[axis], behind[axis] = slice(None, -1), slice(1, None)
    unknown[tuple(ahead)] |= close
    unknown[tuple(behind)] |= close
    return Estimate(order, np.where(unknown, np.inf, 0.0))


def _placed(op: ScatterOp, rows: Grid, operands: Sequence[Estimate]) -> Estimate:
    updates, indices, base = operands
    arrays = [updates.values, indices.values, base.values]
    (values,) = _run(op, rows, arrays)
    if updates.values.dtype.kind != "f":
        return Estimate(values, _placed_errors(op, rows, operands))
    element = element_of(op.result.type)
    if op.options.mode is not ScatterMode.NORMAL:
        return Estimate(values, _placed_errors(op, rows, operands))
    ones = np.ones(updates.values.shape)
    rest = [indices.values, base.values]
    (count,) = _run(op, rows, [ones, *rest])
    (magnitude,) = _run(op, rows, [np.abs(updates.values), *rest])
    own = (4 * np.sqrt(count) + 2) * precision(element) * magnitude
    own = own + storage(element) * np.abs(values)
    squares = np.broadcast_to(updates.bounds, ones.shape) ** 2
    (errors,) = _run(op, rows, [squares, *rest])
    return rounded(values, np.sqrt(errors), element, own)


def _placed_errors(
    op: ScatterOp, rows: Grid, operands: Sequence[Estimate]
) -> Array | None:
    updates, indices, base = operands
    if updates.errors is None and base.errors is None:
        return None
    errors = [
        np.broadcast_to(each.bounds, each.values.shape) for each in (updates, base)
    ]
    return _run(op, rows, [errors[0], indices.values, errors[1]])[0]


def _run(op: Operation, rows: Grid, arrays: Sequence[Array]) -> list[Array]:
    """The results of the operation on these arrays, by the interpreter."""
    types: list[Attribute] = [
        TensorType(_element(array, value), array.shape)
        for array, value in zip(arrays, op.operands, strict=True)
    ]
    arguments = Block(arg_types=types).args
    small = op.clone(dict(zip(op.operands, arguments, strict=True)))
    for number, result in enumerate(small.results):
        shape = rows.shape if number == 0 else shape_of(result)
        element = element_of(result.type)
        is_float = any(array.dtype == np.float64 for array in arrays[:1])
        if is_float and not isinstance(op, ArgsortOp | PrngOp):
            element = f64
        Rewriter.replace_value_with_new_type(result, TensorType(element, shape))
    frame = Frame(1)
    for argument, array in zip(arguments, arrays, strict=True):
        frame[argument] = array
    prepare(small)(frame)
    return [np.asarray(frame[result]) for result in small.results]


def _element(array: Array, value: SSAValue) -> Attribute:
    return f64 if array.dtype == np.float64 else element_of(value.type)
