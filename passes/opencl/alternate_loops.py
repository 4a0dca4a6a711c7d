"""`opencl-alternate-loops`: outer products go through their cells to and fro.

Loops that are unrolled add products of rows and columns to an array of registers. Each
row meets all columns, and the next row those from the last to the first: so each step
shares one of its factors with the step before, which processors have at hand.

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
    opencl.for %cell : 8 unroll alternate {
      %j, %j_1 = opencl.delinearize %cell into [2, 4]
      ... the same ...
    }
  }
}
```

It is done where each step has cells of its own, so that any order gives the same, and
where every loop moves one of the two factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, LoadOp, StoreOp
from ...dialects.opencl.work_items import DelinearizeOp
from ...dialects.stripe.attributes import MemorySpace
from ..locations import located
from ..walking import operations
from .forms import place, space_of


@dataclass(frozen=True)
class OpenCLAlternateLoopsPass(ModulePass):
    """Let outer products go through their cells to and fro."""

    name = "opencl-alternate-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Order the loops of outer products in all kernels."""
        for kernel in op.ops:
            if not isinstance(kernel, KernelOp):
                continue
            for loop in [e for e in operations(kernel) if isinstance(e, ForOp)]:
                if _is_innermost(loop):
                    _alternate(loop)


def _is_innermost(loop: ForOp) -> bool:
    return not any(each.regions for each in loop.body.block.ops)


def _alternate(innermost: ForOp) -> None:
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
    moving = [[e for e in loops if _index(e) in op.values] for op in factors]
    if len(factors) != 2 or any(place(op) != cell for op in others):
        return
    rows, columns = sorted(moving, key=lambda own: innermost in own)
    if not rows or len(rows) + len(columns) != len(loops) or {*rows} & {*columns}:
        return
    steps = [(abs(cell.coefficient(_index(e))), e.extent.value.data) for e in loops]
    if _has_own_cells(steps):
        _reorder(loops, rows, columns)


def _loops(innermost: ForOp, values: set[SSAValue]) -> list[ForOp]:
    """The unrolled loops right around each other that move a cell, outermost first."""
    found: list[ForOp] = []
    loop: Operation | None = innermost
    while isinstance(loop, ForOp) and loop.unroll is not None:
        if loop.alternate is not None or _index(loop) not in values:
            break
        if found and loop.body.block.first_op is not loop.body.block.last_op:
            break
        found.insert(0, loop)
        loop = loop.parent_op()
    return found


def _index(loop: ForOp) -> SSAValue:
    return loop.body.block.args[0]


def _has_own_cells(steps: Sequence[tuple[int, int]]) -> bool:
    """Whether loops with these steps and extents reach each cell once."""
    reach = 1
    for step, extent in sorted(steps):
        if step < reach and extent > 1:
            return False
        reach = max(reach, step * extent)
    return True


def _reorder(
    loops: Sequence[ForOp], rows: Sequence[ForOp], columns: Sequence[ForOp]
) -> None:
    """Put the loops of rows around one over all columns, which alternates."""
    extents = [each.extent.value.data for each in columns]
    is_single = len(columns) == 1
    steps = ForOp.empty_body(_index(columns[0]).name_hint if is_single else "cell")
    body = loops[-1].body.block
    moved = [*body.ops]
    coordinates: Sequence[SSAValue] = steps.block.args
    if not is_single:
        apart = located(DelinearizeOp(steps.block.args[0], extents), loops[-1])
        steps.block.add_op(apart)
        coordinates = apart.coordinates
    for op in moved:
        op.detach()
        steps.block.add_op(op)
    for column, coordinate in zip(columns, coordinates, strict=True):
        coordinate.name_hint = _index(column).name_hint
        _index(column).replace_all_uses_with(coordinate)
    inner = ForOp(prod(extents), steps, unroll=True, alternate=True)
    for row in reversed(rows):
        located(inner, row)
        region = ForOp.empty_body(_index(row).name_hint)
        region.block.add_op(inner)
        _index(row).replace_all_uses_with(region.block.args[0])
        inner = ForOp(row.extent.value.data, region, unroll=True)
    Rewriter.insert_op(located(inner, loops[0]), InsertPoint.before(loops[0]))
    Rewriter.erase_op(loops[0])
