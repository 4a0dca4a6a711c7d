"""`stripe-scalarize`: hand a stored value on to the loads that would read it back.

Within the statements of one point, a load through a window of the same cell as an
earlier store gives the stored value.

Before:

```mlir
stripe.block [%i : 64]
    in %a = %A[%i] : 1
    out %w = %t[%i] : 1
    in %r = %t[%i] : 1
    out %c = %C[%i] : 1 {
  %0 = stripe.load %a : !stripe.view<1xf32>
  %1 = eltwise.exp %0 : f32
  stripe.store %1, %w : !stripe.view<1xf32>
  %2 = stripe.load %r : !stripe.view<1xf32>
  %3 = eltwise.neg %2 : f32
  stripe.store %3, %c : !stripe.view<1xf32>
}
```

After:

```mlir
  %0 = stripe.load %a : !stripe.view<1xf32>
  %1 = eltwise.exp %0 : f32
  stripe.store %1, %w : !stripe.view<1xf32>
  %3 = eltwise.neg %1 : f32
  stripe.store %3, %c : !stripe.view<1xf32>
```

Two loads of one cell with no store between them become one. A cell may be chosen by
subscripts, which then must be the same values.
`stripe-dead-code-elimination` then removes buffers that nobody reads. Left alone:
stores that aggregate or have a condition, and what a block or a store through another
window between the two may have written.
After PlaidML's Scalarize pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.nests import all_blocks
from ..edit.scalarize import scalarize


@dataclass(frozen=True)
class StripeScalarizePass(ModulePass):
    """Use stored values directly instead of loading them back."""

    name = "stripe-scalarize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace loads of what was just stored, in all blocks."""
        for block in all_blocks(op):
            scalarize(block.body.block)
