"""`stripe-vectorize`: let one point of an innermost block compute a vector.

An index that is bound to `vector`, see `stripe-plan-vectors`, becomes an index over
vectors. An input that steps along with it is loaded as a vector, one that does not
depend on it as a scalar that is broadcast. The width is the widest power of two that
divides the range, fills at most `bits` bits, and is at most 16, as OpenCL C has no
longer vectors. Private buffers that are only used by whole vectors then become buffers
of vectors, which compilers keep in registers.

Before:

```mlir
stripe.block [%k : 32, %i : 8, %j : 32 vector]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %acc[%i, %j] : 1x1 add {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  %y = stripe.load %b : !stripe.view<1x1xf32>
  %z = eltwise.mul %x, %y : f32
  stripe.store %z, %c : !stripe.view<1x1xf32, private>
}
```

After, with `bits=512`:

```mlir
stripe.block [%k : 32, %i : 8, %j : 2]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, 16 * %j] : 1x16
    out %c = %acc[%i, %j] : 1x1 add {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  %y = stripe.load %b : !stripe.view<1x16xf32>
  %v = eltwise.broadcast %x : f32 to vector<16xf32>
  %z = eltwise.mul %v, %y : vector<16xf32>
  stripe.store %z, %c : !stripe.view<1x1xvector<16xf32>, private>
}
```

An index as a number becomes a vector of numbers. Where subscripts choose the place,
they choose where a vector starts: `V[x, j]` with `x` the same in all lanes is a vector
of row `x`.

An input that the index steps through otherwise is collected. Of lanes that are a few
elements apart, the vectors that hold them all are loaded and the lanes picked; others
are loaded one by one, as are those whose subscripts differ (a gather). Where the input
is contiguous along another index, as in a transposition, one point computes a square of
both indices: rows are loaded as vectors and transposed by shuffles.

Before:

```mlir
stripe.block [%i : 64, %j : 64 vector]
    in %a = %A[%j, %i] : 1x1
    out %o = %O[%i, %j] : 1x1 {
  %x = stripe.load %a : !stripe.view<1x1xf32>
  stripe.store %x, %o : !stripe.view<1x1xf32>
}
```

After, with `bits=128`:

```mlir
stripe.block [%i : 16, %j : 16]
    in %a = %A[4 * %j, 4 * %i] : 4x4
    out %o = %O[4 * %i, 4 * %j] : 4x4 {
  %x = stripe.load %a[0, 0] : !stripe.view<4x4xf32> -> vector<4xf32>
  ... %a[1, 0], %a[2, 0], %a[3, 0], eight eltwise.shuffle, then
  stripe.store %x_1, %o[0, 0] : vector<4xf32> -> !stripe.view<4x4xf32>
  ... %o[1, 0], %o[2, 0], %o[3, 0]
}
```

It is an error where there are no such vectors: along an index that a constraint depends
on, or places or conditions of stores, where there is a computed place in a window that
the lanes move along the same axis, and in serial blocks whose points read what other
lanes wrote. An index of one value is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.binding import Binding, index_name
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...kernel_pass import KernelPass
from ...locations import check_positive, error_at
from ...walking import operations
from ..analysis.kernels import blocks_of_kernels
from ..analysis.lanes import plan_along
from ..analysis.nests import is_leaf
from ..analysis.vector_obstacles import obstacle_to_vectors
from ..edit.loop_order import unbind_vectors
from ..edit.vectors.buffers import hold_vectors
from ..edit.vectors.statements import apply_plan


@dataclass(frozen=True)
class StripeVectorizePass(KernelPass):
    """Use explicit vectors along the indices that are bound to them."""

    name = "stripe-vectorize"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Vectorize blocks of kernels, then buffers that hold whole vectors only.

        Raises GinghamError, located, for an index that vectors cannot run along, and
        for an option that is not positive.
        """
        check_positive(op, bits=self.bits)
        for block in blocks_of_kernels(op):
            bindings = block.index_bindings
            if Binding.VECTOR in bindings:
                self._vectorize(block, bindings.index(Binding.VECTOR))
        hold_vectors([each for each in operations(op) if isinstance(each, AllocOp)])

    def _vectorize(self, block: BlockOp, index: int) -> None:
        """Let an index count vectors, and be bound to nothing any more."""
        if block.index_ranges[index] > 1:
            plan = plan_along(block, index, self.bits) if is_leaf(block) else None
            if plan is None:
                name = index_name(block.indices[index], index)
                message, hint = obstacle_to_vectors(block, index, self.bits)
                raise error_at(
                    block, f"cannot make vectors along index '{name}': {message}", hint
                )
            apply_plan(block, plan)
        unbind_vectors(block, index)
