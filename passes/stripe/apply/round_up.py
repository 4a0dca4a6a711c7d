"""`stripe-round-up`: whole vectors where nobody sees what is beyond the end.

A constraint that ends a range in the middle of a vector makes the last elements slow:
they take shorter vectors, or numbers one by one. Where what is computed for further
elements is never read, and its inputs may be loaded, the constraint moves to the end of
the vector. Both hold where a tile accumulates in a private buffer, of which only the
elements that exist are copied out, from operands that were staged in whole tiles. In
private memory what is loaded must have been set, too, or be what the first element of
the vectors loads.

Before, with vectors of 16 and 30 columns in tiles of 32 (`%b_stage` has whole tiles):

```mlir
%acc = stripe.alloc : !stripe.view<32xf32, private>
stripe.block [%k : 8, %j_1 : 32]
    in %b_1 = %b_stage[%k, %j_1] : 1x1
    out %c_1 = %acc[%j_1] : 1 add
    where -32 * %j - %j_1 + 99 >= 0 { ... }
stripe.block [%e : 32]
    in %from = %acc[%e] : 1
    out %to = %c[%e] : 1
    where -32 * %j - %e + 99 >= 0 { ... }
```

After:

```mlir
stripe.block [%k : 8, %j_1 : 32] ...
    where -32 * %j - %j_1 + 111 >= 0 { ... }
stripe.block [%e : 32] ...
    where -32 * %j - %e + 99 >= 0 { ... }
```

Only blocks of floating-point numbers, in which garbage does no harm, and that write
private or local buffers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....affine.form import LinearForm
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.block_values import index_range
from ...kernel_pass import KernelPass
from ...locations import check_positive
from ..analysis.kernels import blocks_of_kernels
from ..analysis.lanes import computes_with_floats, index_of_vectors, widest_vector
from ..analysis.nests import (
    AbsoluteAccess,
    absolute_access,
    is_leaf,
    is_top_level,
)
from ..analysis.readers import is_unread_where
from ..analysis.scratch import is_set_between


@dataclass(frozen=True)
class StripeRoundUpPass(KernelPass):
    """Let constraints end at whole vectors where nobody sees what is beyond."""

    name = "stripe-round-up"

    bits: int = 512
    """The width of the device's vectors in bits."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Round constraints of leaves up to whole vectors.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, bits=self.bits)
        for block in blocks_of_kernels(op):
            if is_leaf(block) and not is_top_level(block) and block.conditions:
                round_up_constraints(block, self.bits)


def round_up_constraints(block: BlockOp, bits: int) -> None:
    """Move constraints at the end of the index of the vectors, where that is safe."""
    if block.is_serial or not computes_with_floats(block):
        return
    index = index_of_vectors(block)
    if index is None:
        return
    lanes = widest_vector(block, bits)
    forms = [*block.conditions]
    for number, form in enumerate(forms):
        rounded = _rounded(form, index, lanes)
        if rounded is not None and _is_safe(block, forms, form, rounded):
            forms[number] = rounded
            block.set_constraints(forms)
            forms = [*block.conditions]


def _rounded(form: LinearForm, index: int, lanes: int) -> LinearForm | None:
    """The form with its end at a multiple of `lanes`; None if it is, or has none."""
    others = [form.coefficients[d] for d in form.support if d != index]
    if form.coefficients[index] != -1 or any(c % lanes for c in others):
        return None
    missing = -(form.constant + 1) % lanes
    return form + missing if missing else None


def _is_safe(
    block: BlockOp, forms: Sequence[LinearForm], form: LinearForm, rounded: LinearForm
) -> bool:
    """Whether points for which only `form` fails, but not rounded, may run."""
    values = block.form_values
    end, beyond = IndexSum.of(form, values), IndexSum.of(rounded, values)
    moved = {values[number] for number in _related(forms, form)}
    for number, refinement in enumerate(block.refinement_list):
        access = absolute_access(block.view(number))
        if not access.is_inside(moved):
            return False
        if refinement.direction.reads and not (
            _is_read_anyway(block, access, end) or is_set_between(access, end, beyond)
        ):
            return False
        if refinement.direction.writes and (
            refinement.direction.reads or not is_unread_where(access, end)
        ):
            return False
    return True


def _is_read_anyway(block: BlockOp, access: AbsoluteAccess, end: IndexSum) -> bool:
    """Whether points that run for sure read the same cells as those where `end` fails.

    They are the first ones along an index that nothing but `end` depends on.
    """
    return any(
        end.coefficient(index) < 0
        and end.without([index]).bounds(index_range)[0] >= 0
        and not any(index in start.values for start in access.starts)
        and all(each == end or index not in each.values for each in block.where)
        for index in block.indices
    )


def _related(forms: Sequence[LinearForm], form: LinearForm) -> set[int]:
    """The values that a form and those that share values with it limit together."""
    related = {*form.support}
    for _ in forms:
        for other in forms:
            if related & {*other.support}:
                related |= {*other.support}
    return related
