"""`stripe-share-reductions`: let the work-items of a group aggregate together.

Applies to top-level blocks that aggregate and use each number of some input once, to
nests of those with others, and to parts of contractions. A group has some of the cells;
its items take turns at the values of a cell, and a tree adds up their parts in local
memory, in an order that depends on the sizes alone.

Before:

```mlir
stripe.block "S" [%i : 4096, %k : 4096]
    in %x = %X[%i, %k] : 1x1
    out %s = %S[%i] : 1 add init 0 { ... }
```

After, on a device whose groups have 256 work-items:

```mlir
stripe.block "S" [%i : 4096]
    in %x = %X[%i, 0] : 1x4096
    out %s = %S[%i] : 1 {
  %s_parts = stripe.alloc : !stripe.view<1x256xf32, local>
  stripe.block [%k : 16, %lane : 256]
      in %x_1 = %x[0, 256 * %k + %lane] : 1x1
      out %s_1 = %s_parts[0, %lane] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [0, 1] bind [_, group] because "...">} { ... }
  %s_parts_1 = stripe.alloc : !stripe.view<1x16xf32, local>
  stripe.block [%k : 16, %lane : 16]
      in %part = %s_parts[0, 16 * %k + %lane] : 1x1
      out %s_1 = %s_parts_1[0, %lane] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [0, 1] bind [_, group] because "...">} { ... }
  stripe.block [%lane : 16]
      in %part = %s_parts_1[0, %lane] : 1x1
      out %s_1 = %s[0] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [0] because "...">} { ... }
}
```

Nests over rows are shared likewise, as softmax or a norm (see `decide/gpu/nests.py`):
what an item alone uses of a row is divided among them in private memory, what they use
together is in local memory, and what several blocks read is read once. Rows so short
that lanes would not access whole sectors are copied to local memory first, and back.

```mlir
stripe.block "O" [%i : 4096]
    in %x = %X[%i, 0] : 1x4096
    out %o = %O[%i, 0] : 1x4096 {
  %x_1 = stripe.alloc : !stripe.view<1x16x256xf32, private>
  stripe.block [%e0 : 16, %lane : 256]
      in %from = %x[0, 256 * %e0 + %lane] : 1x1
      out %to = %x_1[0, %e0, %lane] : 1x1x1
      attributes {stripe.schedule = #stripe.schedule<
        tile [0, 1] bind [_, group], points bind [unroll, _]>} { ... copy ... }
  %M = stripe.alloc : !stripe.view<1x1xf32, local>
  ... the maximum of %x_1 by a tree, into %M ...
  stripe.block [%j : 16, %lane : 256]
      in %x_2 = %x_1[0, %j, %lane] : 1x1x1
      in %m = %M[0, 0] : 1x1
      out %o_1 = %o[0, 256 * %j + %lane] : 1x1
      attributes {stripe.schedule = #stripe.schedule<
        tile [0, 1] bind [_, group], points bind [unroll, _]>} { ... }
}
```

Rows that are few, or longer than the registers of a group, are cut before: a nest over
them becomes several over parts of them (see `edit/cut_rows.py`).

How many items take turns at a cell, how many cells a group has, and what the tree looks
like is decided in `decide/gpu/rows.py`. Where cells are few, their values are cut into
chunks first, as `stripe-split-reduction` does; the parts in global memory are a
reduction of their own, which is shared in the same way. Sums of floats are cut, too, so
that no item adds more than `longest` numbers one after the other. Contractions, which
use each number for many cells, are cut likewise where that is predicted to pay (see
`decide/gpu/contractions.py`), as products of few rows and columns with a long sum; only
the parts are added up here. Rows of these begin at whole vectors, of whatever length.
Left alone are blocks with tiles, with subscripts, and serial ones, and nests that have
some of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.block import BlockOp
from ...hardware_pass import HardwarePass
from ...locations import check_positive
from ..analysis.lanes import native_lanes
from ..analysis.nests import is_leaf, top_level_blocks
from ..analysis.reductions import aggregates_plainly, is_stream, longest_sum
from ..edit.blocks import leave_to_inside
from ..edit.group_reduction import share_reduction
from ..edit.partial import Lanes, split_reduction
from ..edit.split import tile_block
from .gpu.contractions import parts_of
from .gpu.nests import cut_nest, share_nest
from .gpu.rows import Sharing, sharing_of
from .gpu.walked import share_walk


@dataclass(frozen=True)
class StripeShareReductionsPass(HardwarePass):
    """Let the work-items of a group aggregate together."""

    name = "stripe-share-reductions"

    longest: int = 1024
    """How many values are aggregated one after the other into a cell at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Share every aggregation for which that pays.

        Raises GinghamError for hardware that is not known, or an option that is not
        positive.
        """
        check_positive(op, longest=self.longest)
        for block in list(top_level_blocks(op)):
            if aggregates_plainly(block):
                share = self._share if is_stream(block) else self._cut
                share(block)
            elif not is_leaf(block) and not share_walk(block, self.figures):
                for nest in cut_nest(block, self.figures) or [block]:
                    share_nest(nest, self.figures)

    def _cut(self, block: BlockOp) -> None:
        """Let groups have parts of the sums of a contraction, where that pays."""
        longest = longest_sum(block, self.longest)
        if chunks := parts_of(block, self.figures, longest):
            vector = native_lanes(block, self.figures.access_bits)
            _, parts = split_reduction(block, chunks, None, row_unit=vector)
            self._share(parts)

    def _share(self, block: BlockOp) -> None:
        sharing = sharing_of(block, self.figures, self.longest)
        if sharing is None:
            return
        if sharing.chunks:
            first, parts = split_reduction(block, sharing.chunks, None)
            _apply(first, sharing.of_chunks())
            self._share(parts)
        else:
            _apply(block, sharing)


def _apply(block: BlockOp, sharing: Sharing) -> None:
    """Let groups have tiles of the cells, and items take turns at their values."""
    around, inner, kept = tile_block(block, sharing.tile, is_innermost=False)
    leave_to_inside(around)
    lanes = sharing.lanes
    if lanes.index not in kept:
        share_reduction(inner, lanes, (), sharing.reason)
        return
    own = Lanes(kept.index(lanes.index), lanes.count, lanes.is_last)
    share_reduction(inner, own, sharing.radices, sharing.reason)
