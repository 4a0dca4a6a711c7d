"""`stripe-collect-outputs`: collect in private memory what a work-group aggregates.

Applies to top-level blocks of which a point is the work of a group: they use local
memory, or have blocks inside that work-items share. What blocks that the whole group
runs aggregate from initial values over a loop is collected in private memory, which is
set before and copied to its place afterwards. So is what a single block aggregates that
work-items share. Each work-item has the part of it that
its points use (see `stripe-distribute`).

Before:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    out %c = %C[16 * %i, 16 * %j] : 16x16 {
  stripe.block [%k : 8]
      in %a_1 = %a[0, 8 * %k] : 16x8
      out %c_1 = %c[0, 0] : 16x16 add init 0 {
    %t = stripe.alloc : !stripe.view<16x8xf32, local>
    ... a block that copies %a_1 into %t, one that adds to %c_1 ...
  }
}
```

After:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    out %c = %C[16 * %i, 16 * %j] : 16x16 {
  %c_acc = stripe.alloc : !stripe.view<16x16xf32, private>
  stripe.block [%e0 : 16, %e1 : 16]
      out %cell = %c_acc[%e0, %e1] : 1x1 { ... set to 0 ... }
  stripe.block [%k : 8]
      in %a_1 = %a[0, 8 * %k] : 16x8
      out %c_1 = %c_acc[0, 0] : 16x16 add {
    %t = stripe.alloc : !stripe.view<16x8xf32, local>
    ... a block that copies %a_1 into %t, one that adds to %c_1 ...
  }
  stripe.block [%e0 : 16, %e1 : 16]
      in %from = %c_acc[%e0, %e1] : 1x1
      out %to = %c[%e0, %e1] : 1x1 { ... copy ... }
}
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.nests import top_level_blocks
from ..analysis.work_groups import uniform_blocks, wants_work_items
from ..edit.work_items import collect_outputs


@dataclass(frozen=True)
class StripeCollectOutputsPass(ModulePass):
    """Collect in private memory what a work-group aggregates over a loop."""

    name = "stripe-collect-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite what blocks that a whole group runs aggregate."""
        for block in list(top_level_blocks(op)):
            if wants_work_items(block):
                for uniform in list(uniform_blocks(block)):
                    collect_outputs(uniform)
