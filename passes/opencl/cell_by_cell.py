"""`opencl-cell-by-cell`: what is seldom computed again has short code.

Where the border of an image is left out of a sum only for the sake of infinite weights,
the sum is computed once more with all tests, when it is no number. All cells of an item
are in registers, so that loops over them are unrolled: with 64 cells, each with loads
under tests of its own, that is up to half of what a driver takes to build the kernel.

So there it is one cell after the other, in a loop that is not unrolled, and only where
a sum goes to its register there is a statement for each cell. That takes a sixth off
the builds of convolutions for an H200, and leaves their times as they are.

Before:

```mlir
opencl.when %again {
  opencl.for %c : 8 unroll {
    %0 = eltwise.constant 0 : f32
    opencl.store %0, %acc[%c] : f32 -> !opencl.pointer<f32, private>
  }
  opencl.for %k : 9 unroll 1 {
    opencl.for %i : 2 unroll {
      opencl.if %i + %k - 1 >= 0 {
        opencl.for %j : 4 unroll {
          ... adds %x[%i + %k] * %w[%k] to %acc[4 * %i + %j] ...
        }
      }
    }
  }
}
```

After:

```mlir
opencl.when %again {
  opencl.for %cell : 8 unroll 1 {
    %i, %j = opencl.delinearize %cell into [2, 4]
    %sum = opencl.array 1 : !opencl.pointer<f32, private>
    ... sets %sum[0] to 0 ...
    opencl.for %k : 9 unroll 1 {
      opencl.if %i + %k - 1 >= 0 {
        ... adds %x[%i + %k] * %w[%k] to %sum[0] ...
      }
    }
    opencl.for %other : 8 unroll {
      ... %acc[%other] is %sum[0] where %other is %cell, and what it was elsewhere ...
    }
  }
}
```

That is slower, some times over, for whom it runs. Each sum has its terms in the same
order. It is done where all cells of an array are set to a number and then added to, by
loops around each other that together go through the cells one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.eltwise.element_types import si32
from ...dialects.eltwise.ops import FUNCTION_OPS, ConstantOp, lane_count
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import IndexOp, WhenOp
from ...dialects.opencl.memory import ArrayOp, LoadOp, StoreOp
from ...dialects.opencl.work_items import DelinearizeOp
from ...dialects.stripe.attributes import MemorySpace
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .forms import place, reach_each_cell_once
from .modules import kernels


@dataclass(frozen=True)
class OpenCLCellByCellPass(KernelPass):
    """Let what is seldom computed again go through the cells in a loop."""

    name = "opencl-cell-by-cell"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite what kernels do where a value of the data holds."""
        for kernel in kernels(op):
            for when in [e for e in operations(kernel) if isinstance(e, WhenOp)]:
                if sums := _Sums.of(when):
                    sums.rewrite()


@dataclass(frozen=True, eq=False)
class _Sums:
    """An array that is filled, and then added to."""

    fill: Operation
    first: ConstantOp
    """What all cells are set to."""
    nest: Operation
    """The loops that add to cells."""
    loops: Sequence[ForOp]
    """Those that are unrolled, and together go through the cells, slowest first."""
    array: ArrayOp
    store: StoreOp

    @staticmethod
    def of(when: WhenOp) -> _Sums | None:
        """What is computed where a value holds; None for anything else."""
        statements = [*when.body.block.ops]
        if len(statements) != 2:
            return None
        fill, nest = statements
        (loops, store), (filling, first) = _only_store(nest), _only_store(fill)
        if store is None or first is None or store.pointer is not first.pointer:
            return None
        array, value = store.pointer.owner, first.value.owner
        if not isinstance(array, ArrayOp) or not isinstance(value, ConstantOp):
            return None
        own = [each for each in loops if each.unroll is not None]
        own.sort(key=lambda each: -place(store).coefficient(each.index))
        goes_through = _goes_through(array, store, own)
        if not goes_through or not _goes_through(array, first, filling):
            return None
        loads = _loads(nest, array)
        if isinstance(store.value.type, VectorType) or any(
            place(load) != place(store) for load in loads
        ):
            return None
        return _Sums(fill, value, nest, own, array, store)

    def rewrite(self) -> None:
        """Put a loop over cells around the sum of one."""
        type = self.array.pointer.type.element_type
        steps = [each.steps for each in self.loops]
        region = ForOp.empty_body("cell")
        cell, body = region.block.args[0], region.block
        around = ForOp(prod(steps), region, unroll_factor=1)
        Rewriter.insert_op(around, InsertPoint.before(self.fill))
        apart = DelinearizeOp(cell, steps)
        sum = ArrayOp(1, PointerType.of(type, MemorySpace.PRIVATE))
        sum.pointer.name_hint = "sum"
        first = ConstantOp(self.first.number, type)
        body.add_ops([apart, sum, first, _stored(first.result, sum)])
        self.nest.detach()
        body.add_op(self.nest)
        self._add_to(sum)
        for loop, index in zip(self.loops, apart.coordinates, strict=True):
            index.name_hint = loop.index.name_hint
            loop.index.replace_all_uses_with(index)
            Rewriter.inline_block(loop.body.block, InsertPoint.before(loop))
            Rewriter.erase_op(loop)
        body.add_op(self._handed_on(sum, cell, prod(steps)))
        located(around, self.fill)
        Rewriter.erase_op(self.fill)

    def _add_to(self, sum: ArrayOp) -> None:
        """Let the nest load and store the sum in place of cells."""
        for load in _loads(self.nest, self.array):
            new = LoadOp(sum.pointer, *IndexSum().as_form(), load.result.type)
            Rewriter.replace_op(load, located(new, load))
        new = _stored(self.store.value, sum)
        Rewriter.replace_op(self.store, located(new, self.store))

    def _handed_on(self, sum: ArrayOp, cell: SSAValue, length: int) -> ForOp:
        """The loop in which the sum goes to its cell."""
        region = ForOp.empty_body("other")
        other, array = IndexSum.value(region.block.args[0]), self.array.pointer
        type = array.type.element_type
        distance = IndexOp(*(other - IndexSum.value(cell)).as_form(), si32)
        none = ConstantOp(0, si32)
        build = FUNCTION_OPS["cmp_eq"].build_typed
        is_own = build([distance.result, none.result], i1)
        new = LoadOp(sum.pointer, *IndexSum().as_form(), type)
        old = LoadOp(array, *other.as_form(), type)
        chosen = FUNCTION_OPS["cond"].build_typed(
            [is_own.results[0], new.result, old.result], type
        )
        kept = StoreOp(chosen.results[0], array, *other.as_form())
        region.block.add_ops([distance, none, is_own, new, old, chosen, kept])
        return ForOp(length, region, unroll=True)


def _stored(value: SSAValue, sum: ArrayOp) -> StoreOp:
    return StoreOp(value, sum.pointer, *IndexSum().as_form())


def _only_store(nest: Operation) -> tuple[list[ForOp], StoreOp | None]:
    """The loops around each other of a nest, and the only store that it has."""
    loops: list[ForOp] = []
    inside: Operation | None = nest
    while isinstance(inside, ForOp | IfOp):
        if isinstance(inside, ForOp):
            loops.append(inside)
        ops = [*inside.body.block.ops]
        nested = [op for op in ops if op.regions]
        if not nested:
            stores = [op for op in ops if isinstance(op, StoreOp)]
            return loops, stores[0] if len(stores) == 1 else None
        others = [op for op in ops if not isinstance(op, DelinearizeOp)]
        inside = nested[0] if len(others) == 1 else None
    return loops, None


def _loads(nest: Operation, array: ArrayOp) -> list[LoadOp]:
    """The loads of cells in a nest."""
    loads = [op for op in operations(nest) if isinstance(op, LoadOp)]
    return [op for op in loads if op.pointer is array.pointer]


def _goes_through(array: ArrayOp, store: StoreOp, loops: Sequence[ForOp]) -> bool:
    """Whether the steps of loops store all cells of an array, one after the other."""
    start, size = place(store), lane_count(store.value.type)
    if start.constant or {*start.values} != {each.index for each in loops}:
        return False
    if size * prod([each.steps for each in loops]) != array.length.value.data:
        return False
    steps = [(start.coefficient(each.index), each.steps) for each in loops]
    return reach_each_cell_once(steps, size)
