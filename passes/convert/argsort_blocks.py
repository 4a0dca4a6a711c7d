"""`tile.argsort` as blocks over rows: count ranks in short runs, then merge the runs.

The operand becomes rows of keys, the axis last. In a short run of keys the rank of each
is the number of keys that go before it, which vectors count, and a store at the rank
sorts the run. Longer rows are merged from runs, two by two, as often as it takes (see
`merge_block`).

All of it is stable: of equal keys the one that was first stays first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ...affine.form import LinearForm
from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import (
    Kind,
    bit_width,
    computation_type,
    kind,
    si32,
    si64,
)
from ...dialects.stripe.attributes import Direction, Refinement, view_type
from ...dialects.tile.argsort import ArgsortOp
from ..stripe.edit.point_block import PointBlock, identity_access
from .merge_block import Merge
from .sort_order import SortOrder
from .tensor_buffers import TensorBuffers, name_after, static_type


@dataclass(frozen=True)
class Rows:
    """Buffers `[rows, length]` of keys and of their positions."""

    keys: SSAValue
    positions: SSAValue


def lower_argsort(op: ArgsortOp, buffers: TensorBuffers) -> None:
    """Emit the blocks that write the positions in sorted order."""
    result = buffers.result(op.result, op)
    type = static_type(op.tensor, op)
    if 0 not in type.get_shape():
        _Argsort.of(op, buffers).lower(result)


@dataclass(frozen=True)
class _Argsort:
    op: ArgsortOp
    buffers: TensorBuffers
    before: int
    length: int
    behind: int
    key: Attribute
    """The element type that is compared."""

    @staticmethod
    def of(op: ArgsortOp, buffers: TensorBuffers) -> _Argsort:
        type = static_type(op.tensor, op)
        shape, axis = type.get_shape(), op.options.axis
        return _Argsort(
            op,
            buffers,
            prod(shape[:axis]),
            shape[axis],
            prod(shape[axis + 1 :]),
            _key_type(type.element_type),
        )

    @property
    def _shape(self) -> tuple[int, int]:
        """Of all rows."""
        return self.before * self.behind, self.length

    def lower(self, result: SSAValue) -> None:
        op, buffers = self.op, self.buffers
        if self.behind == 1:
            self._sort(buffers.reshaped(result, self._shape))
            return
        positions = self._allocate(si32, "rows")
        self._sort(positions)
        # Rows become columns again.
        ranges = (self.before, self.length, self.behind)
        before, place, behind = identity_access(3)
        source = buffers.reshaped(positions, (self.before, self.behind, self.length))
        block = PointBlock(ranges, ["before", "place", "behind"], op)
        value = block.load(source, (before, behind, place))
        target = buffers.reshaped(result, ranges)
        block.store(value, target, (before, place, behind))
        buffers.emit(block.finish(name_after(op.result, "columns")), op)

    def _sort(self, target: SSAValue) -> None:
        """Write the positions of the sorted keys of each row."""
        keys, run = self._keys(), self.buffers.sorting.run
        if self.length <= run:
            self._sort_runs(keys, Rows(keys, target), self.length)
            return
        current = self._scratch()
        other = self._scratch()
        self._sort_runs(keys, current, run)
        width = run
        while width < self.length:
            is_last = 2 * width >= self.length
            written = Rows(other.keys, target) if is_last else other
            merge = Merge(
                self.op,
                self.buffers.sorting,
                self._order,
                self._shape,
                width,
                (current.keys, current.positions),
                (None if is_last else written.keys, written.positions),
            )
            self.buffers.emit(merge.block(name_after(self.op.result, "merge")), self.op)
            current, other = written, current
            width *= 2

    @property
    def _order(self) -> SortOrder:
        return SortOrder(kind(self.key) is Kind.FLOAT, self.op.is_descending)

    def _keys(self) -> SSAValue:
        """The operand as rows of a type that is compared by vectors."""
        op, buffers = self.op, self.buffers
        operand = buffers.view(op.tensor)
        if self.behind == 1 and static_type(op.tensor, op).element_type == self.key:
            return buffers.reshaped(operand, self._shape)
        keys = self._allocate(self.key, "rows")
        ranges = (self.before, self.behind, self.length)
        before, behind, place = identity_access(3)
        block = PointBlock(ranges, ["before", "behind", "place"], op)
        source = buffers.reshaped(operand, (self.before, self.length, self.behind))
        value = block.cast(block.load(source, (before, place, behind)), self.key)
        block.store(value, buffers.reshaped(keys, ranges), (before, behind, place))
        buffers.emit(block.finish(name_after(op.result, "rows")), op)
        return keys

    def _scratch(self) -> Rows:
        return Rows(self._allocate(self.key, "keys"), self._allocate(si32, "positions"))

    def _allocate(self, element: Attribute, suffix: str) -> SSAValue:
        return self.buffers.allocate(self.op.result, self._shape, element, suffix)

    # Runs.

    def _sort_runs(self, keys: SSAValue, target: Rows, run: int) -> None:
        """Sort each run, and what is left over behind the last whole one."""
        count = si64 if bit_width(self.key) == 64 else si32
        ranks = self._allocate(count, "ranks")
        whole, rest = divmod(self.length, run)
        for part in (_SortedRuns(whole, 0, run), _SortedRuns(1, whole * run, rest)):
            if part.runs and part.width:
                self._count(keys, ranks, part)
                self._place(keys, ranks, target, part)

    def _count(self, keys: SSAValue, ranks: SSAValue, part: _SortedRuns) -> None:
        """For each key, how many keys of its run go before it."""
        rows, _ = self._shape
        ranges = (rows, part.runs, part.width, part.width)
        block = PointBlock(ranges, ["row", "run", "i", "j"], self.op)
        row, run, i, j = identity_access(4)
        first = run * part.width + part.first
        key = block.load(keys, (row, first + i))
        other = block.load(keys, (row, first + j))
        count = view_type(ranks).element_type
        is_earlier = block.apply(
            "cmp_lt", [block.index(j, count), block.index(i, count)], i1
        )
        one, zero = block.constant(1, count), block.constant(0, count)
        tie = block.apply("cond", [is_earlier, one, zero], count)
        value = self._order.count_before(block, other, key, tie)
        block.store(value, ranks, (row, first + i), Aggregation.ADD, 0)
        self.buffers.emit(block.finish(name_after(self.op.result, "ranks")), self.op)

    def _place(
        self, keys: SSAValue, ranks: SSAValue, target: Rows, part: _SortedRuns
    ) -> None:
        """Put each key of a run, and its position, at its rank."""
        rows, _ = self._shape
        block = PointBlock((rows, part.runs), ["row", "run"], self.op)
        row, run = identity_access(2)
        first = run * part.width + part.first
        inner = PointBlock((part.width,), ["i"], self.op, block.indices)
        own = (LinearForm.constant_of(0, 3), LinearForm.dimension(0, 3))

        def window(view: SSAValue, direction: Direction) -> SSAValue:
            access = Refinement(direction, (row, first))
            return block.window(view, access, (1, part.width))

        def store(value: SSAValue, view: SSAValue) -> None:
            written = window(view, Direction.OUT)
            zero = LinearForm.constant_of(0, 3)
            access = Refinement(Direction.OUT, (zero, zero))
            whole = inner.window(written, access, (1, part.width))
            inner.store_to(value, whole, [0, rank])

        rank = inner.load(window(ranks, Direction.IN), own)
        if target.keys is not keys:
            store(inner.load(window(keys, Direction.IN), own), target.keys)
        position = first.remap({0: 1, 1: 2}, 3) + own[1]
        store(inner.index(position, si32), target.positions)
        block.nest(inner.finish(None))
        self.buffers.emit(block.finish(name_after(self.op.result, "run")), self.op)


@dataclass(frozen=True)
class _SortedRuns:
    """Some runs of one width, one behind the other from `first` on."""

    runs: int
    first: int
    width: int


def _key_type(element: Attribute) -> Attribute:
    """The type in which elements are compared: one that vectors count in."""
    computed = computation_type(element)
    is_narrow = kind(computed) is not Kind.FLOAT and bit_width(computed) < 32
    return si32 if is_narrow else computed
