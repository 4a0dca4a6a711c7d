"""`stripe-dead-code-elimination`: remove what no output depends on.

Values that nobody uses, refinements without a load, store or block that uses them,
buffers that nobody reads with the stores into them, and blocks that write nothing or
have no points.

Before:

```mlir
%t = stripe.alloc : !stripe.view<64xf32>
stripe.block [%i : 64]
    in %a = %A[%i] : 1
    out %w = %t[%i] : 1
    out %c = %C[%i] : 1 {
  %0 = stripe.load %a : !stripe.view<1xf32>
  %1 = eltwise.exp %0 : f32
  stripe.store %1, %w : !stripe.view<1xf32>
  stripe.store %0, %c : !stripe.view<1xf32>
}
```

After:

```mlir
stripe.block [%i : 64]
    in %a = %A[%i] : 1
    out %c = %C[%i] : 1 {
  %0 = stripe.load %a : !stripe.view<1xf32>
  stripe.store %0, %c : !stripe.view<1xf32>
}
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...kernel_pass import KernelPass
from ..edit.dead_code import remove_dead_code


@dataclass(frozen=True)
class StripeDeadCodeEliminationPass(KernelPass):
    """Remove values, refinements, buffers and blocks that no output depends on."""

    name = "stripe-dead-code-elimination"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Remove until nothing more can go."""
        remove_dead_code(op)
