"""`stripe-transpose-outputs`: compute outputs with another axis last, and copy them.

Applies the attribute `stripe.output_order` of a block with one output: the indices of
the output in the order in which they are to be axes. The block writes into a scratch
buffer with these axes, and a second block copies the cells to where they belong.

Before:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0
    attributes {stripe.output_order = array<i64: 1, 0>} { ... }
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
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.tiling import OUTPUT_ORDER_ATTRIBUTE
from ....dialects.syntax import integers
from ...locations import error_at
from ..analysis.nests import output_indices, top_level_blocks
from ..edit.transpose import transpose_output


@dataclass(frozen=True)
class StripeTransposeOutputsPass(ModulePass):
    """Compute outputs with another axis last, and copy them."""

    name = "stripe-transpose-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the blocks that have an order; raises where it is none of theirs."""
        for block in list(top_level_blocks(op)):
            attribute = block.attributes.pop(OUTPUT_ORDER_ATTRIBUTE, None)
            if attribute is not None:
                transpose_output(block, _order(block, attribute))


def _order(block: BlockOp, attribute: Attribute) -> tuple[int, ...]:
    """The order that the attribute of a block gives; raises where it is none."""
    if sum(r.direction.writes for r in block.refinement_list) != 1:
        raise error_at(
            block, f"expected a block with {OUTPUT_ORDER_ATTRIBUTE} to have one output"
        )
    own = output_indices(block)
    is_array = isinstance(attribute, DenseArrayBase)
    if is_array and isinstance(attribute.elt_type, IntegerType):
        order = integers(attribute)
        if sorted(order) == sorted(own):
            return order
    raise error_at(
        block,
        f"expected {OUTPUT_ORDER_ATTRIBUTE} to be an array of the indices "
        f"{sorted(own)} of the output, each once, got {attribute}",
    )
