"""Letting a block read an input from another buffer, which holds the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, Refinement, ViewType, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp
from ....dialects.stripe.reshape import ReshapeOp
from ....dialects.stripe.subscripts import split_subscripts


@dataclass(frozen=True)
class WindowShape:
    """How the cells of a window lie in another buffer."""

    order: Sequence[int]
    """Which axis each of the other's last axes is."""
    steps: Sequence[int]
    """Of each axis, how far apart those cells are that come to lie side by side."""


def steps_within(view: SSAValue) -> tuple[int, ...]:
    """How far apart the cells of a window are that the blocks inside use, by axes.

    One of a stride 2, where all other indices have one value, uses every second cell.
    """
    steps = [0] * view_type(view).rank
    _add_steps(view, steps)
    return tuple([max(step, 1) for step in steps])


def _add_steps(view: SSAValue, steps: list[int]) -> None:
    for use in view.uses:
        user = use.operation
        if isinstance(user, BlockOp):
            for axis, start in enumerate(user.access(use.index)):
                numbers = [coefficient for _, coefficient in start.terms]
                steps[axis] = gcd(steps[axis], start.constant, *numbers)
            _add_steps(user.view(use.index), steps)
            continue
        is_cell = isinstance(user, LoadOp) and user.subscripts is None
        for axis, size in enumerate(view_type(view).sizes):
            if size > 1 or not is_cell:
                steps[axis] = 1


def counts(sizes: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    """How many cells there are so far apart, along each axis of a window."""
    return tuple([(n - 1) // step + 1 for n, step in zip(sizes, steps, strict=True)])


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
    return replace_window(block, number, buffer, starts, sizes)


def redirect_window(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
    shape: WindowShape,
) -> None:
    """Give a block a window of `buffer` in place of input `number`; rewrite its uses.

    The new window has axes of size 1 in front, then those of the old one in its shape.
    """
    view = replace_window(block, number, buffer, starts, sizes)
    _reorder_uses(view, len(sizes) - len(shape.order), shape)


def replace_window(
    block: BlockOp,
    number: int,
    buffer: SSAValue,
    starts: Sequence[IndexSum],
    sizes: Sequence[int],
) -> BlockArgument:
    """Give a block a window of `buffer` in place of window `number`; the window."""
    view = block.view(number)
    type = _resized(buffer, sizes)
    accesses: list[Sequence[IndexSum]] = [*block.accesses]
    accesses[number] = starts
    block.operands[number] = buffer
    Rewriter.replace_value_with_new_type(view, type)
    block.rewrite(accesses, block.where)
    return block.view(number)


def replace_cell(
    block: BlockOp, number: int, buffer: SSAValue, starts: Sequence[IndexSum]
) -> None:
    """Give a block a cell of `buffer` in place of window `number`."""
    replace_window(block, number, buffer, starts, [1] * len(starts))


def reshaped(block: BlockOp, buffer: SSAValue, type: ViewType) -> SSAValue:
    """The memory of a buffer under another shape, in front of a block."""
    reshape = ReshapeOp(buffer, type)
    reshape.view.name_hint = buffer.name_hint
    reshape.location = block.location
    Rewriter.insert_op(reshape, InsertPoint.before(block))
    return reshape.view


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


def _reorder_uses(view: SSAValue, added: int, shape: WindowShape) -> None:
    """Let what uses a window name its axes in another order, after `added` new ones."""
    for use in list(view.uses):
        user = use.operation
        if isinstance(user, BlockOp):
            _reorder_window(user, use.index, view, added, shape)
        elif isinstance(user, LoadOp) and user.subscripts is not None:
            old = user.subscripts
            subscripts = [*[0] * added, *(old[axis] for axis in shape.order)]
            values, literals = split_subscripts(subscripts)
            user.operands = [view, *values]
            if literals is not None:
                user.properties["literals"] = literals


def _reorder_window(
    block: BlockOp, number: int, buffer: SSAValue, added: int, shape: WindowShape
) -> None:
    pairs = zip(block.access(number), shape.steps, strict=True)
    access = [_divided(start, step) for start, step in pairs]
    sizes = counts(block.view_type(number).sizes, shape.steps)
    replace_window(
        block,
        number,
        buffer,
        [*[IndexSum()] * added, *(access[axis] for axis in shape.order)],
        [*[1] * added, *(sizes[axis] for axis in shape.order)],
    )
    _reorder_uses(block.view(number), added, shape)


def _divided(start: IndexSum, step: int) -> IndexSum:
    """A sum of multiples of a step, in these steps."""
    terms = tuple([(value, coefficient // step) for value, coefficient in start.terms])
    return IndexSum(terms, start.constant // step)


def _resized(buffer: SSAValue, sizes: Sequence[int]) -> ViewType:
    return view_type(buffer).resized(sizes)
