"""Two indices of a block that become one, and axes that go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.stripe.attributes import ViewType, view_type
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from .redirect import reshaped

_Item = TypeVar("_Item")


def may_merge(block: BlockOp, slow: int, fast: int) -> bool:
    """Whether two indices of a block can be one."""
    free = free_indices(block)
    return slow in free and fast in free and are_contiguous(block, slow, fast)


def free_indices(block: BlockOp) -> list[int]:
    """The indices of several values that occur in accesses only."""
    constrained = {index for form in block.conditions for index in form.support}
    return [
        number
        for number, (index, binding) in enumerate(
            zip(block.indices, block.index_bindings, strict=True)
        )
        if binding is Binding.UNDECIDED
        and number not in constrained
        and index.first_use is None
        and block.index_ranges[number] > 1
    ]


def are_contiguous(block: BlockOp, slow: int, fast: int) -> bool:
    """Whether one step of `slow` goes as far as all of `fast`, in every window."""
    numbers = range(len(block.refinements))
    return all(_is_contiguous(block, number, slow, fast) for number in numbers)


def _is_contiguous(block: BlockOp, number: int, slow: int, fast: int) -> bool:
    """Whether a buffer has both indices on neighbouring axes, or none of them."""
    access = block.refinement(number).access
    places = [a for a, form in enumerate(access) if {slow, fast} & {*form.support}]
    if not places:
        return True
    axis = places[0]
    buffer = block.buffer(number).type
    return (
        isinstance(buffer, ViewType)
        and places == [axis, axis + 1]
        and access[axis].single_dimension == slow
        and access[axis + 1].single_dimension == fast
        and block.view_type(number).sizes[axis : axis + 2] == (1, 1)
        and buffer.sizes[axis + 1] == block.index_ranges[fast]
    )


def merge_pair(block: BlockOp, slow: int, fast: int) -> None:
    """Let the index `slow` of a block be both, in place."""
    accesses, where = [[*access] for access in block.accesses], block.where
    for number, refinement in enumerate(block.refinement_list):
        axes = [a for a, f in enumerate(refinement.access) if f.coefficients[fast]]
        for axis in axes:
            del accesses[number][axis]
            _remove_axis(block, number, axis)
    block.set_range(slow, block.index_ranges[slow] * block.index_ranges[fast])
    ranges, bindings = block.index_ranges, block.index_bindings
    block.body.block.erase_arg(block.indices[fast])
    block.set_ranges(_without(ranges, fast))
    block.set_bindings(_without(bindings, fast))
    block.rewrite(accesses, where)


def drop_last_axes(block: BlockOp) -> None:
    """Let the last axes of buffers go that have one place."""
    for number in range(len(block.refinements)):
        while _ends_in_one_place(block, number):
            accesses, where = [[*access] for access in block.accesses], block.where
            axis = len(accesses[number]) - 1
            _remove_axis(block, number, axis)
            del accesses[number][axis]
            block.rewrite(accesses, where)


def _ends_in_one_place(block: BlockOp, number: int) -> bool:
    """Whether the last of several axes of a buffer has one place, for all points."""
    buffer, access = block.buffer(number).type, block.refinement(number).access
    if not isinstance(buffer, ViewType) or len(access) < 2 or buffer.sizes[-1] != 1:
        return False
    last = access[-1]
    is_first = not last.support and not last.constant
    return is_first and block.view_type(number).sizes[-1] == 1


def _remove_axis(block: BlockOp, number: int, axis: int) -> None:
    """Let an axis of a buffer go, with its place in the window, not in the access."""
    block.operands[number] = _merged(block, number, axis)
    window = block.view_type(number)
    resized = window.resized(_without(window.sizes, axis))
    Rewriter.replace_value_with_new_type(block.view(number), resized)


def _merged(block: BlockOp, number: int, gone: int) -> SSAValue:
    """A buffer with axis `gone` merged into the one before it."""
    buffer = block.buffer(number)
    type = view_type(buffer)
    sizes = [*type.sizes]
    sizes[gone - 1] *= sizes[gone]
    return reshaped(block, buffer, type.resized(_without(sizes, gone)))


def _without(items: Sequence[_Item], gone: int) -> list[_Item]:
    """All items but one."""
    return [item for position, item in enumerate(items) if position != gone]
