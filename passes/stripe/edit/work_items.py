"""What a work-group aggregates, collected in private memory of its work-items."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import MemorySpace, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...locations import located
from ..analysis.nests import (
    is_top_level,
    reduction_indices,
)
from ..analysis.work_groups import is_spread, is_spread_inside, is_unrolled
from .blocks import push_constraints_inward, retarget
from .copies import copy_block, fill_block


def collect_outputs(block: BlockOp) -> None:
    """Collect in private memory what a group aggregates from initial values."""
    for number, refinement in enumerate(block.refinement_list):
        if refinement.init is None:
            _collect_inside(block, number)
            continue
        buffer = block.buffer(number)
        if is_top_level(block):
            if not reduction_indices(block):
                # The cells are set where constraints fail, too.
                push_constraints_inward(block)
                first, last = block.body.block.first_op, block.body.block.last_op
                _collect(block.view(number), refinement.init, block, first, last)
                plain = replace(refinement, aggregation=Aggregation.ASSIGN, init=None)
                block.set_refinement(number, plain)
        elif _is_whole(block, number) and buffer.has_one_use():
            _collect(buffer, refinement.init, block, block, block)
            block.set_refinement(number, replace(refinement, init=None))


def _collect_inside(block: BlockOp, number: int) -> None:
    """Collect what work-items aggregate together, each value once.

    A block among those that they share, or that are unrolled, sets cells, and others
    inside of it, which they share as well, aggregate: all of it becomes one that
    aggregates.
    """
    path = _path_to_init(block.view(number))
    if not path or not is_spread_inside(path[-1][0]):
        return
    (inner, own), (outer, _) = path[-1], path[0]
    if not is_spread(outer) and not is_unrolled(outer):
        return
    refinement = inner.refinement(own)
    if refinement.init is not None:
        _collect(block.view(number), refinement.init, block, outer, outer)
    for each, output in path:
        plain = replace(each.refinement(output), aggregation=refinement.aggregation)
        each.set_refinement(output, replace(plain, init=None))


def _path_to_init(view: SSAValue) -> list[tuple[BlockOp, int]]:
    """The blocks around each other that use a view, to the one that sets its cells.

    None of them where others use it, or where points around that one meet on cells.
    """
    path: list[tuple[BlockOp, int]] = []
    while view.has_one_use():
        use = next(iter(view.uses))
        block = use.operation
        if not isinstance(block, BlockOp):
            return []
        path.append((block, use.index))
        refinement = block.refinement(use.index)
        if refinement.init is not None:
            return path
        is_plain = refinement.aggregation is Aggregation.ASSIGN
        if not is_plain or block.where or reduction_indices(block):
            return []
        view = block.view(use.index)
    return []


def _is_whole(block: BlockOp, number: int) -> bool:
    """Whether every point of a block has all of an outer view, which is plain."""
    buffer = block.buffer(number)
    outer = buffer.owner.parent_op() if isinstance(buffer.owner, Block) else None
    if not isinstance(outer, BlockOp) or buffer.type != block.view(number).type:
        return False
    around = outer.refinement(outer.views.index(buffer))
    access = block.refinement(number).access
    is_plain = around.aggregation is Aggregation.ASSIGN
    return is_plain and not any(form.support or form.constant for form in access)


def _collect(
    view: SSAValue,
    init: int | float,
    origin: BlockOp,
    first: Operation | None,
    last: Operation | None,
) -> None:
    """Let the statements from `first` to `last` use a private buffer for a view."""
    if first is None or last is None:
        return
    private = view_type(view).in_space(MemorySpace.PRIVATE)
    accumulator = AllocOp(private, f"{view.name_hint or 'out'}_acc")
    retarget(view, accumulator.view)
    fill = fill_block(accumulator.view, init)
    opening = [located(accumulator, origin), located(fill, origin)]
    Rewriter.insert_op(opening, InsertPoint.before(first))
    copy = located(copy_block(accumulator.view, view), origin)
    Rewriter.insert_op(copy, InsertPoint.after(last))
