"""`stripe-turn-outputs`: aggregate with another axis last, where vectors run better.

Vectors run along the last axis of an output. Where that axis is short, or inputs are in
its way, another index may be much better: of a convolution of images with channels
first, the channels of the result. Then the block writes into a scratch buffer whose
last axis that index is, and a second block copies the cells to where they belong.

Before:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0 { ... }
```

After:

```mlir
%O_turned = stripe.alloc : !stripe.view<29x64xf32>
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O_turned[%y, %co] : 1x1 add init 0 { ... }
stripe.block "O" [%co : 64, %y : 29]
    in %turned = %O_turned[%y, %co] : 1x1
    out %o = %O[%co, %y] : 1x1 { ... }
```

The scratch has an axis for each index of the output, so that its cells are dense
wherever the output's are. The cost model decides, with the time of the copy; it is only
asked where there are no long rows of whole vectors in the output, and no longer ones
will come by `stripe-merge-indices`, and where the block takes `worth` percent of the
time that its arithmetic would take in whole vectors. Top-level blocks that aggregate
numbers into cells of their own are looked at; those with tiles already, with subscripts
or with constraints on the index in question are left alone, and the rows that
`stripe-split-reduction` cuts.

It is done before blocks are fused, so that what follows reads the scratch: with a bias
added and negative numbers cut off, the second block does that and copies at once, and
`stripe-plan-fusion` makes one nest of both.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.block import BlockOp
from ....targets.hardware import Hardware, hardware_with
from ..analysis.nests import top_level_blocks
from ..analysis.reductions import aggregates_plainly, is_of_rows
from ..decide.layout import (
    arithmetic_seconds,
    has_whole_vectors,
    output_orders,
    will_merge,
)
from ..decide.model.copying import copy_seconds
from ..decide.search import best, problem_of
from ..edit.transpose import (
    Turned,
)


@dataclass(frozen=True)
class StripeTurnOutputsPass(ModulePass):
    """Aggregate into scratch with another axis last, where vectors run better there."""

    name = "stripe-turn-outputs"

    hardware: str = "cpu-avx512"
    """The description of the device: a name or the path of a file."""
    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""
    registers: int = 0
    """The number of vector registers; 0 is as the hardware says."""
    worth: int = 150
    """The time of blocks that are looked at, in percent of that of their arithmetic."""
    parallelism: int = 32
    """Rows with fewer cells than these are left to `stripe-split-reduction`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite top-level blocks that have a better order of axes."""
        hardware = hardware_with(
            self.hardware, vector_bits=self.bits, vector_registers=self.registers
        )
        for block in list(top_level_blocks(op)):
            if aggregates_plainly(block) and not is_of_rows(block, self.parallelism):
                found = self.better(block, hardware)
                if found is not None:
                    found.replace(block)

    def better(self, block: BlockOp, hardware: Hardware) -> Turned | None:
        """A faster way to compute a block; None where it is best as it is."""
        problem = problem_of(block, hardware.vector_bits)
        if len(problem.outputs) != 1 or problem.lanes < 2 or not problem.aggregates:
            return None
        orders = list(output_orders(block, problem))
        if not orders or has_whole_vectors(problem) or will_merge(block, problem):
            return None
        now = best(problem, hardware).seconds
        if now < self.worth / 100 * arithmetic_seconds(problem, hardware):
            return None
        fastest = None
        for order in orders:
            turned = Turned.of(block, order)
            inner = problem_of(turned.block, hardware.vector_bits)
            copied = copy_seconds(inner, hardware)
            launch = hardware.launch_microseconds * 1e-6
            if arithmetic_seconds(inner, hardware) + launch + copied >= now:
                continue
            seconds = best(inner, hardware).seconds + copied
            if seconds < now:
                now, fastest = seconds, turned
        return fastest
