"""Removing what no output of a function depends on."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ....dialects.stripe.reshape import ReshapeOp
from ...walking import operations
from ..analysis.nests import all_blocks


def remove_dead_code(module: ModuleOp) -> None:
    """Remove values, refinements, buffers and blocks until nothing more can go."""
    # Uses come after definitions, and what is inside after what is around, so that
    # going backwards settles all but buffers in one round.
    dropped = True
    while dropped:
        buffers: list[AllocOp] = []
        for operation in reversed(operations(module)):
            if operation.parent is not None:
                _simplify(operation)
            if isinstance(operation, AllocOp) and operation.parent is not None:
                buffers.append(operation)
        dropped = _drop_buffers(module, buffers)


def _simplify(operation: Operation) -> None:
    """Remove the operation, or parts of it, if nothing depends on them."""
    if isinstance(operation, BlockOp):
        _simplify_block(operation)
        return
    is_unused = operation.results and not _has_uses(operation)
    if is_unused and (isinstance(operation, LoadOp) or is_side_effect_free(operation)):
        _erase(operation)


def _has_uses(operation: Operation) -> bool:
    return any([result.first_use is not None for result in operation.results])


def _erase(operation: Operation) -> None:
    Rewriter.erase_op(operation)


def _simplify_block(block: BlockOp) -> None:
    refinements = block.refinement_list
    writes = any([r.direction.writes for r in refinements])
    # The cells that 'init' sets are an effect too.
    sets = any([r.init is not None for r in refinements])
    runs = all(block.index_ranges) and block.body.block.first_op is not None
    if not sets and not (writes and runs):
        _erase(block)
        return
    unused = {
        number
        for number, view in enumerate(block.views)
        if view.first_use is None and refinements[number].init is None
    }
    if unused:
        block.drop(unused)
        # It may write nothing any more.
        _simplify_block(block)


def _drop_buffers(module: ModuleOp, buffers: Sequence[AllocOp]) -> bool:
    """Remove those of the buffers that nobody reads, and all stores into them."""
    unread = [each for each in reversed(buffers) if not _is_read(each.view)]
    if not unread:
        return False
    written: dict[BlockOp, set[int]] = {}
    emptied: list[Operation] = []
    for allocation in unread:
        emptied.append(allocation)
        _remove_stores(allocation.view, written, emptied)
    # What is inside first: it uses the windows of what is around.
    for block in reversed(all_blocks(module)):
        if block in written:
            block.drop(written[block])
    for operation in reversed(emptied):
        _erase(operation)
    return True


def _is_read(view: SSAValue) -> bool:
    """Whether anything but stores uses a view, its windows or its other shapes."""
    for use in view.uses:
        operation = use.operation
        if isinstance(operation, BlockOp):
            if _is_read(operation.view(use.index)):
                return True
        elif isinstance(operation, ReshapeOp):
            if _is_read(operation.view):
                return True
        elif not isinstance(operation, StoreOp):
            return True
    return False


def _remove_stores(
    view: SSAValue, written: dict[BlockOp, set[int]], emptied: list[Operation]
) -> None:
    """Remove all stores through a view, the windows cut from it and its shapes.

    Adds these windows, by the numbers of their refinements, and shapes.
    """
    for use in list(view.uses):
        operation = use.operation
        if isinstance(operation, ReshapeOp):
            emptied.append(operation)
            _remove_stores(operation.view, written, emptied)
        elif isinstance(operation, StoreOp):
            _erase(operation)
        elif isinstance(operation, BlockOp):
            written.setdefault(operation, set()).add(use.index)
            _remove_stores(operation.view(use.index), written, emptied)
