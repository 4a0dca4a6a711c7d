"""Letting a block read an input from another buffer, which holds the same numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, Refinement, ViewType, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp
from ....dialects.stripe.subscripts import split_subscripts


def redirect_input(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
) -> SSAValue:
    """Give a block a window of `buffer`; the window.

    It takes the place of refinement `number` where only one statement uses that, which
    the caller then has to redirect, too. Otherwise it is a further refinement.
    """
    view = block.view(number)
    uses = list(view.uses)
    if len(uses) > 1:
        return _append_input(block, buffer, starts, sizes)
    return _replace_input(block, number, buffer, starts, sizes)


def redirect_window(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
    order: Sequence[int],
) -> None:
    """Give a block a window of `buffer` in place of input `number`; rewrite its uses.

    The new window has axes of size 1 in front, then those of the old one in `order`.
    """
    view = _replace_input(block, number, buffer, starts, sizes)
    _reorder_uses(view, len(sizes) - len(order), order)


def _replace_input(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
) -> BlockArgument:
    view = block.view(number)
    type = _resized(buffer, sizes)
    accesses: list[Sequence[IndexSum]] = [*block.accesses]
    accesses[number] = starts
    block.operands[number] = buffer
    Rewriter.replace_value_with_new_type(view, type)
    block.rewrite(accesses, block.where)
    return block.view(number)


def _append_input(
    block: BlockOp,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
) -> BlockArgument:
    access = tuple([start.form(block.form_values) for start in starts])
    refinement = Refinement(Direction.IN, access)
    type = _resized(buffer, sizes)
    return block.add_input(buffer, refinement, type, buffer.name_hint)


def _reorder_uses(view: SSAValue, added: int, order: Sequence[int]) -> None:
    """Let what uses a window name its axes in another order, after `added` new ones."""
    for use in list(view.uses):
        user = use.operation
        if isinstance(user, BlockOp):
            _reorder_window(user, use.index, view, added, order)
        elif isinstance(user, LoadOp) and user.subscripts is not None:
            old = user.subscripts
            subscripts = [*[0] * added, *(old[axis] for axis in order)]
            values, literals = split_subscripts(subscripts)
            user.operands = [view, *values]
            if literals is not None:
                user.properties["literals"] = literals


def _reorder_window(
    block: BlockOp, number: int, buffer: SSAValue, added: int, order: Sequence[int]
) -> None:
    access, sizes = block.access(number), block.view_type(number).sizes
    _replace_input(
        block,
        number,
        buffer,
        [*[IndexSum()] * added, *(access[axis] for axis in order)],
        [*[1] * added, *(sizes[axis] for axis in order)],
    )
    _reorder_uses(block.view(number), added, order)


def _resized(buffer: SSAValue, sizes: Sequence[int]) -> ViewType:
    return view_type(buffer).resized(sizes)
