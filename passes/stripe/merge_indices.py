"""`stripe-merge-indices`: indices that are contiguous in all buffers become one.

Before:

```mlir
stripe.block "O" [%x : 7, %y : 7, %co : 32, %ci : 64]
    in %i = %I[0, %x, %y, %ci] : 1x1x1x1
    in %k = %K[%ci, %co] : 1x1
    out %o = %O[0, %x, %y, %co] : 1x1x1x1 add init 0 { ... }
```

After:

```mlir
%I_1 = stripe.reshape %I : !stripe.view<1x7x7x64xf32> to !stripe.view<1x49x64xf32>
%O_1 = stripe.reshape %O : !stripe.view<1x7x7x32xf32> to !stripe.view<1x49x32xf32>
stripe.block "O" [%x : 49, %co : 32, %ci : 64]
    in %i = %I_1[0, %x, %ci] : 1x1x1
    in %k = %K[%ci, %co] : 1x1
    out %o = %O_1[0, %x, %co] : 1x1x1 add init 0 { ... }
```

Tiles of `%x` no longer end where a row of the image does: 49 points are cut into better
tiles than 7 times 7 are. Two indices merge when every buffer has both, alone on two
neighbouring axes of which the second is as long as its index, or none of them.

Left alone are blocks in which nothing aggregates, whose pieces are contiguous as they
are; serial blocks, blocks with blocks inside or with tiles that are decided; and
indices that occur in constraints or whose values the statements use. After PlaidML's
flattening, which merges indices by their strides in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.stripe.attributes import Level, Refinement, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.reshape import ReshapeOp
from .blocks.nests import (
    is_leaf,
    is_subscripted,
    move_statements,
    reduction_indices,
    top_level_blocks,
)
from .tile import TILE_ATTRIBUTE

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class StripeMergeIndicesPass(ModulePass):
    """Make one index of those that are contiguous in all buffers of a block."""

    name = "stripe-merge-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in list(top_level_blocks(op)):
            while (pair := _pair(block)) is not None:
                block = merge_pair(block, *pair)


def _pair(block: BlockOp) -> tuple[int, int] | None:
    """Two indices that can be one: the slow one and the fast one."""
    is_decided = TILE_ATTRIBUTE in block.attributes
    if is_decided or block.is_serial or not is_leaf(block):
        return None
    if not reduction_indices(block) or any(map(is_subscripted, block.views)):
        return None
    for slow, fast in permutations(_free_indices(block), 2):
        if _are_contiguous(block, slow, fast):
            return slow, fast
    return None


def may_merge(block: BlockOp, slow: int, fast: int) -> bool:
    """Whether two indices of a block can be one."""
    free = _free_indices(block)
    return slow in free and fast in free and _are_contiguous(block, slow, fast)


def _free_indices(block: BlockOp) -> list[int]:
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


def _are_contiguous(block: BlockOp, slow: int, fast: int) -> bool:
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
