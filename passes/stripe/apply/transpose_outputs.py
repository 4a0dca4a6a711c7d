"""`stripe-transpose-outputs`: compute outputs with another axis last, and copy them.

Applies `output order [...]` of the schedule of a block with one output: the indices of
the output in the order in which they are to be its axes. The block writes into a
scratch buffer with these axes, and a second block copies the cells to where they
belong.

Before:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<output order [1, 0]>} { ... }
```

After:

```mlir
%O_transposed = stripe.alloc : !stripe.view<29x64xf32>
stripe.block "O" [%y : 29, %co : 64, %k : 3, %ci : 64]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O_transposed[%y, %co] : 1x1 add init 0 { ... }
stripe.block "O" [%co : 64, %y : 29]
    in %transposed = %O_transposed[%y, %co] : 1x1
    out %o = %O[%co, %y] : 1x1 { ... }
```

The scratch has an axis for each index of the output, so that its cells are dense
wherever the output's are. It is done before blocks are fused, so that what follows
reads the scratch: with a bias added and negative numbers cut off, the second block does
that and copies at once, and `stripe-plan-fusion` makes one nest of both.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.tiling import OutputOrder
from ..analysis.nests import top_level_blocks
from ..edit.schedules import take_part
from ..edit.transpose import transpose_output


@dataclass(frozen=True)
class StripeTransposeOutputsPass(ModulePass):
    """Compute outputs with another axis last, and copy them."""

    name = "stripe-transpose-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the blocks that have an order; raises where it is none of theirs."""
        for block in list(top_level_blocks(op)):
            part = take_part(block, OutputOrder)
            if part is not None:
                transpose_output(block, part.order)
