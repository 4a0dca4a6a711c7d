"""`stripe-localize`: move a buffer into the one block that uses it.

An allocation that only one block uses, always through the same window, becomes a
private buffer of that block, as large as the window: every point of a block only reads
what it wrote itself.

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
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.passes import ModulePass

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import element_of
from ...dialects.stripe.attributes import MemorySpace, Refinement, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from .nests import drop_refinements, has_own_windows, retarget


@dataclass(frozen=True)
class StripeLocalizePass(ModulePass):
    """Move buffers into the one block that uses them."""

    name = "stripe-localize"

    limit: int = 65536
    """The largest window, in bytes, that becomes private."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found: dict[BlockOp, list[AllocOp]] = {}
        for allocation in op.walk():
            if isinstance(allocation, AllocOp):
                block = _only_user(allocation)
                if block is not None:
                    found.setdefault(block, []).append(allocation)
        for block, allocations in found.items():
            localize(block, allocations, self.limit)


def _only_user(allocation: AllocOp) -> BlockOp | None:
    """The one block that uses an allocation, if there is one beside it."""
    users = {use.operation for use in allocation.view.uses}
    if len(users) != 1:
        return None
    (block,) = users
    if not isinstance(block, BlockOp) or block.parent is not allocation.parent:
        return None
    return None if block.is_serial else block


def localize(block: BlockOp, allocations: Sequence[AllocOp], limit: int) -> None:
    """Move allocations that only this block uses into it, where that is possible."""
    refinements = block.refinement_list
    moved: list[AllocOp] = []
    dropped: set[int] = set()
    for allocation in allocations:
        numbers = [use.index for use in allocation.view.uses]
        if _is_local(block, refinements, numbers, limit):
            moved.append(allocation)
            dropped |= set(numbers)
            _allocate_inside(block, allocation, numbers)
    if dropped:
        drop_refinements(block, dropped)
    for allocation in moved:
        allocation.detach()
        allocation.erase()


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
    if _bytes(windows.pop()) > limit:
        return False
    return all(has_own_windows(block, number) for number in numbers)


def _allocate_inside(block: BlockOp, allocation: AllocOp, numbers: list[int]) -> None:
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


def _bytes(window: ViewType) -> int:
    element = window.element_type
    lanes = prod(element.get_shape()) if isinstance(element, VectorType) else 1
    return prod(window.sizes) * lanes * bit_width(element_of(element)) // 8
