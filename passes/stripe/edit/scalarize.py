"""Handing a stored value on to the loads of a point that would read it back."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import ViewType, view_type
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....dialects.stripe.subscripts import Subscript
from ..analysis.nests import root_buffer

Cell: TypeAlias = tuple[
    SSAValue,
    tuple[LinearForm, ...],
    ViewType,
    tuple[Subscript, ...] | None,
    Attribute,
]
"""The buffer outside the block, the window's position in it and its type, the place in
the window, and the type of the value there.
"""


def scalarize(body: Block) -> None:
    """Forward stores to loads among the statements of one point.

    What the cells of each memory hold is kept apart, so that a store forgets no more
    than it has to look at.
    """
    known: dict[SSAValue, dict[Cell, SSAValue]] = {}
    for operation in list(body.ops):
        if isinstance(operation, BlockOp):
            for buffer in operation.buffers:
                known.pop(root_buffer(buffer), None)
        elif isinstance(operation, StoreOp):
            cell = _cell(operation, operation.value.type)
            memory = root_buffer(cell[0])
            # Another window of the memory may overlap this cell.
            known.pop(memory, None)
            if operation.condition is None and _assigns(operation.view):
                known[memory] = {cell: operation.value}
        elif isinstance(operation, LoadOp):
            cell = _cell(operation, operation.result.type)
            cells = known.setdefault(root_buffer(cell[0]), {})
            value = cells.get(cell)
            if value is None:
                cells[cell] = operation.result
                continue
            operation.result.replace_all_uses_with(value)
            Rewriter.erase_op(operation)


def _cell(op: LoadOp | StoreOp, value: Attribute) -> Cell:
    type = view_type(op.view)
    refined = window_of(op.view)
    if refined is None:
        return op.view, (), type, op.subscripts, value
    block, number = refined
    access = block.refinement(number).access
    return block.buffer(number), access, type, op.subscripts, value


def _assigns(view: SSAValue) -> bool:
    refined = window_of(view)
    if refined is None:
        return True
    block, number = refined
    return block.refinement(number).aggregation is Aggregation.ASSIGN
