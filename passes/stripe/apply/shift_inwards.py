"""`stripe-shift-inwards`: let tiles end where their range does.

Where whole tiles leave something over, `stripe-separate` makes blocks for it, of ever
shorter vectors along these, each with all steps of a sum. So the last tile inside of a
work-group begins earlier instead (Halide's `TailStrategy::ShiftInwards`), or all tiles
are as far apart as lets the last one end there. Columns that two tiles have are
computed and stored twice, by the same steps.

Before, with 90 columns in tiles of 48:

```mlir
stripe.block [%j : 2]
    in %b_1 = %b[0, 48 * %j] : 64x48
    out %c_1 = %c[48 * %j] : 48 {
  %acc = stripe.alloc : !stripe.view<48xf32, private>
  stripe.block [%k : 64, %x : 48]
      in %b_2 = %b_1[%k, %x] : 1x1
      out %sum = %acc[%x] : 1 add
      where -48 * %j - %x + 89 >= 0 { ... }
  stripe.block [%x : 48]
      in %from = %acc[%x] : 1
      out %to = %c_1[%x] : 1
      where -48 * %j - %x + 89 >= 0 { ... }
}
```

After:

```mlir
stripe.block serial [%j : 2]
    in %b_1 = %b[0, 42 * %j] : 64x48
    out %c_1 = %c[42 * %j] : 48 {
  %acc = stripe.alloc : !stripe.view<48xf32, private>
  stripe.block [%k : 64, %x : 48]
      in %b_2 = %b_1[%k, %x] : 1x1
      out %sum = %acc[%x] : 1 add { ... }
  stripe.block [%x : 48]
      in %from = %acc[%x] : 1
      out %to = %c_1[%x] : 1 { ... }
}
```

Where no distance fits, the others stay where they are, and another index is 1 for the
last one. Of 180 rows in tiles of 7, of which the 26th begins with row 173:

```mlir
stripe.block serial [%i : 25, %i_last : 2]
    in %a_1 = %a[7 * %i + 173 * %i_last, 0] : 7x32
    out %c_1 = %c[7 * %i + 173 * %i_last, 0] : 7x32
    where -%i - 24 * %i_last + 24 >= 0 { ... }
```

No more than an eighth is computed twice so. Of 133 columns in tiles of 32, where it
would be more, a block of its own has the last tile, of 16 columns, from 117 on; rows
and whole vectors stay as they are.

Left alone are the tiles of top-level blocks, as work-groups must not store to the same
cells, those of which the block reads what it writes or aggregates outside of the tile,
and those for which a column is not the same in every tile.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...kernel_pass import KernelPass
from ...locations import check_positive
from ..analysis.kernels import blocks_of_kernels
from ..analysis.nests import is_leaf, is_top_level
from ..analysis.shiftable_tiles import shiftable_tiles
from ..edit.shift_inwards import shift_inwards


@dataclass(frozen=True)
class StripeShiftInwardsPass(KernelPass):
    """Let tiles begin earlier that would end within a vector."""

    name = "stripe-shift-inwards"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Move the tiles inside of work-groups that end within a vector.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, bits=self.bits)
        for block in blocks_of_kernels(op):
            if is_top_level(block) or is_leaf(block) or block.is_serial:
                continue
            while (tiles := shiftable_tiles(block, self.bits)) is not None:
                shift_inwards(tiles)
