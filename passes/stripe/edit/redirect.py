"""Letting a block read an input from another buffer, which holds the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....dialects.stripe.attributes import Direction, Refinement, ViewType, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp
from ....dialects.stripe.subscripts import split_subscripts


def redirect_input(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    access: Sequence[LinearForm],
    sizes: Sequence[int],
) -> SSAValue:
    """Give a block a window of `buffer`; the window.

    It takes the place of refinement `number` where only one statement uses that, which
    the caller then has to redirect, too. Otherwise it is a further refinement.
    """
    view = block.view(number)
    uses = list(view.uses)
    if len(uses) > 1:
        return _append_input(block, buffer, access, sizes)
    return _replace_input(block, number, buffer, access, sizes)


def redirect_window(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    access: Sequence[LinearForm],
    sizes: Sequence[int],
    order: Sequence[int],
) -> None:
    """Give a block a window of `buffer` in place of input `number`; rewrite its uses.

    The new window has axes of size 1 in front, then those of the old one in `order`.
    """
    view = _replace_input(block, number, buffer, access, sizes)
    _reorder_uses(view, len(sizes) - len(order), order)


def _replace_input(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    access: Sequence[LinearForm],
    sizes: Sequence[int],
) -> BlockArgument:
    view = block.view(number)
    type = _resized(buffer, sizes)
    refinements = list(block.refinement_list)
    refinements[number] = replace(refinements[number], access=tuple(access))
    block.operands[number] = buffer
    Rewriter.replace_value_with_new_type(view, type)
    block.set_refinements(refinements)
    return block.view(number)


def _append_input(
    block: BlockOp,
    buffer: SSAValue,
    access: Sequence[LinearForm],
    sizes: Sequence[int],
) -> BlockArgument:
    refinement = Refinement(Direction.IN, tuple(access))
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
    access = block.refinement(number).access
    sizes = block.view_type(number).sizes
    zero = LinearForm.constant_of(0, len(block.form_values))
    _replace_input(
        block,
        number,
        buffer,
        [*[zero] * added, *(access[axis] for axis in order)],
        [*[1] * added, *(sizes[axis] for axis in order)],
    )
    _reorder_uses(block.view(number), added, order)


def _resized(buffer: SSAValue, sizes: Sequence[int]) -> ViewType:
    return view_type(buffer).resized(sizes)
