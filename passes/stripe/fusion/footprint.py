"""What blocks of a group use of buffers: cells, bytes, operations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.element_types import bit_width
from ....dialects.eltwise.ops import ElementwiseOp, element_of
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ..blocks.nests import reduction_indices
from .shared_indices import Member

REUSE = 8
"""A block that uses each element it reads as often is a contraction: it is tiled for
registers."""


def is_contraction(block: BlockOp) -> bool:
    """Whether a block uses the elements that it reads many times."""
    if not reduction_indices(block):
        return False
    numbers = [
        number
        for number, refinement in enumerate(block.refinement_list)
        if not refinement.direction.writes
    ]
    read = sum(cells(block, number, block.index_ranges) for number in numbers)
    return prod(block.index_ranges) >= REUSE * max(read, 1)


def operations(block: BlockOp) -> int:
    """Element-wise operations at a point, an aggregation with the one before it."""
    return max(sum(isinstance(op, ElementwiseOp) for op in block.body.ops), 1)


def footprint_bytes(block: BlockOp, number: int) -> int:
    """Bytes of the part of a buffer that a block uses through a refinement."""
    return cells(block, number, block.index_ranges) * _element_bytes(block, number)


def window_bytes(member: Member, number: int, sizes: Sequence[int]) -> int:
    """Bytes of the part that one tile of the shared indices uses."""
    ranges = list(member.block.index_ranges)
    for index, size in zip(member.shared, sizes, strict=True):
        ranges[index] = min(size, ranges[index]) if size else ranges[index]
    return cells(member.block, number, ranges) * _element_bytes(member.block, number)


def cells(block: BlockOp, number: int, ranges: Sequence[int]) -> int:
    """The cells of the box that a refinement reaches over `ranges`."""
    total = 1
    windows = block.view_type(number).sizes
    for form, window in zip(block.refinement(number).access, windows, strict=True):
        own = [int(abs(c)) for c in form.coefficients[: len(ranges)]]
        total *= window + sum(c * (r - 1) for c, r in zip(own, ranges, strict=True))
    return total


def _element_bytes(block: BlockOp, number: int) -> int:
    element = block.view_type(number).element_type
    lanes = prod(element.get_shape()) if isinstance(element, VectorType) else 1
    return max(lanes * bit_width(element_of(element)) // 8, 1)


def are_all_users(memory: SSAValue, blocks: Collection[BlockOp]) -> bool:
    """Whether these blocks are all that uses an allocation, under any shape."""
    if not isinstance(memory.owner, AllocOp):
        return False
    pending: list[SSAValue] = [memory]
    users: list[Operation] = []
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, ReshapeOp):
                pending.append(use.operation.view)
            else:
                users.append(use.operation)
    return all(any(user is block for block in blocks) for user in users)
