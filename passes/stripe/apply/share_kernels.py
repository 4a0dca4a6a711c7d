"""`stripe-share-kernels`: find the top-level blocks that are the same kernel.

Networks repeat their layers. Blocks that differ only in their buffers, names and source
locations get the attribute `stripe.kernel` with the same number. The passes that follow
work on the first of them alone, and `lower-stripe-to-opencl` makes one kernel for all:
it launches the first one's with the buffers of the others, which stay as they are.

Before:

```mlir
stripe.block "T" [%i : 64] in %a = %A[%i] : 1 out %t = %T[%i] : 1 { ... }
stripe.block "B" [%j : 64] in %t = %T[%j] : 1 out %b = %B[%j] : 1 { ... }
```

After:

```mlir
stripe.block "T" [%i : 64] in %a = %A[%i] : 1 out %t = %T[%i] : 1
    attributes {stripe.kernel = 0} { ... }
stripe.block "B" [%j : 64] in %t = %T[%j] : 1 out %b = %B[%j] : 1
    attributes {stripe.kernel = 0} { ... }
```

Buffers of the same types and shapes, of which the same ones are parts of one memory:
blocks that read what they write share no kernel with those that do not.

What follows may change how a block computes but not what: passes that join blocks, or
drop outputs by what the statements around need, come before.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from ....dialects.stripe.attributes import KERNEL_ATTRIBUTE
from ....dialects.stripe.block import BlockOp
from ..analysis.kernels import kernel_structure
from ..analysis.nests import top_level_blocks


@dataclass(frozen=True)
class StripeShareKernelsPass(ModulePass):
    """Find the top-level blocks that are the same kernel."""

    name = "stripe-share-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Number the kernels that several top-level blocks share, by an attribute."""
        alike: dict[object, list[BlockOp]] = {}
        for block in top_level_blocks(op):
            alike.setdefault(kernel_structure(block), []).append(block)
        shared = [blocks for blocks in alike.values() if len(blocks) > 1]
        for number, blocks in enumerate(shared):
            for block in blocks:
                block.attributes[KERNEL_ATTRIBUTE] = IntegerAttr(number, i64)
