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
on, and windows of more than the hardware's `private_bytes`. After PlaidML's
Localize pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ...hardware_pass import HardwarePass
from ...walking import operations
from ..edit.localize import localize, private_users


@dataclass(frozen=True)
class StripeLocalizePass(HardwarePass):
    """Move buffers into the one block that uses them."""

    name = "stripe-localize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Move allocations inwards, block by block, as far as they can go.

        Raises GinghamError for hardware that is not known.
        """
        limit = self.figures.point_bytes
        for allocation in operations(op):
            if isinstance(allocation, AllocOp):
                _take_only_shape(allocation)
        pending = [a for a in operations(op) if isinstance(a, AllocOp)]
        while pending:
            found: dict[BlockOp, list[AllocOp]] = {}
            for allocation in pending:
                for block in private_users(allocation):
                    found.setdefault(block, []).append(allocation)
            # What moved into a block may have its only user deeper inside.
            pending = [
                moved
                for block, allocations in found.items()
                for moved in localize(block, allocations, limit)
            ]


def _take_only_shape(allocation: AllocOp) -> None:
    """Give a buffer that is only used under one other shape that shape."""
    uses = [*allocation.view.uses]
    while len(uses) == 1 and isinstance(uses[0].operation, ReshapeOp):
        reshape = uses[0].operation
        Rewriter.replace_value_with_new_type(allocation.view, reshape.view.type)
        reshape.view.replace_all_uses_with(allocation.view)
        Rewriter.erase_op(reshape)
        uses = [*allocation.view.uses]
