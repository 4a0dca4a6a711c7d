"""`stripe-tile`: split a block into a block of tiles around a block of points.

The sizes come from the block's attribute `stripe.tile`, one array per level of tiling,
outermost first, with one size per index; or from the option `sizes`, for blocks without
that attribute that have as many indices. A size of 0 means the whole range.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 60, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.tile = [array<i64: 8, 32, 32>]} { ... }
```

After:

```mlir
stripe.block "C" [%i : 8, %j : 2]
    in %a = %A[8 * %i, 0] : 8x32
    in %b = %B[0, 32 * %j] : 32x32
    out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0 {
  stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
      in %a_1 = %a[%i_1, %k] : 1x1
      in %b_1 = %b[%k, %j_1] : 1x1
      out %c_1 = %c[%i_1, %j_1] : 1x1 add
      where 59 - 32 * %j - %j_1 >= 0 { ... }
}
```

The inner block has the indices that only aggregate first, so that its innermost loops
run over independent cells; the attribute `stripe.order` gives other orders of loops,
one per block of the nest (see `dialects/stripe/staging.py`). A range that the size does
not divide gives a constraint; the last windows then overhang their buffers, where
nothing is accessed. Where the cells are complete within one tile, `init` moves inward
with the points; it stays at the innermost level, or at the first that cuts an index
which aggregates: inside, points only aggregate. Levels `grid` and `group` stay with the
tiles, `unroll` holds for both.

It is an error when an output has `init` and its tiles would set cells that no point
reaches: where points leave gaps in a tile, or where the last tile reaches further than
they do. It is one, too, when a serial block has the attribute: its points are in order.

After PlaidML's ApplyTile (Stripe, section on tiling with uneven edges).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.staging import ORDER_ATTRIBUTE
from ....dialects.stripe.tiling import REASON_ATTRIBUTE, TILE_ATTRIBUTE
from ...locations import error_at
from ..analysis.nests import (
    all_blocks,
    top_level_blocks,
)
from ..edit.loop_order import loop_orders
from ..edit.split import (
    apply_tile_levels,
    tile_levels,
)


@dataclass(frozen=True)
class StripeTilePass(ModulePass):
    """Split blocks into tiles, by the attribute `stripe.tile` or by option."""

    name = "stripe-tile"

    sizes: tuple[int, ...] = ()
    """One size per index, for top-level blocks without the attribute and of that many
    indices.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split the blocks that have the attribute, and top-level ones by the option.

        Raises GinghamError, located, for sizes that do not fit the block's indices.
        """
        top_level = set(top_level_blocks(op))
        for block in all_blocks(op):
            attribute = block.attributes.pop(TILE_ATTRIBUTE, None)
            order = block.attributes.pop(ORDER_ATTRIBUTE, None)
            block.attributes.pop(REASON_ATTRIBUTE, None)
            if block.is_serial and (attribute is not None or order is not None):
                raise error_at(
                    block,
                    f"cannot tile: the points of a serial block have an order, and "
                    f"{ORDER_ATTRIBUTE if attribute is None else TILE_ATTRIBUTE} would "
                    "change it",
                    "tile the indices of a block around it",
                )
            if attribute is not None:
                levels = tile_levels(block, attribute)
            elif block in top_level and self._has_size_for(block):
                levels = [self.sizes]
            else:
                levels = []
            orders = [] if order is None else loop_orders(block, order)
            apply_tile_levels(block, levels, orders)

    def _has_size_for(self, block: BlockOp) -> bool:
        if block.is_serial or not self.sizes:
            return False
        return len(self.sizes) == len(block.index_ranges)
