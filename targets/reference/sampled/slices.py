"""What of a program some cells of its results depend on, and what these should be.

`expected` goes through a flattened module twice: backwards, to find the cells of each
value that are needed, as a grid; then forwards, computing these and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.ops import element_of
from ....dialects.locations import error_at
from ....dialects.tile.contract import ContractOp
from ..elements import Array
from ..interpreter import entry_function
from .estimate import Estimate, given
from .grid import Grid
from .operations import evaluate_cells, read_cells
from .points import Points, points_of
from .special import shape_of


@dataclass(frozen=True)
class Slice:
    """What is needed of each value for some cells of a module's results.

    `cost` is about how many points of index spaces are enumerated.
    """

    function: FuncOp
    results: Mapping[int, Grid]
    needed: Mapping[SSAValue, Grid]
    points: Mapping[Operation, Points]
    cost: int


def slice_of(module: ModuleOp, results: Mapping[int, Grid]) -> Slice:
    """What cells of some of the results of a flattened module depend on.

    Raises UnknownOperationError where nobody knows what an operation reads.
    """
    function = entry_function(module)
    needed: dict[SSAValue, Grid] = {}
    points: dict[Operation, Points] = {}
    cost = 0

    def need(value: SSAValue, grid: Grid) -> None:
        needed[value] = grid.union(needed.get(value))

    for op in reversed(list(function.body.block.ops)):
        if isinstance(op, ReturnOp):
            for number, grid in results.items():
                need(op.arguments[number], grid)
            continue
        wanted = [needed[each] for each in op.results if each in needed]
        if not wanted:
            continue
        if isinstance(op, ContractOp):
            points[op] = points_of(op, wanted[0])
            cost += points[op].cost
            for number, operand in enumerate(op.inputs):
                need(operand, points[op].grid(number))
            if op.default is not None:
                need(op.default, wanted[0])
            continue
        # Of several results all are computed.
        first = needed.get(op.results[0]) or Grid.whole(shape_of(op.results[0]))
        for operand, grid in zip(op.operands, read_cells(op, first), strict=False):
            need(operand, grid)
            cost += grid.count
        cost += sum(grid.count for grid in wanted)
    return Slice(function, results, needed, points, cost)


def expected(part: Slice, inputs: Sequence[Array]) -> dict[int, Estimate]:
    """The cells of a slice's results for these inputs, as grids say."""
    known: dict[SSAValue, Estimate] = {}
    last = _last_uses(part)
    for argument, array in zip(part.function.body.block.args, inputs, strict=True):
        if argument in part.needed:
            grid = part.needed[argument]
            cells = array[np.ix_(*grid.axes)] if grid.axes else array
            known[argument] = given(cells, element_of(argument.type))
    for op in part.function.body.block.ops:
        if isinstance(op, ReturnOp):
            results = {n: op.arguments[n] for n in part.results}
            return {
                number: known[value].at(part.needed[value].places(part.results[number]))
                for number, value in results.items()
            }
        if any(result in part.needed for result in op.results):
            evaluate_cells(op, part.needed, part.points, known)
        for operand in last.get(op, ()):
            known.pop(operand, None)
    raise error_at(part.function, "the function does not end with func.return")


def _last_uses(part: Slice) -> dict[Operation, list[SSAValue]]:
    """The values that no operation behind each one needs."""
    met: set[SSAValue] = set()
    last: dict[Operation, list[SSAValue]] = {}
    for op in reversed(list(part.function.body.block.ops)):
        last[op] = [operand for operand in {*op.operands} if operand not in met]
        met.update(op.operands)
    return last
