"""`stripe-stage`: copy windows of inputs into contiguous scratch memory.

Applies what the schedule of a nest stages: see `dialects/stripe/staging.py`, which says
what each entry means. Packing (panels in global memory, made once by a launch of
their own), blocks of an operand in local memory, and transposition are one mechanism.

Before:

```mlir
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    in %b = %B[0, 32 * %j] : 32x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      stage input 1 at 0 of 0 order [0, 1] global>} {
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      in %b_1 = %b[%k, %j_1] : 1x1
      out %c_1 = %c[%i_1, %j_1] : 1x1 add { ... }
}
```

After:

```mlir
%b_stage = stripe.alloc : !stripe.view<2x32x32xf32>
stripe.block "C_stage_b" [%j : 2, %w0 : 32, %w1 : 32]
    in %from = %B[%w0, 32 * %j + %w1] : 1x1
    out %to = %b_stage[%j, %w0, %w1] : 1x1x1 { ... copy ... }
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    in %b = %b_stage[%j, 0, 0] : 1x32x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0 {
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      in %b_1 = %b[0, %k, %j_1] : 1x1x1
      out %c_1 = %c[%i_1, %j_1] : 1x1 add { ... }
}
```

The copy is tiled itself: see `edit/copy_nests.py`. Where windows stick out of the
buffer, a block in its pieces fills what is not copied, if anybody reads that. Nests of
a function that stage the same windows, as the pieces of a partitioned block do, share
one copy. Entries apply one after the other, so that what was packed may be staged again
nearer to where it is used.

It is an error to stage what the nest writes, and memory spaces must be what the place
of the copy allows. After PlaidML's Cache pass for inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.block import BlockOp
from ...hardware_pass import HardwarePass
from ..analysis.nests import all_blocks
from ..analysis.readers import is_unread
from ..edit.copies import PackedCopies
from ..edit.schedules import take_stages
from ..edit.stage import nest_blocks, stage


@dataclass(frozen=True)
class StripeStagePass(HardwarePass):
    """Copy windows of inputs into contiguous scratch, by the schedules."""

    name = "stripe-stage"

    fills: bool = False
    """Whether what is not copied to memory of a group is set even where nobody reads it
    yet, for `stripe-drop-constraints`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert the copies that schedules ask for, and take those parts away.

        Raises GinghamError, located, for a part that does not fit the nest, or
        hardware that is not known.
        """
        hardware = self.figures
        packed = PackedCopies()
        fills: list[BlockOp] = []
        for block in all_blocks(op):
            stages = take_stages(block)
            # Copies that are put into the nest do not count.
            blocks = nest_blocks(block) if stages else []
            for staging in stages:
                fills += stage(blocks, staging, packed, hardware)
        for fill in fills:
            is_private = fill.view_type(0).space.data is MemorySpace.PRIVATE
            is_wanted = self.fills and not is_private
            if not is_wanted and is_unread(fill, may_round=hardware.has_vectors):
                Rewriter.erase_op(fill)
