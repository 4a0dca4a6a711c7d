"""`stripe-localize`: move a buffer into the one block that uses it.

An allocation that only one block uses, always through the same window, becomes a
private buffer of that block, as large as the window: every point of a block only reads
what it wrote itself. So do the parts that several blocks use, where they are apart.

Before:

```mlir
%t = stripe.alloc : !stripe.view<64x64xf32>
stripe.block [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %w = %t[%i, %j] : 1x1
    in %r = %t[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 { ... }
```

After:

```mlir
stripe.block [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 {
  %t = stripe.alloc : !stripe.view<1x1xf32, private>
  ...
}
```

Left alone are buffers that the function returns or sees under another shape, that are
aggregated into or set by an `init`, those of a serial block, whose points hand values
on, and windows of more than `limit` bytes. After PlaidML's Localize pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import element_of
from ...dialects.stripe.attributes import MemorySpace, Refinement, ViewType
from ...dialects.stripe.block import BlockOp, index_range
from ...dialects.stripe.ops import AllocOp
from ...dialects.stripe.reshape import ReshapeOp
from ..walking import operations
from .blocks.nests import has_own_windows, retarget


@dataclass(frozen=True)
class StripeLocalizePass(ModulePass):
    """Move buffers into the one block that uses them."""

    name = "stripe-localize"

    limit: int = 65536
    """The largest window, in bytes, that becomes private."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for allocation in operations(op):
            if isinstance(allocation, AllocOp):
                _take_only_shape(allocation)
        pending = [a for a in operations(op) if isinstance(a, AllocOp)]
        while pending:
            found: dict[BlockOp, list[AllocOp]] = {}
            for allocation in pending:
                for block in _users(allocation):
                    found.setdefault(block, []).append(allocation)
            # What moved into a block may have its only user deeper inside.
            pending = [
                moved
                for block, allocations in found.items()
                for moved in localize(block, allocations, self.limit)
            ]


def _take_only_shape(allocation: AllocOp) -> None:
    """Give a buffer that is only used under one other shape that shape."""
    uses = [*allocation.view.uses]
    while len(uses) == 1 and isinstance(uses[0].operation, ReshapeOp):
        reshape = uses[0].operation
        Rewriter.replace_value_with_new_type(allocation.view, reshape.view.type)
        reshape.view.replace_all_uses_with(allocation.view)
        reshape.detach()
        reshape.erase()
        uses = [*allocation.view.uses]


def _users(allocation: AllocOp) -> list[BlockOp]:
    """The blocks beside an allocation that may have it inside; none where anything else
    uses it, or where they hand on what is in it.
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
            allocation.detach()
            allocation.erase()
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
    return _bytes(windows.pop()) <= limit or _moves_inward(block, numbers, limit)


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
    window = block.view_type(numbers[0])
    private = AllocOp(
        ViewType.of(window.sizes, window.element_type, MemorySpace.PRIVATE)
    )
    private.view.name_hint = allocation.view.name_hint
    private.location = allocation.location
    body = block.body.block
    first = body.first_op
    if first is None:
        body.add_op(private)
    else:
        body.insert_op_before(private, first)
    for number in numbers:
        retarget(block.view(number), private.view)
    return private


def _bytes(window: ViewType) -> int:
    element = window.element_type
    lanes = prod(element.get_shape()) if isinstance(element, VectorType) else 1
    return prod(window.sizes) * lanes * bit_width(element_of(element)) // 8
