"""`opencl-order-loops`: outer products go through their cells row by row.

Loops that are unrolled add products of rows and columns to an array of registers. Each
row meets all columns before the next one does: compilers keep the order, and what
follows each other shares a factor, which processors have at hand. On an H100 a matrix
product of 4096 takes 2.86 ms so, and 2.91 ms with a sub-tile after the other.

Before:

```mlir
opencl.for %i : 2 unroll {
  opencl.for %j : 2 unroll {
    opencl.for %i_1 : 4 unroll {
      opencl.for %j_1 : 4 unroll {
        %a = opencl.load %s[16 * %i + %i_1] : !opencl.pointer<f32, local> -> f32
        %b = opencl.load %t[32 * %j + %j_1] : !opencl.pointer<f32, local> -> f32
        ... adds %a * %b to %c[32 * %i + 8 * %i_1 + 4 * %j + %j_1] ...
      }
    }
  }
}
```

After:

```mlir
opencl.for %i : 2 unroll {
  opencl.for %i_1 : 4 unroll {
    opencl.for %j : 2 unroll {
      opencl.for %j_1 : 4 unroll {
        ... the same ...
      }
    }
  }
}
```

Columns are those of the factor that is loaded by vectors, or of the innermost loop: in
attention with 128 columns of a head that takes 846 us, and 886 us the other way (H200).

It is done where each step has cells of its own, so that any order gives the same, and
where every loop moves one of the two factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .forms import place, reach_each_cell_once, space_of
from .modules import kernels


@dataclass(frozen=True)
class OpenCLOrderLoopsPass(KernelPass):
    """Let outer products go through their cells row by row."""

    name = "opencl-order-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Order the loops of outer products in all kernels."""
        for kernel in kernels(op):
            for loop in [e for e in operations(kernel) if isinstance(e, ForOp)]:
                if _is_innermost(loop):
                    _order(loop)


def _is_innermost(loop: ForOp) -> bool:
    return not any(each.regions for each in loop.body.block.ops)


def _order(innermost: ForOp) -> None:
    body = [*innermost.body.block.ops]
    stores = [op for op in body if isinstance(op, StoreOp)]
    if len(stores) != 1:
        return
    (store,) = stores
    if space_of(store.pointer) is not MemorySpace.PRIVATE:
        return
    cell = place(store)
    loops = _loops(innermost, {*cell.values})
    loads = [op for op in body if isinstance(op, LoadOp)]
    factors = [op for op in loads if op.pointer is not store.pointer]
    others = [op for op in loads if op.pointer is store.pointer]
    moving = [[e for e in loops if e.index in op.values] for op in factors]
    if len(factors) != 2 or any(place(op) != cell for op in others):
        return
    vectors = [isinstance(op.result.type, VectorType) for op in factors]
    if vectors[0] is vectors[1]:
        rows, columns = sorted(moving, key=lambda own: innermost in own)
    else:
        rows, columns = moving if vectors[1] else reversed(moving)
    if not rows or len(rows) + len(columns) != len(loops) or {*rows} & {*columns}:
        return
    steps = [(abs(cell.coefficient(e.index)), e.steps) for e in loops]
    if reach_each_cell_once(steps):
        _reorder(loops, rows, columns)


def _loops(innermost: ForOp, values: set[SSAValue]) -> list[ForOp]:
    """The unrolled loops right around each other that move a cell, outermost first."""
    found: list[ForOp] = []
    loop: Operation | None = innermost
    while isinstance(loop, ForOp) and loop.unroll is not None:
        if loop.index not in values:
            break
        if found and loop.body.block.first_op is not loop.body.block.last_op:
            break
        found.insert(0, loop)
        loop = loop.parent_op()
    return found


def _reorder(
    loops: Sequence[ForOp], rows: Sequence[ForOp], columns: Sequence[ForOp]
) -> None:
    """Put the loops of rows around those of columns."""
    ordered = [*rows, *columns]
    if ordered == [*loops]:
        return
    body = [*loops[-1].body.block.ops]
    for op in body:
        op.detach()
    for loop in reversed(ordered):
        region = ForOp.empty_body(loop.index.name_hint)
        region.block.add_ops(body)
        loop.index.replace_all_uses_with(region.block.args[0])
        body = [located(ForOp(loop.steps, region, unroll=True), loop)]
    Rewriter.insert_op(body, InsertPoint.before(loops[0]))
    Rewriter.erase_op(loops[0])
