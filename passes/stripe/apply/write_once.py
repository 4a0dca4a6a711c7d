"""`stripe-write-once`: write each cell where it is needed, and only once.

What a block writes and another one copies as a whole, with nobody else to read it, is
written to the copy's place. Initial values are not set where later blocks write all
cells that points do not reach, before anybody reads them. Where no cells are set,
constraints on one index become the end of its range.

Before, two matrices one below the other:

```mlir
%P = stripe.alloc : !stripe.view<1024x64xf32>
stripe.block "P" [%i : 1024, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %p = %P[%i, %j] : 1x1 init 0
    where -%i + 511 >= 0 { ... }
%O = stripe.alloc : !stripe.view<1024x64xf32>
stripe.block [%i : 1024, %j : 64]
    in %p = %P[%i, %j] : 1x1
    out %o = %O[%i, %j] : 1x1 { ... copy ... }
stripe.block "O" [%i : 1024, %j : 64]
    in %b = %B[%i - 512, %j] : 1x1
    out %o = %O[%i, %j] : 1x1
    where %i - 512 >= 0 { ... }
```

After:

```mlir
%O = stripe.alloc : !stripe.view<1024x64xf32>
stripe.block "P" [%i : 512, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %p = %O[%i, %j] : 1x1 { ... }
stripe.block "O" [%i : 512, %j : 64]
    in %b = %B[%i, %j] : 1x1
    out %o = %O[%i + 512, %j] : 1x1 { ... }
```

Only top-level blocks without blocks inside are looked at, and cells that are a box of
their buffer, each of one point.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..analysis.nests import top_level_blocks
from ..edit.write_once import drop_overwritten, forward_copy, narrow


@dataclass(frozen=True)
class StripeWriteOncePass(ModulePass):
    """Leave out copies and initial values that nobody needs."""

    name = "stripe-write-once"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the blocks of all functions."""
        for block in list(top_level_blocks(op)):
            forward_copy(block)
        for block in list(top_level_blocks(op)):
            drop_overwritten(block)
            narrow(block)
