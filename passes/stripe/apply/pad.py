"""`stripe-pad`: round ranges of indices up, so that tiles and vectors fit them.

Applies what the schedule of an innermost block pads: a number for each index, of which
its range becomes a multiple (0 and 1 leave it alone). A constraint keeps the
points what they were; `stripe-round-up` moves it to the end of a vector where the
inputs are staged in whole tiles, so that it does no harm to run the points beyond.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 30, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<pad [0, 16, 0]>} { ... }
```

After:

```mlir
stripe.block "C" [%i : 64, %j : 32, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    where 29 - %j >= 0 { ... }
```

Indices are left alone where an output with `init` has further cells there, which it
would set. It is an error to pad a serial block: its points are in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.tiling import Padding
from ..analysis.nests import all_blocks
from ..edit.schedules import take_part
from ..edit.split import may_grow


@dataclass(frozen=True)
class StripePadPass(ModulePass):
    """Round ranges of indices up to multiples, by their schedules."""

    name = "stripe-pad"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Pad all blocks that have the attribute, and take it away.

        Raises GinghamError, located, where it does not fit the block's indices.
        """
        for block in all_blocks(op):
            padding = take_part(block, Padding)
            if padding is not None:
                for index, padded in enumerate(padding.padded(block.index_ranges)):
                    pad_range(block, index, padded)


def pad_range(block: BlockOp, index: int, padded: int) -> None:
    """Let an index have more values, with a constraint for those that it had."""
    extent = block.index_ranges[index]
    if padded <= extent or not may_grow(block, index, padded):
        return
    block.set_range(index, padded)
    block.add_where(-IndexSum.value(block.indices[index]) + (extent - 1))
