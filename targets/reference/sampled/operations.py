"""What each operation reads for some cells of its result, and what these cells are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp, element_of
from ....dialects.eltwise.table import TypeRule
from ....dialects.tile.argsort import ArgsortOp
from ....dialects.tile.contract import ContractOp
from ....dialects.tile.gather import GatherOp
from ....dialects.tile.scatter import ScatterOp
from ....dialects.tile.special import IndexOp, PrngOp, ReshapeOp, ShapeOp
from ..elements import Array, cast, literal
from ..faults import UnknownOperationError
from .contraction import contract_cells
from .estimate import Estimate, apply, equality, given
from .grid import Coordinates, Grid
from .points import Points
from .special import rows_of, shape_of, special_cells

Known = dict[SSAValue, Estimate]
"""Cells of values, on the grids where they are needed."""

_EXACT = frozenset(
    ("abs", "ceil", "floor", "ident", "max", "min", "neg", "relu", "round", "sign")
)
"""Functions that round nothing."""


def read_cells(op: Operation, wanted: Grid) -> list[Grid]:
    """The cells of each operand that cells of the result may depend on.

    Not of a contraction, for which `Points` tells. Raises UnknownOperationError for an
    operation of which that is not known.
    """
    match op:
        case ElementwiseOp() | CastOp() if _has_tensors(op):
            shapes = [shape_of(value) for value in op.operands]
            return [wanted.broadcast_from(shape) for shape in shapes]
        case ReshapeOp():
            cells = wanted.cells(shape_of(op.result))
            return [Grid.around(cells, shape_of(op.tensor))]
        case ArgsortOp() | GatherOp() | ScatterOp() | PrngOp():
            return rows_of(op, wanted)[1]
        case ConstantOp() | IndexOp():
            return []
        case ShapeOp():
            return [
                Grid(tuple(axis[:0] for axis in Grid.whole(shape_of(op.tensor)).axes))
            ]
        case _:
            raise UnknownOperationError(f"no cells of '{op.name}' are computed alone")


def _has_tensors(op: Operation) -> bool:
    return all(isinstance(value.type, TensorType) for value in op.operands)


def evaluate_cells(
    op: Operation,
    needed: Mapping[SSAValue, Grid],
    points: Mapping[Operation, Points],
    known: Known,
) -> None:
    """Compute the needed cells of an operation's results from those of its operands."""
    if isinstance(op, ArgsortOp | GatherOp | ScatterOp | PrngOp):
        _special(op, needed, known)
        return
    (result,) = op.results
    wanted = needed[result]

    def part(value: SSAValue, grid: Grid) -> Estimate:
        """Cells of an operand, a part of those that are needed of it."""
        return known[value].at(needed[value].places(grid))

    if isinstance(op, ContractOp):
        operands = [(known[value], needed[value]) for value in op.inputs]
        default = None if op.default is None else part(op.default, wanted)
        known[result] = contract_cells(points[op], operands, default, wanted)
        return
    if isinstance(op, ReshapeOp):
        known[result] = _reshaped(op, needed, known[op.tensor])
        return
    grids = read_cells(op, wanted)
    operands = [
        part(value, grid) for value, grid in zip(op.operands, grids, strict=False)
    ]
    known[result] = _simple(op, wanted, operands)


def _simple(op: Operation, wanted: Grid, operands: list[Estimate]) -> Estimate:
    """Operations that work cell by cell, and those that have no operands."""
    element = element_of(op.results[0].type)
    match op:
        case ElementwiseOp():
            found = _elementwise(op, operands)
        case CastOp():
            found = _cast(element_of(op.argument.type), element, operands[0])
        case ConstantOp():
            found = given(literal(op.number, element), element)
        case IndexOp():
            axis = op.axis.value.data % len(wanted.axes)
            rank = len(wanted.axes)
            numbers = wanted.axes[axis].astype(np.int32)
            shape = [-1 if n == axis else 1 for n in range(rank)]
            found = Estimate(numbers.reshape(shape))
        case ShapeOp():
            sizes = np.array(shape_of(op.tensor), np.int32)
            found = Estimate(sizes[wanted.axes[0]])
        case _:
            raise UnknownOperationError(f"no cells of '{op.name}' are computed alone")
    return found.spread(wanted.shape)


def _cast(source: Attribute, element: Attribute, operand: Estimate) -> Estimate:
    def converted(values: Array) -> Array:
        return cast(values, source, element)

    return apply(converted, [operand], element)


def _elementwise(op: ElementwiseOp, operands: list[Estimate]) -> Estimate:
    function, element = op.function, element_of(op.result.type)
    if function.name in ("cmp_eq", "cmp_ne"):
        equal = equality(operands[0], operands[1])
        if function.name == "cmp_eq":
            return equal
        return Estimate(~equal.values, equal.errors)

    def evaluated(*values: Array) -> Array:
        return np.asarray(function.evaluate(np, *values))

    selects = function.rule is TypeRule.SELECT
    rounds = not selects and function.name not in _EXACT
    return apply(evaluated, operands, element, rounds=rounds, selects=selects)


def _reshaped(
    op: ReshapeOp, needed: Mapping[SSAValue, Grid], operand: Estimate
) -> Estimate:
    wanted = needed[op.result]
    shape, source = shape_of(op.result), shape_of(op.tensor)
    if wanted.shape == shape and needed[op.tensor].shape == source:
        return operand.reshaped(shape)
    if not source:
        return operand.reshaped(wanted.shape)
    cells = np.unravel_index(wanted.cells(shape), source)
    places: list[Coordinates] = [
        np.searchsorted(axis, at)
        for axis, at in zip(needed[op.tensor].axes, cells, strict=True)
    ]
    return operand.at(tuple(places)).reshaped(wanted.shape)


def _special(
    op: ArgsortOp | GatherOp | ScatterOp | PrngOp,
    needed: Mapping[SSAValue, Grid],
    known: Known,
) -> None:
    """Operations on smaller tensors, see `special`."""
    main = op.results[0]
    wanted = needed.get(main) or Grid.whole(shape_of(main))
    rows, grids = rows_of(op, wanted)
    operands = [
        known[value].at(needed[value].places(grid))
        for value, grid in zip(op.operands, grids, strict=True)
    ]
    found = special_cells(op, rows, operands)
    for number, result in enumerate(op.results):
        if result in needed:
            grid = rows if number == 0 else Grid.whole(shape_of(result))
            places = grid.places(needed[result])
            known[result] = found[number].at(places)
