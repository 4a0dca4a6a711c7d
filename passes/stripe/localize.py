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

Left alone are buffers that the function returns, that are aggregated into or set by an
`init`, and windows of more than `limit` bytes. After PlaidML's Localize pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.passes import ModulePass

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import element_of
from ...dialects.stripe.attributes import MemorySpace, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from .nests import drop_refinements, is_injective, retarget


@dataclass(frozen=True)
class StripeLocalizePass(ModulePass):
    """Move buffers into the one block that uses them."""

    name = "stripe-localize"

    limit: int = 65536
    """The largest window, in bytes, that becomes private."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for allocation in list(op.walk()):
            if isinstance(allocation, AllocOp):
                localize_allocation(allocation, self.limit)


def localize_allocation(allocation: AllocOp, limit: int) -> None:
    """Move an allocation into the one block that uses it, if there is one."""
    uses = list(allocation.view.uses)
    users = {use.operation for use in uses}
    if len(users) != 1:
        return
    (block,) = users
    if not isinstance(block, BlockOp) or block.parent is not allocation.parent:
        return
    numbers = [use.index for use in uses]
    accesses = {block.refinement_list[number].access for number in numbers}
    windows = {block.view_type(number) for number in numbers}
    plain = all(
        refinement.aggregation is Aggregation.ASSIGN and refinement.init is None
        for refinement in (block.refinement_list[number] for number in numbers)
    )
    (window, *others) = windows
    if len(accesses) != 1 or others or not plain or _bytes(window) > limit:
        return
    if not all(is_injective(block, number) for number in numbers):
        return
    private = AllocOp(
        ViewType.of(window.sizes, window.element_type, MemorySpace.PRIVATE)
    )
    private.view.name_hint = allocation.view.name_hint
    private.location = allocation.location
    first = block.body.block.first_op
    if first is None:
        return
    block.body.block.insert_op_before(private, first)
    for number in numbers:
        retarget(block.views[number], private.view)
    drop_refinements(block, set(numbers))
    allocation.detach()
    allocation.erase()


def _bytes(window: ViewType) -> int:
    element = window.element_type
    lanes = prod(element.get_shape()) if isinstance(element, VectorType) else 1
    return prod(window.sizes) * lanes * bit_width(element_of(element)) // 8
