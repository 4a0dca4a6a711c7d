"""`stripe-permute-axes`: give buffers the order of axes that was decided.

Applies the `layout` of a `stripe.alloc` of which blocks see a number at a time. All of
them use the axes in the new order, and those that write it step through it so.

Before:

```mlir
%O = stripe.alloc {layout = #stripe.layout<[1, 0]>} : !stripe.view<64x29xf32>
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0 { ... }
```

After:

```mlir
%O = stripe.alloc : !stripe.view<29x64xf32>
stripe.block "O" [%y : 29, %co : 64, %k : 3, %ci : 64]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%y, %co] : 1x1 add init 0 { ... }
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ....dialects.stripe.ops import AllocOp
from ...locations import error_at
from ...walking import functions
from ..analysis.layouts import may_permute
from ..analysis.nests import statements
from ..edit.permute_axes import permute_axes


@dataclass(frozen=True)
class StripePermuteAxesPass(ModulePass):
    """Give buffers the order of axes that was decided."""

    name = "stripe-permute-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Permute the axes of all buffers with a layout.

        Raises GinghamError where what is returned has one, or who uses a buffer is not
        a block that sees a number of it at a time.
        """
        for function in functions(op):
            for buffer in statements(function):
                if isinstance(buffer, AllocOp) and buffer.layout is not None:
                    _apply(buffer, buffer.layout.order)


def _apply(buffer: AllocOp, order: tuple[int, ...]) -> None:
    if not may_permute(buffer):
        raise error_at(
            buffer,
            "expected a buffer with a layout to be used by blocks alone that see a "
            "number of it at a time, and have no schedule",
        )
    buffer.layout = None
    permute_axes(buffer, order)
