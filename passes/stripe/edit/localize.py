"""Buffers that are allocated inside the block which uses them: `stripe-localize`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import MemorySpace, Refinement
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp
from ...locations import located
from ..analysis.nests import has_own_windows
from .blocks import retarget


def private_users(allocation: AllocOp) -> list[BlockOp]:
    """The blocks beside an allocation that may have it inside.

    None where anything else uses it, or where they hand on what is in it.
    """
    users = list(dict.fromkeys(use.operation for use in allocation.view.uses))
    blocks = [user for user in users if isinstance(user, BlockOp)]
    if len(blocks) != len(users):
        return []
    if any(b.is_serial or b.parent is not allocation.parent for b in blocks):
        return []
    parts = [_used_part(allocation.view, block) for block in blocks]
    are_apart = all(_are_apart(a, b) for a, b in combinations(parts, 2))
    return blocks if are_apart else []


def _used_part(view: SSAValue, block: BlockOp) -> list[tuple[int, int]]:
    """For each axis of a buffer, the first cell that a block uses and the last."""
    ranges = [index_range(value) for value in block.form_values]
    part: list[tuple[int, int]] = []
    for number in (use.index for use in view.uses if use.operation is block):
        refinement = block.refinement(number)
        sizes = block.view_type(number).sizes
        box = [
            (int(low), int(high) + size - 1)
            for (low, high), size in zip(
                (form.bounds(ranges) for form in refinement.access), sizes, strict=True
            )
        ]
        part = [
            (min(a, c), max(b, d))
            for (a, b), (c, d) in zip(part or box, box, strict=True)
        ]
    return part


def _are_apart(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]
) -> bool:
    """Whether two boxes have no cell in common."""
    return any(
        high < other_low or other_high < low
        for (low, high), (other_low, other_high) in zip(first, second, strict=True)
    )


def localize(
    block: BlockOp, allocations: Sequence[AllocOp], limit: int
) -> list[AllocOp]:
    """Move allocations that only this block uses into it, where that is possible.

    Returns those inside.
    """
    refinements = block.refinement_list
    moved: list[AllocOp] = []
    inside: list[AllocOp] = []
    dropped: set[int] = set()
    uses: dict[SSAValue, list[int]] = {}
    for number, buffer in enumerate(block.buffers):
        uses.setdefault(buffer, []).append(number)
    for allocation in allocations:
        numbers = uses[allocation.view]
        if _is_local(block, refinements, numbers, limit):
            moved.append(allocation)
            dropped |= set(numbers)
            inside.append(_allocate_inside(block, allocation, numbers))
    if dropped:
        block.drop(dropped)
    for allocation in moved:
        if allocation.view.first_use is None:
            Rewriter.erase_op(allocation)
    return inside


def _is_local(
    block: BlockOp, refinements: Sequence[Refinement], numbers: list[int], limit: int
) -> bool:
    """Whether each point uses one window, which no other point uses."""
    used = [refinements[number] for number in numbers]
    if any(r.aggregation is not Aggregation.ASSIGN or r.init is not None for r in used):
        return False
    windows = {block.view_type(number) for number in numbers}
    if len({refinement.access for refinement in used}) != 1 or len(windows) != 1:
        return False
    if not all(has_own_windows(block, number) for number in numbers):
        return False
    return windows.pop().bytes <= limit or _moves_inward(block, numbers, limit)


def _moves_inward(block: BlockOp, numbers: Sequence[int], limit: int) -> bool:
    """Whether a block inside can have the windows of these refinements to itself."""
    uses = [use for number in numbers for use in block.view(number).uses]
    users = {use.operation for use in uses}
    if len(users) != 1:
        return False
    (inner,) = users
    if not isinstance(inner, BlockOp) or inner.is_serial:
        return False
    return _is_local(inner, inner.refinement_list, [use.index for use in uses], limit)


def _allocate_inside(
    block: BlockOp, allocation: AllocOp, numbers: list[int]
) -> AllocOp:
    type = block.view_type(numbers[0]).in_space(MemorySpace.PRIVATE)
    private = located(AllocOp(type, allocation.view.name_hint), allocation)
    Rewriter.insert_op(private, InsertPoint.at_start(block.body.block))
    for number in numbers:
        retarget(block.view(number), private.view)
    return private
