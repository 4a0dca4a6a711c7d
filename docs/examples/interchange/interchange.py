"""`stripe-interchange`: order loops by how far they step through memory.

The indices of a block may be in any order. This pass gives every innermost block the
order in which the innermost loop takes the smallest steps.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 48, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0 { ... }
```

After, since a step of `%k` moves down a row of `%B`, and one of `%j` to the next cell:

```mlir
stripe.block "C" [%i : 64, %k : 32, %j : 48]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0 { ... }
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.universe import Universe

from gingham.dialects.stripe.block import BlockOp
from gingham.passes.stripe.analysis.nests import absolute_access, is_leaf


def memory_steps(block: BlockOp) -> list[int]:
    """How many elements further each index moves in memory, all windows together."""
    steps = [0] * len(block.indices)
    for view in block.views:
        place = absolute_access(view)
        for axis, start in enumerate(place.starts):
            stride = prod(place.buffer_type.sizes[axis + 1 :])
            for number, index in enumerate(block.indices):
                steps[number] += abs(start.coefficient(index)) * stride
    return steps


class InterchangeIndices(RewritePattern):
    """Sorts the indices of an innermost block, those with the largest steps first."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BlockOp, rewriter: PatternRewriter, /) -> None:
        """Replace an innermost block by one with its indices in another order.

        Blocks around others stay, and those in order already.
        """
        steps = memory_steps(op)
        order = sorted(range(len(steps)), key=lambda number: -steps[number])
        if not is_leaf(op) or order == sorted(order):
            return
        # Where each value that the forms range over goes; captures stay behind.
        width = len(op.form_values)
        places = {number: number for number in range(width)}
        places |= {old: new for new, old in enumerate(order)}
        body = BlockOp.empty_body(
            [op.indices[old].name_hint for old in order],
            [(op.view_type(n), view.name_hint) for n, view in enumerate(op.views)],
        )
        arguments = body.block.args
        indices = [arguments[places[number]] for number in range(len(order))]
        rewriter.inline_block(
            op.body.block,
            InsertPoint.at_end(body.block),
            [*indices, *arguments[len(order) :]],
        )
        block = BlockOp(
            [op.index_ranges[old] for old in order],
            op.buffers,
            [
                replace(r, access=tuple(f.remap(places, width) for f in r.access))
                for r in op.refinement_list
            ],
            body,
            captures=op.captures,
            constraints=[form.remap(places, width) for form in op.conditions],
            bindings=[op.index_bindings[old] for old in order],
            block_name=None if op.block_name is None else op.block_name.data,
        )
        block.attributes |= op.attributes
        block.location = op.location
        rewriter.replace(op, block, [])


@dataclass(frozen=True)
class StripeInterchangePass(ModulePass):
    """Order the loops of innermost blocks by their steps through memory."""

    name = "stripe-interchange"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Interchange the indices of all innermost blocks of the module."""
        PatternRewriteWalker(InterchangeIndices()).rewrite_module(op)


UNIVERSE = Universe(
    all_passes={StripeInterchangePass.name: lambda: StripeInterchangePass}
)
"""What xDSL's tools learn from this package."""
