"""Two indices of a block that become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from xdsl.ir import SSAValue

from ....dialects.stripe.attributes import Level, Refinement, ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.reshape import ReshapeOp
from .blocks import move_statements

_Item = TypeVar("_Item")


def may_merge(block: BlockOp, slow: int, fast: int) -> bool:
    """Whether two indices of a block can be one."""
    free = free_indices(block)
    return slow in free and fast in free and are_contiguous(block, slow, fast)


def free_indices(block: BlockOp) -> list[int]:
    """The indices that occur in accesses only."""
    constrained = {index for form in block.conditions for index in form.support}
    return [
        number
        for number, (index, level) in enumerate(
            zip(block.indices, block.index_levels, strict=True)
        )
        if level is Level.LOOP
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


def merge_pair(block: BlockOp, slow: int, fast: int) -> BlockOp:
    """Put a block with one index for the two, in the place of `slow`, for `block`."""
    kept = [n for n in range(len(block.index_ranges)) if n != fast]
    ranges = [*block.index_ranges]
    ranges[slow] *= ranges[fast]
    buffers: list[SSAValue] = []
    refinements: list[Refinement] = []
    views: list[tuple[ViewType, str | None]] = []
    positions = {n: kept.index(n) for n in kept}
    for number, refinement in enumerate(block.refinement_list):
        axes = [a for a, f in enumerate(refinement.access) if f.coefficients[fast]]
        gone = axes[0] if axes else None
        buffers.append(_reshaped(block, number, gone))
        access = _without(refinement.access, gone)
        forms = tuple(form.remap(positions, len(kept)) for form in access)
        refinements.append(replace(refinement, access=forms))
        window = block.view_type(number)
        hint = block.view(number).name_hint
        views.append((window.resized(_without(window.sizes, gone)), hint))
    body = BlockOp.empty_body([block.indices[n].name_hint for n in kept], views)
    new = BlockOp(
        [ranges[n] for n in kept],
        buffers,
        refinements,
        body,
        constraints=[form.remap(positions, len(kept)) for form in block.conditions],
        levels=[block.index_levels[n] for n in kept],
        block_name=None if block.block_name is None else block.block_name.data,
    )
    new.attributes |= block.attributes
    new.location = block.location
    old_values = [*(block.indices[n] for n in kept), *block.views]
    for old, argument in zip(old_values, body.block.args, strict=True):
        old.replace_all_uses_with(argument)
    move_statements(block.body.block, body.block)
    block.replace_by(new)
    return new


def _reshaped(block: BlockOp, number: int, gone: int | None) -> SSAValue:
    """A buffer with axis `gone` merged into the one before it."""
    buffer = block.buffer(number)
    parent = block.parent
    if gone is None or parent is None or not isinstance(buffer.type, ViewType):
        return buffer
    sizes = [*buffer.type.sizes]
    sizes[gone - 1] *= sizes[gone]
    reshape = ReshapeOp(buffer, buffer.type.resized(_without(sizes, gone)))
    reshape.view.name_hint = buffer.name_hint
    reshape.location = block.location
    parent.insert_op_before(reshape, block)
    return reshape.view


def _without(items: Sequence[_Item], gone: int | None) -> list[_Item]:
    """All items but one."""
    return [item for position, item in enumerate(items) if position != gone]
