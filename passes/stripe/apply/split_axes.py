"""`stripe-split-axes`: the digits of a place in an output become axes of their own.

Where two indices count along one axis as the digits of a number do, a tile of the
higher one leaves gaps: it can have no window of its own unless all of the lower one is
in it. So the buffer is seen with an axis for each.

Before, the even and the odd pixels of a transposed convolution:

```mlir
stripe.block "O" [%y : 28, %r : 2, %s : 2, %c : 64]
    in %i = %I[%y + %r + %s - 1, %c] : 1x1
    in %k = %K[-2 * %s - %r + 3, %c] : 1x1
    out %o = %O[2 * %y + %r] : 1 add init 0 { ... }
```

After:

```mlir
%O_1 = stripe.reshape %O : !stripe.view<56xf32> to !stripe.view<28x2xf32>
stripe.block "O" [%y : 28, %r : 2, %s : 2, %c : 64]
    in %i = %I[%y + %r + %s - 1, %c] : 1x1
    in %k = %K[-2 * %s - %r + 3, %c] : 1x1
    out %o = %O_1[%y, %r] : 1x1 add init 0 { ... }
```

So each half can be a tile of neighbouring pixels, which read one row of the kernel.
Top-level blocks are rewritten, in which no subscripts choose a cell of that output, and
axes whose size is a multiple of the digit's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....affine.form import LinearForm
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import ViewType
from ....dialects.stripe.block import BlockOp
from ..analysis.nests import is_leaf, is_number, is_subscripted, top_level_blocks
from ..edit.redirect import replace_cell, reshaped


@dataclass(frozen=True)
class StripeSplitAxesPass(ModulePass):
    """See outputs with an axis for each digit of a place."""

    name = "stripe-split-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split axes of outputs of top-level leaves as often as places have digits."""
        for block in list(top_level_blocks(op)):
            if not is_leaf(block) or block.is_serial or not all(block.index_ranges):
                continue
            for number, refinement in enumerate(block.refinement_list):
                if refinement.direction.writes:
                    while split_axis(block, number):
                        pass


def split_axis(block: BlockOp, number: int) -> bool:
    """Split one axis of an output; False when there is none to split."""
    window = block.view_type(number)
    buffer = block.buffer(number)
    is_plain = is_number(window) and not is_subscripted(block.view(number))
    if not is_plain or not isinstance(buffer.type, ViewType):
        return False
    for axis, form in enumerate(block.refinement(number).access):
        digits = _digits(form, block.index_ranges, buffer.type.sizes[axis])
        if digits is None:
            continue
        high, low, radix = digits
        starts = [*block.access(number)]
        digits = [IndexSum.of(digit, block.form_values) for digit in (high, low)]
        starts[axis : axis + 1] = digits
        sizes = [*buffer.type.sizes]
        sizes[axis : axis + 1] = [sizes[axis] // radix, radix]
        split = reshaped(block, buffer, buffer.type.resized(sizes))
        replace_cell(block, number, split, starts)
        return True
    return False


def _digits(
    form: LinearForm, ranges: Sequence[int], size: int
) -> tuple[LinearForm, LinearForm, int] | None:
    """The high digit, the low one, and the number of values that the low one may have.

    None when a place is not written so.
    """
    steps = {index: form.coefficients[index].numerator for index in form.support}
    by_step = sorted(steps, key=lambda index: -abs(steps[index]))
    for count in range(1, len(by_step)):
        radix = gcd(*(steps[index] for index in by_step[:count]))
        rest = by_step[count:]
        lows = LinearForm(
            tuple(c if n in rest else 0 for n, c in enumerate(form.coefficients)),
            form.constant,
        )
        least, most = lows.bounds(ranges)
        if size % radix or least // radix != most // radix:
            continue
        whole = int(least // radix)
        highs = (form - lows) * Fraction(1, radix) + whole
        return highs, lows - whole * radix, radix
    return None
