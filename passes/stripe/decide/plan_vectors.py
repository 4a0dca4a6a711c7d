"""`stripe-plan-vectors`: decide along which index the vectors of a block run.

Binds an index of each innermost block to `vector`, where vectors are worth it; a block
of which an index is bound so already is left alone, and so are indices that are bound
to something else. `stripe-vectorize` makes the vectors.

Before:

```mlir
stripe.block [%k : 32, %i : 8, %j : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %acc[%i, %j] : 1x1 add { ... }
```

After:

```mlir
stripe.block [%k : 32, %i : 8, %j : 32 vector]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %acc[%i, %j] : 1x1 add { ... }
```

It is the longest index that steps through the last axis of all outputs one by one, and
through that of inputs likewise or not at all. Where there is none, vectors of four
lanes or more are worth it along an index whose values are aggregated into one cell and
lie next to each other in the inputs, or along one for which inputs have to be
collected from several places, where these are longer.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.binding import Binding, index_name
from ....dialects.stripe.block import BlockOp
from ...kernel_pass import KernelPass
from ...locations import check_positive
from ..analysis.kernels import blocks_of_kernels
from ..analysis.lanes import VectorPlan, plan_vectors
from ..analysis.nests import is_leaf
from ..edit.schedules import bind


@dataclass(frozen=True)
class StripePlanVectorsPass(KernelPass):
    """Bind an index of each innermost block to the lanes of vectors."""

    name = "stripe-plan-vectors"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind indices of the leaves of kernels.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, bits=self.bits)
        for block in blocks_of_kernels(op):
            if not is_leaf(block) or Binding.VECTOR in block.index_bindings:
                continue
            if (plan := plan_vectors(block, self.bits)) is not None:
                bind(block, [plan.index], Binding.VECTOR, _reason(block, plan))


def _reason(block: BlockOp, plan: VectorPlan) -> str:
    """Why vectors run along the index of a plan."""
    lanes = f"{plan.width} at a time"
    if plan.folds:
        return f"{lanes}, as they are neighbours where read, and meet on one cell"
    neighbours = f"{lanes}, as they are neighbours where written"
    if plan.across is not None:
        name = index_name(block.indices[plan.across], plan.across)
        return f"{neighbours}; read along {name} and transposed"
    if plan.collects:
        return f"{neighbours}; collected where read"
    return neighbours
