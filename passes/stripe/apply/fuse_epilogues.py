"""`stripe-fuse-epilogues`: compute cells where what they need is stored.

Applies `epilogue` of schedules: what a group of the block before has collected is in
registers of its work-items (see `stripe-collect-outputs`). There the element-wise block
is computed, for the same cells, in place of the copy to memory that it would read.

Before:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    out %c = %C[16 * %i, 16 * %j] : 16x16 {
  %c_acc = stripe.alloc : !stripe.view<16x16xf32, private>
  ... blocks that set and aggregate %c_acc ...
  stripe.block [%e0 : 16, %e1 : 16]
      in %from = %c_acc[%e0, %e1] : 1x1
      out %to = %c[%e0, %e1] : 1x1 { ... copy ... }
}
stripe.block "R" [%i : 64, %j : 64]
    in %c = %C[%i, %j] : 1x1
    in %b = %B[%j] : 1
    out %r = %R[%i, %j] : 1x1
    attributes {stripe.schedule = #stripe.schedule<epilogue>} { ... add ... }
```

After:

```mlir
stripe.block "C" [%i : 4, %j : 4]
    in %a = %A[16 * %i, 0] : 16x64
    in %b = %B[16 * %j] : 16
    out %r = %R[16 * %i, 16 * %j] : 16x16 {
  %c_acc = stripe.alloc : !stripe.view<16x16xf32, private>
  ... blocks that set and aggregate %c_acc ...
  stripe.block [%e0 : 16, %e1 : 16]
      in %c = %c_acc[%e0, %e1] : 1x1
      in %b_1 = %b[%e1] : 1
      out %r_1 = %r[%e0, %e1] : 1x1 { ... add ... }
}
```

It is an error where the block reads no cells that a block before it alone has for it,
one by one, or where that is no group that collects them.

With `inside` blocks in a nest are computed so, too, wherever they can be: what a tile
has summed up is in registers there (see `stripe-accumulate`). Where somebody else reads
it, it is stored beside what is computed; what the block computes may be in its place
(see `stripe-reuse-scratch`). Tiles then leave over what they leave over of the sums, so
that there are no borders of vectors but these.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.fusion import Epilogue
from ....dialects.stripe.schedule import Schedule, schedule_of
from ....dialects.stripe.scheduled import note_done
from ...locations import error_at
from ..analysis.epilogues import ending_of, stores_of
from ..analysis.nests import all_blocks, is_top_level
from ..edit.fuse_epilogue import fuse_epilogue


@dataclass(frozen=True)
class StripeFuseEpiloguesPass(ModulePass):
    """Compute element-wise blocks where what they read is stored."""

    name = "stripe-fuse-epilogues"

    inside: bool = False
    """Whether blocks inside of others, too, are computed so wherever they can be."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply `epilogue` of all schedules.

        Raises GinghamError, located, where that cannot be.
        """
        for block in all_blocks(op):
            if schedule_of(block).part(Epilogue) is not None:
                _fuse(block)
            elif self.inside and block.parent is not None and not is_top_level(block):
                _fuse_inside(block)


def _fuse(block: BlockOp) -> None:
    ending = ending_of(block)
    if ending is None:
        raise error_at(
            block,
            "cannot be an epilogue: no block before it has each cell that it reads, "
            "one by one, for it alone",
        )
    stores = stores_of(ending)
    if stores is None:
        raise error_at(
            block,
            "cannot be an epilogue: the block before does not collect the cells in "
            "registers of work-items",
            "stripe-collect-outputs does that where work-items of a group share a sum",
        )
    schedule = schedule_of(block)
    note_done(fuse_epilogue(ending, stores), schedule)


def _fuse_inside(block: BlockOp) -> None:
    ending = ending_of(block)
    stores = None if ending is None else stores_of(ending)
    if ending is not None and stores is not None:
        note_done(fuse_epilogue(ending, stores), Schedule(parts=(Epilogue(),)))
