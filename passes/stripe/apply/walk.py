"""`stripe-walk`: aggregate in one walk what would take one walk after the other.

Applies `walk` of the schedules of blocks inside a nest (see `Walk`). A sum of values
that were computed from a maximum, or from another aggregation over the same index,
needs that to be complete, so that all values are gone through once for each, and kept.
Here they are gone through once, in tiles: a block that needs an aggregation has what
that is so far, and sums so far are made those for what it has become.

Before:

```mlir
stripe.block [%q : 64, %k : 4096]
    in %s = %S[%q, %k] : 1x1
    out %m = %M[%q] : 1 max init -inf
    attributes {stripe.schedule = #stripe.schedule<walk 1 by 64>} { ... }
stripe.block [%q : 64, %k : 4096]
    in %s = %S[%q, %k] : 1x1
    in %m = %M[%q] : 1
    out %e = %E[%q, %k] : 1x1
    attributes {stripe.schedule = #stripe.schedule<walk 1 by 64>} { ... exp(s - m) ... }
stripe.block [%q : 64, %k : 4096]
    in %e = %E[%q, %k] : 1x1
    out %l = %L[%q] : 1 add init 0
    attributes {stripe.schedule = #stripe.schedule<walk 1 by 64>} { ... }
```

After:

```mlir
... M and L are set to -inf and 0 ...
stripe.block serial [%k : 64]
    in %s = %S[0, 64 * %k] : 64x64
    inout %m = %M[0] : 64
    inout %l = %L[0] : 64 {
  %E = stripe.alloc : !stripe.view<64x64xf32, private>
  ... M_old is set to M ...
  stripe.block [%k_1 : 64, %q : 64]
      in %s_1 = %s[%q, %k_1] : 1x1
      out %m_1 = %m[%q] : 1 max { ... }
  ... M_so_far is M, and 0 where that is -inf ...
  ... M_factor is exp(M_old - M_so_far) ...
  stripe.block [%q : 64, %k_1 : 64]
      in %s_1 = %s[%q, %k_1] : 1x1
      in %m_1 = %M_so_far[%q] : 1
      out %e = %E[%q, %k_1] : 1x1 { ... exp(s - m) ... }
  ... L is multiplied by M_factor ...
  stripe.block [%k_1 : 64, %q : 64]
      in %e = %E[%q, %k_1] : 1x1
      out %l_1 = %l[%q] : 1 add { ... }
}
... L is multiplied by exp(M_so_far - M), which is 1 but where M is -inf ...
```

By which factor a sum changes follows from what is computed: `analysis/covariance.py`
has the algebra, and the table of element-wise functions says which of them turn sums
into products. A factor such as `1 / L`, of values that are divided by `L`, is the same
for all of them: it is applied behind the walk, and `L` is 1 inside. Where something
would be summed up before the first value of a maximum, its factor is 0: that is a
condition, too.

Values of a tile are in memory of the tile alone, and those of which a block is the last
reader are replaced by what it computes. The sums are rounded otherwise than without a
walk, as those of another order are.

It is an error when the blocks write values of the walk that are needed elsewhere, when
an aggregation changes by no factor, when blocks stand between them, and when their
sizes differ. After Milakov and Gimelshein, "Online normalizer calculation for softmax"
(2018), and Dao and others, "FlashAttention: Fast and Memory-Efficient Exact Attention
with IO-Awareness" (2022).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.walking import Walk
from ...locations import error_at
from ..analysis.nests import all_blocks, nested_blocks
from ..edit.online import walk
from ..edit.schedules import take_part


@dataclass(frozen=True)
class StripeWalkPass(ModulePass):
    """Aggregate in one walk what would take one walk after the other."""

    name = "stripe-walk"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Walk over the blocks of nests, by their schedules.

        Raises GinghamError, located, for blocks that one walk can not run.
        """
        for nest in all_blocks(op):
            _walk(nest)


def _walk(nest: BlockOp) -> None:
    parts = {block: take_part(block, Walk) for block in nested_blocks(nest)}
    walks = {block: part for block, part in parts.items() if part is not None}
    if not walks:
        return
    sizes = {part.size for part in walks.values()}
    if len(sizes) > 1:
        raise error_at(nest, f"cannot walk in steps of several sizes, {sorted(sizes)}")
    walk(nest, {block: part.index for block, part in walks.items()}, sizes.pop())
