"""`stripe-unroll`: mark the short loops over private arrays to be unrolled.

An array of a work-item stays in registers only when every position in it is known when
the kernel is compiled. So the indices of an innermost block that occur in the access of
a private buffer get the level `unroll`, if together they have at most `limit` values.
Those of a buffer with more do not count: it is too long for registers.
Buffers in which subscripts choose places do not count: they are in memory anyway.

Before:

```mlir
stripe.block [%k : 32, %i : 8, %j : 2] ...
    out %c = %acc[%i, %j] : 1x1 add { ... }
```

After:

```mlir
stripe.block [%k : 32, %i : 8 unroll, %j : 2 unroll] ...
    out %c = %acc[%i, %j] : 1x1 add { ... }
```
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass

from ...dialects.stripe.attributes import Level, LevelAttr, MemorySpace
from ...dialects.stripe.block import BlockOp
from .nests import is_leaf, is_subscripted, root_buffer
from .share_kernels import blocks_of_kernels


@dataclass(frozen=True)
class StripeUnrollPass(ModulePass):
    """Mark short loops over private arrays to be unrolled."""

    name = "stripe-unroll"

    limit: int = 64
    """The most copies of the statements that unrolling may make."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in blocks_of_kernels(op):
            if is_leaf(block):
                _mark(block, self.limit)


def _mark(block: BlockOp, limit: int) -> None:
    ranges = block.index_ranges
    private: set[int] = set()
    for number in range(len(block.refinements)):
        indices = _private_indices(block, number)
        if prod(ranges[index] for index in indices) <= limit:
            private |= indices
    if not private or prod(ranges[index] for index in private) > limit:
        return
    levels = [
        Level.UNROLL if index in private and level is Level.LOOP else level
        for index, level in enumerate(block.index_levels)
    ]
    block.properties["levels"] = ArrayAttr([LevelAttr(level) for level in levels])


def _private_indices(block: BlockOp, number: int) -> set[int]:
    """The indices of a block in the access of a private buffer; none of any other."""
    if block.view_type(number).space.data is not MemorySpace.PRIVATE:
        return set()
    if is_subscripted(root_buffer(block.view(number))):
        return set()
    return {
        index
        for form in block.refinement(number).access
        for index in form.support
        if index < len(block.index_ranges)
    }
