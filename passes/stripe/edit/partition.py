"""A block cut into two along an index."""

from __future__ import annotations

from ....dialects.stripe.block import BlockOp
from .blocks import shift_indices


def split_block(block: BlockOp, index: int, position: int) -> BlockOp:
    """Cut the range of an index at `position`; returns the new block of the rest.

    `for i in [0, n)` becomes `for i in [0, position)` and `for i in [0, n - position)`
    with `i + position` in place of `i`.
    """
    rest = block.clone()
    parent = block.parent
    if parent is None:
        raise ValueError("the block is not in a function")
    parent.insert_op_after(rest, block)
    block.set_range(index, position)
    rest.set_range(index, rest.index_ranges[index] - position)
    shift_indices(rest, {index: position})
    return rest
