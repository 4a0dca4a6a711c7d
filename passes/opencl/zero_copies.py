"""`opencl-zero-copies`: cells that an asynchronous copy leaves out are set with it.

Copies to local memory that stick out of what they copy set the other cells to zero, in
loops of their own under the opposite conditions. A device that copies asynchronously
sets cells to zero with the same instruction, without a branch: so the loops are one.

Before:

```mlir
opencl.for %i : 4 unroll {
  opencl.if %k + 8 * %i - 45 >= 0 {
    %0 = eltwise.constant 0 : f32
    opencl.store %0, %t[8 * %i + %k] : f32 -> !opencl.pointer<f32, local>
  }
}
opencl.for %j : 4 unroll {
  opencl.if -%k - 8 * %j + 44 >= 0 {
    %x = opencl.load %A[8 * %j + %k] : !opencl.pointer<f32, global> -> f32
    opencl.store asynchronous %x, %t[8 * %j + %k] : f32 -> ...
  }
}
```

After:

```mlir
opencl.for %j : 4 unroll {
  opencl.if -%k - 8 * %j + 44 >= 0 else zero {
    %x = opencl.load %A[8 * %j + %k] : !opencl.pointer<f32, global> -> f32
    opencl.store asynchronous %x, %t[8 * %j + %k] : f32 -> ...
  }
}
```

With several conditions there is a loop for each, under those before and the opposite of
its own, or one that sets all cells under those before. Tests may be around loops, or
inside each other: the copy has them all at once. What all loops test, such as which
work-items copy, remains a test around the copy, and indices may be taken apart inside.
Left alone are loops of which steps share a cell, other values than zero, and copies
that are made at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.eltwise.ops import ConstantOp, lane_count
from ...dialects.index_sum import IndexSum, values_of
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...dialects.opencl.work_items import DelinearizeOp
from ..kernel_pass import KernelPass
from ..locations import located
from ..walking import operations
from .forms import reach_each_cell_once
from .modules import kernels


@dataclass(frozen=True)
class OpenCLZeroCopiesPass(KernelPass):
    """Set what asynchronous copies leave out with the same instruction."""

    name = "opencl-zero-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Join loops of copies with those that set the cells which they leave out."""
        for kernel in kernels(op):
            blocks = [each.parent_block() for each in operations(kernel)]
            # What is inside first: it may be all that a test is around then.
            for block in reversed(dict.fromkeys(blocks)):
                if block is not None:
                    _join(block)


def _join(block: Block) -> None:
    """Join neighbouring statements of a block."""
    fills: list[_Guarded] = []
    for statement in [*block.ops]:
        guarded = _Guarded.of(statement)
        if guarded is None or (fills and not guarded.is_like(fills[0])):
            fills = []
        if guarded is None:
            continue
        if guarded.is_zero:
            fills.append(guarded)
        elif fills and guarded.takes(fills):
            shared = guarded.shared(fills)
            for fill in fills:
                Rewriter.erase_op(fill.statement)
            guarded.set_the_rest(shared)
            fills = []


@dataclass(frozen=True)
class _Guarded:
    """A statement that stores a cell at each step of its loops, under conditions."""

    statement: Operation
    loops: tuple[ForOp, ...]
    guards: tuple[IfOp, ...]
    """The tests, the outermost first."""
    apart: tuple[DelinearizeOp, ...]
    """What takes indices apart, inside of loops and tests."""
    store: StoreOp

    @staticmethod
    def of(statement: Operation) -> _Guarded | None:
        """The parts of a statement; None for others."""
        loops: list[ForOp] = []
        guards: list[IfOp] = []
        apart: list[DelinearizeOp] = []
        inside = [statement]
        while len(inside) == 1 and isinstance(around := inside[0], ForOp | IfOp):
            if isinstance(around, ForOp):
                loops.append(around)
            else:
                guards.append(around)
            ops = [*around.body.block.ops]
            inside = [op for op in ops if not isinstance(op, DelinearizeOp)]
            apart += [op for op in ops if isinstance(op, DelinearizeOp)]
        if not guards or len(inside) != 2:
            return None
        value, store = inside
        if not isinstance(store, StoreOp) or store.value.owner is not value:
            return None
        is_copy = isinstance(value, LoadOp) and store.asynchronous is not None
        is_known = is_copy or isinstance(value, ConstantOp)
        if not is_known:
            return None
        return _Guarded(statement, (*loops,), (*guards,), (*apart,), store)

    def shared(self, others: Sequence[_Guarded]) -> set[_Sum]:
        """The conditions of this statement and of all others.

        Without those of what is taken apart, for which they are around.
        """
        found = self._conditions.intersection(*(each._conditions for each in others))
        return {
            each for each in found if not any(isinstance(n, tuple) for n, _ in each[0])
        }

    def set_the_rest(self, shared: Set[_Sum]) -> None:
        """Set to zero what the copy leaves out, by one test of all conditions.

        Where those that are `shared` do not hold, nothing is set.
        """
        sums: list[IndexSum[SSAValue]] = []
        around: list[IndexSum[SSAValue]] = []
        for guard in self.guards:
            for form in guard.conditions:
                is_shared = self._numbered(form.data, guard.values) in shared
                kind = around if is_shared else sums
                kind.append(IndexSum.of(form.data, guard.values))
        for guard in self.guards:
            Rewriter.inline_block(guard.body.block, InsertPoint.before(guard))
            Rewriter.erase_op(guard)
        store = self.store
        load = store.value.owner
        if not isinstance(load, LoadOp):
            raise ValueError("expected a copy")
        whole = _test(sums)
        whole.zeros = UnitAttr()
        Rewriter.insert_op(located(whole, store), InsertPoint.before(store))
        for statement in (load, store):
            statement.detach()
            whole.body.block.add_op(statement)
        if around:
            block = whole.parent_block()
            outer = located(_test(around), store)
            Rewriter.insert_op(outer, InsertPoint.before(whole))
            # Where nothing is set, what is taken apart may be too large for that.
            inside = [op for op in self.apart if op.parent_block() is block]
            for statement in (*inside, whole):
                statement.detach()
                outer.body.block.add_op(statement)

    @property
    def is_zero(self) -> bool:
        """Whether zeros are stored."""
        value = self.store.value.owner
        return isinstance(value, ConstantOp) and str(value.number) in ("0", "0.0")

    def is_like(self, other: _Guarded) -> bool:
        """Whether the same cells are stored in the same loops, but for conditions."""
        return (
            self._extents == other._extents
            and self.store.pointer is other.store.pointer
            and self.store.value.type == other.store.value.type
            and self._place == other._place
            and {*self._taken_apart.values()} == {*other._taken_apart.values()}
        )

    def takes(self, fills: Sequence[_Guarded]) -> bool:
        """Whether those set just the cells that a copy leaves out."""
        shared, passed = self.shared(fills), set[_Sum]()
        own = self._conditions - shared
        for fill in fills:
            opposite = {_opposite(each): each for each in fill._conditions}
            failing = own & opposite.keys()
            others = fill._conditions - {opposite[each] for each in failing} - shared
            if len(failing) > 1 or not others <= passed:
                return False
            # Without a failing one all cells are set that others may leave out.
            passed |= failing or own
        return passed == own and self._has_own_cells

    @property
    def _extents(self) -> list[tuple[int, bool]]:
        return [(e.steps, e.unroll is not None) for e in self.loops]

    @property
    def _conditions(self) -> set[_Sum]:
        """What is at least zero where a step stores something."""
        return {
            self._numbered(form.data, guard.values)
            for guard in self.guards
            if guard.zeros is None
            for form in guard.conditions
        }

    @property
    def _place(self) -> _Sum:
        """Where a step stores."""
        return self._numbered(self.store.form.data, self.store.values)

    @property
    def _own(self) -> dict[SSAValue, _Index]:
        """The indices of loops by their numbers."""
        return {each.index: n for n, each in enumerate(self.loops)}

    @property
    def _taken_apart(self) -> dict[SSAValue, _Index]:
        """For each index that is taken of another one, how."""
        own = self._own
        return {
            coordinate: (own.get(op.index, op.index), op.extents, n)
            for op in self.apart
            for n, coordinate in enumerate(op.coordinates)
        }

    def _numbered(self, form: LinearForm, values: Sequence[SSAValue]) -> _Sum:
        """A form with what is the same in other statements in place of own indices."""
        known = self._own | self._taken_apart
        terms = [
            (known.get(value, value), step)
            for value, step in IndexSum.of(form, values).terms
        ]
        return frozenset(terms), form.constant.numerator

    @property
    def _has_own_cells(self) -> bool:
        """Whether no two steps of the loops store the same cell."""
        size = lane_count(self.store.value.type)
        steps = {index: abs(step) for index, step in self._place[0]}
        extents = [each.steps for each in self.loops]
        found = [(steps.get(number, 0), n) for number, n in enumerate(extents)]
        return reach_each_cell_once(found, size)


_Index: TypeAlias = Hashable
"""A value; the number of a loop; or what is taken apart, its sizes, and a place."""
_Sum: TypeAlias = tuple[frozenset[tuple[_Index, int]], int]
"""The terms of a sum, and its constant."""


def _test(sums: Sequence[IndexSum[SSAValue]]) -> IfOp:
    """A test of sums that are to be at least zero, around nothing yet."""
    values = values_of(sums)
    return IfOp([each.form(values) for each in sums], values, Region(Block()))


def _opposite(condition: _Sum) -> _Sum:
    """What is at least zero where a condition is not."""
    terms, constant = condition
    return frozenset((value, -step) for value, step in terms), -constant - 1
