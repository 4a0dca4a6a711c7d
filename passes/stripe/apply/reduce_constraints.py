"""`stripe-reduce-constraints`: drop constraints that always hold, and use the others.

A constraint that holds at every point of the index ranges (those of the blocks around
included) goes away, as does one that another implies. One over a single index shortens
the range of that index instead. A block with a constraint that never holds is removed.

Before:

```mlir
stripe.block [%i : 64, %k : 8]
    in %a = %A[%i + %k] : 1
    out %c = %C[%i] : 1 add
    where -%k + 2 >= 0, %i + %k >= 0, -%i - %k + 63 >= 0 { ... }
```

After:

```mlir
stripe.block [%i : 64, %k : 3]
    in %a = %A[%i + %k] : 1
    out %c = %C[%i] : 1 add
    where -%i - %k + 63 >= 0 { ... }
```

The cells that an `init` sets are those of the whole ranges: an index in the access of
such a refinement keeps its range. After PlaidML's light constraint reduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....affine.form import LinearForm
from ....dialects.stripe.block import BlockOp, index_range
from ..analysis.kernels import blocks_of_kernels
from ..edit.blocks import restrict_index


@dataclass(frozen=True)
class StripeReduceConstraintsPass(ModulePass):
    """Drop implied constraints and shorten ranges by the others."""

    name = "stripe-reduce-constraints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reduce the constraints of all blocks that have some and run at all."""
        for block in blocks_of_kernels(op):
            if (
                block.parent is not None
                and block.conditions
                and all(block.index_ranges)
            ):
                reduce_constraints(block)


def reduce_constraints(block: BlockOp) -> None:
    """Reduce the constraints of one block, in place; it may be removed."""
    for index in range(len(block.index_ranges)):
        if not _sets_cells(block, index) and not _shorten(block, index):
            block.replace_by()
            return
    ranges = [index_range(value) for value in block.form_values]
    never = any(form.bounds(ranges)[1] < 0 for form in block.conditions)
    if never and not any(r.init is not None for r in block.refinement_list):
        block.replace_by()
        return
    kept = _needed(block.conditions, ranges)
    block.set_constraints(kept)


def _sets_cells(block: BlockOp, index: int) -> bool:
    return any(
        refinement.init is not None
        and any(form.coefficients[index] for form in refinement.access)
        for refinement in block.refinement_list
    )


def _shorten(block: BlockOp, index: int) -> bool:
    """Apply the constraints over `index` alone to its range; False if none is left."""
    low, high = 0, block.index_ranges[index] - 1
    for form in block.conditions:
        if form.support != (index,):
            continue
        step = int(form.coefficients[index])
        constant = int(form.constant)
        if step > 0:
            low = max(low, -(constant // step))
        else:
            high = min(high, constant // -step)
    if high < low:
        return any(r.init is not None for r in block.refinement_list)
    if (low, high) != (0, block.index_ranges[index] - 1):
        restrict_index(block, index, low, high - low + 1)
    return True


def _needed(forms: Sequence[LinearForm], ranges: Sequence[int]) -> list[LinearForm]:
    """The forms that can be negative, of parallel ones only the strictest."""
    strictest: dict[tuple[object, ...], LinearForm] = {}
    for form in forms:
        if form.bounds(ranges)[0] >= 0:
            continue
        known = strictest.get(form.coefficients)
        if known is None or form.constant < known.constant:
            strictest[form.coefficients] = form
    return list(strictest.values())
