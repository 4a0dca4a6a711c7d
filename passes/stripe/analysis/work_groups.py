"""Which blocks a whole work-group runs, and which its work-items share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.binding import IN_GROUP, Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from .nests import all_blocks, nested_blocks, output_indices


def spread_indices(block: BlockOp, binding: Binding) -> list[int]:
    """The indices that are spread by a binding, those of one value left out."""
    return [
        number
        for number, own in enumerate(block.index_bindings)
        if own is binding and block.index_ranges[number] > 1
    ]


def spread_extents(block: BlockOp, binding: Binding) -> tuple[int, ...]:
    """The ranges of the indices that are spread by a binding."""
    return tuple(block.index_ranges[n] for n in spread_indices(block, binding))


def group_items(blocks: Sequence[BlockOp]) -> int:
    """The work-items that the widest of a group's blocks wants; 0 without any."""
    return team_sizes(blocks)[Binding.GROUP] if blocks else 0


def team_sizes(blocks: Sequence[BlockOp]) -> dict[Binding, int]:
    """The work-items of a group, its sub-groups, and the lanes of one."""
    most = {
        binding: max([prod(spread_extents(b, binding)) for b in blocks], default=1)
        for binding in IN_GROUP
    }
    lanes = most[Binding.LANE]
    items = max(most[Binding.GROUP], most[Binding.SUBGROUP] * lanes)
    subgroups = -(-items // lanes)
    return {Binding.GROUP: items, Binding.SUBGROUP: subgroups, Binding.LANE: lanes}


def is_spread(block: BlockOp) -> bool:
    """Whether work-items of a group share the points of a block."""
    return any(binding in IN_GROUP for binding in block.index_bindings)


def is_unrolled(block: BlockOp) -> bool:
    """Whether all that a block steps through is unrolled, and it steps at all."""
    steps = [n for n, extent in enumerate(block.index_ranges) if extent > 1]
    return bool(steps) and all(block.index_bindings[n] is Binding.UNROLL for n in steps)


def spread_blocks(block: BlockOp) -> list[BlockOp]:
    """The blocks, itself and those inside, of which that is so."""
    return [each for each in all_blocks(block) if is_spread(each)]


def is_spread_inside(block: BlockOp) -> bool:
    """Whether that is so of a block inside a block."""
    return any(each is not block for each in spread_blocks(block))


def wants_work_items(block: BlockOp) -> bool:
    """Whether work-items share what is in a top-level block, but not its points."""
    if is_spread(block):
        return False
    return _allocates_local(block) or is_spread_inside(block)


def uniform_blocks(block: BlockOp) -> Iterator[BlockOp]:
    """A block that a whole group runs, and those inside it that it runs, too."""
    yield block
    for inner in nested_blocks(block):
        if not is_spread(inner) and (
            inner.is_serial
            or _allocates_local(inner)
            or is_spread_inside(inner)
            or _is_wrapper(inner)
        ):
            yield from uniform_blocks(inner)


def shared_blocks(block: BlockOp) -> list[BlockOp]:
    """The blocks inside a block whose points the work-items of a group are to share."""
    uniform = list(uniform_blocks(block))
    return [
        inner
        for outer in uniform
        for inner in nested_blocks(outer)
        if inner not in uniform
    ]


def _allocates_local(block: BlockOp) -> bool:
    return any(
        isinstance(op, AllocOp) and op.view.type.space.data is MemorySpace.LOCAL
        for op in block.walk()
    )


def _is_wrapper(block: BlockOp) -> bool:
    """Whether a block has nothing to spread itself, but blocks inside that may have."""
    statements = list(block.body.block.ops)
    is_single = all(block.index_ranges[n] == 1 for n in output_indices(block))
    return is_single and all(isinstance(op, BlockOp) for op in statements)
