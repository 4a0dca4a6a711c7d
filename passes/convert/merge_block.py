"""One round of a merge sort: neighbouring sorted runs of each row become one.

```mlir
stripe.block "R_merge" [%row : 8, %pair : 4, %part : 2]
    in %k = %R_keys[%row, 0] : 1x16384
    in %p = %R_positions[%row, 0] : 1x16384
    out %l = %R_keys_1[%row, 4096 * %pair + 2048 * %part] : 1x2048
    out %q = %R_positions_1[%row, 4096 * %pair + 2048 * %part] : 1x2048 {
  %first = stripe.alloc : !stripe.view<4xsi32, private>
  %second = stripe.alloc : !stripe.view<4xsi32, private>
  ...
  stripe.block serial [%step : 12] ... {
    stripe.block [%lane : 4 unroll] ...  // searches where in both runs a lane begins
  }
  ...
  stripe.block serial [%step : 512] ... {
    stripe.block [%lane : 4 unroll] ...  // takes the lesser of two keys
  }
}
```

A point makes a chunk of the merged keys. It finds by binary search where in both runs
that begins, so that points are independent at every length of the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import si32
from ...dialects.stripe import BlockOp
from ...dialects.stripe.attributes import Direction, Refinement
from ...dialects.stripe.binding import Binding
from ..stripe.edit.point_block import PointBlock
from .places import read_window
from .sort_order import Sorting, SortOrder

_OUTER = ("row", "pair", "part")
_BEFORE_STEPS = ("lane", *_OUTER)
_IN_STEPS = ("lane", "step", *_OUTER)


@dataclass(frozen=True)
class Merge:
    """Merges runs of `width` keys two by two, in rows of the given count and length.

    `source` and `target` are buffers of keys and of positions; without a target for
    keys only positions are written. `width` is a power of two.
    """

    op: Operation
    sorting: Sorting
    order: SortOrder
    shape: tuple[int, int]
    width: int
    source: tuple[SSAValue, SSAValue]
    target: tuple[SSAValue | None, SSAValue]

    def block(self, name: str | None) -> BlockOp:
        """The block over rows, pairs of runs, and parts of what they become."""
        return _Chunk(self).finish(name)


class _Chunk:
    """Builds the block of which each point merges one chunk, in lanes.

    Its statements compute where the two runs begin and end. Two numbers of each lane
    change from step to step, first while searching, then while merging: they are in
    private memory.
    """

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        self._order = merge.order
        rows, self._length = merge.shape
        self._pair = 2 * merge.width
        self._size = min(merge.sorting.chunk, self._pair)
        self._lanes = min(merge.sorting.chains, self._size)
        self._share = self._size // self._lanes
        ranges = (rows, -(-self._length // self._pair), self._pair // self._size)
        self._block = PointBlock(ranges, _OUTER, merge.op)
        first = self._first(_OUTER)
        row, zero = _form(_OUTER, row=1), _form(_OUTER)
        self._source = [
            read_window(self._block, view, (row, zero), (1, self._length))
            for view in merge.source
        ]
        written = Refinement(Direction.OUT, (row, first))
        self._target = [
            None if view is None else self._block.window(view, written, (1, self._size))
            for view in merge.target
        ]
        start = _form(_OUTER, pair=self._pair)
        self._start = self._block.index(start, si32)
        self._middle = self._end_of_run(start + merge.width)
        self._end = self._end_of_run(start + self._pair)
        self._state = [
            self._block.allocate((self._lanes,), si32, name)
            for name in ("first", "second")
        ]

    def _end_of_run(self, form: LinearForm) -> SSAValue:
        """Where a run ends, which may be cut short by the end of the row."""
        length = self._block.constant(self._length, si32)
        end = self._block.index(form, si32)
        return self._block.apply("min", [end, length], si32)

    def finish(self, name: str | None) -> BlockOp:
        block = self._block
        block.nest(self._begin_search())
        block.nest(self._steps(self._merge.width.bit_length(), self._search))
        block.nest(self._end_search())
        block.nest(self._steps(self._share, self._merge_keys))
        _, pairs, parts = block.ranges
        inside = [-self._first(_OUTER) + (self._length - 1)]
        return block.finish(name, inside if pairs * parts > 1 else [])

    # Forms.

    def _first(self, names: Sequence[str]) -> LinearForm:
        """The place in the row of the first key of a chunk, or of a lane's share."""
        return self._before(names) + _form(names, pair=self._pair)

    def _before(self, names: Sequence[str]) -> LinearForm:
        """How many keys of the merged pair come before it."""
        return _form(names, part=self._size, lane=self._share)

    # The search: how many keys of the first run are before the share of a lane.

    def _begin_search(self) -> BlockOp:
        """The least and the largest number that are possible."""
        block = self._lane_block()
        before = block.index(self._before(_BEFORE_STEPS), si32)
        second_run = block.apply("sub", [self._end, self._middle], si32)
        least = block.apply("sub", [before, second_run], si32)
        least = block.apply("max", [least, block.constant(0, si32)], si32)
        first_run = block.apply("sub", [self._middle, self._start], si32)
        largest = block.apply("min", [before, first_run], si32)
        for value, window in zip(
            (least, largest), self._numbers(block, self._state), strict=True
        ):
            block.store_to(value, window)
        return self._finish_lanes(block)

    def _search(self, step: PointBlock) -> BlockOp:
        """Halve the range of possible numbers until it is one."""
        block = self._lane_block(step)
        low, high = self._numbers(block, self._state_in(step))
        least, largest = block.load_from(low), block.load_from(high)
        one = block.constant(1, si32)
        total = block.apply("add", [least, largest], si32)
        middle = block.apply("bit_right", [total, one], si32)
        # With `middle` keys of the first run these are the last ones before the share.
        place = block.apply("add", [self._start, middle], si32)
        last = block.index(self._before(_IN_STEPS) - 1, si32)
        other = block.apply("add", [self._middle, last], si32)
        other = block.apply("sub", [other, middle], si32)
        other = block.apply("max", [other, block.constant(0, si32)], si32)
        keys = self._row(block, self._row(step, self._source[0]))
        key, other_key = (self._key(block, keys, at) for at in (place, other))
        is_less = self._order.goes_before(block, other_key, key)
        is_open = block.apply("cmp_lt", [least, largest], i1)
        is_more = block.apply("bit_not", [is_less], i1)
        grows = block.apply("bit_and", [is_open, is_more], i1)
        more = block.apply("add", [middle, one], si32)
        block.store_to(block.apply("cond", [grows, more, least], si32), low)
        block.store_to(block.apply("cond", [is_less, middle, largest], si32), high)
        return self._finish_lanes(block)

    def _end_search(self) -> BlockOp:
        """Where the share of a lane begins in both runs."""
        block = self._lane_block()
        first, second = self._numbers(block, self._state)
        number = block.load_from(first)
        before = block.index(self._before(_BEFORE_STEPS), si32)
        block.store_to(block.apply("add", [self._start, number], si32), first)
        place = block.apply("add", [self._middle, before], si32)
        block.store_to(block.apply("sub", [place, number], si32), second)
        return self._finish_lanes(block)

    # The merge.

    def _merge_keys(self, step: PointBlock) -> BlockOp:
        """Take the next key of one run or of the other."""
        block = self._lane_block(step)
        windows = self._numbers(block, self._state_in(step))
        first, second = (block.load_from(window) for window in windows)
        rows = [self._row(block, self._row(step, view)) for view in self._source]
        key, other = (self._key(block, rows[0], place) for place in (first, second))
        is_left = block.apply("cmp_lt", [second, self._end], i1)
        is_done = block.apply("cmp_ge", [first, self._middle], i1)
        is_less = self._order.goes_before(block, other, key)
        is_next = block.apply("bit_or", [is_done, is_less], i1)
        takes = block.apply("bit_and", [is_left, is_next], i1)
        # Which key it is can not be predicted, so nothing here may become a branch: the
        # choice is a number to compute with.
        advance = block.cast(takes, si32)
        gap = block.apply("sub", [second, first], si32)
        place = block.apply("mul", [advance, gap], si32)
        place = block.apply("add", [first, place], si32)
        own = (_form(_IN_STEPS), _form(_IN_STEPS, lane=self._share, step=1))
        for row, target in zip(rows, self._target, strict=True):
            if target is not None:
                value = block.load_from(row, [0, place])
                block.store(value, self._written_in(step, target), own)
        rest = block.apply("sub", [block.constant(1, si32), advance], si32)
        for number, by, window in zip(
            (first, second), (rest, advance), windows, strict=True
        ):
            block.store_to(block.apply("add", [number, by], si32), window)
        place_in_row = self._first(_IN_STEPS) + _form(_IN_STEPS, step=1)
        is_whole = self._length % self._size == 0
        inside = [] if is_whole else [-place_in_row + (self._length - 1)]
        return self._finish_lanes(block, inside)

    # Blocks and windows inside.

    def _steps(self, count: int, lanes: Callable[[PointBlock], BlockOp]) -> BlockOp:
        """Steps one after the other, in each of which all lanes do something."""
        step = PointBlock((count,), ["step"], self._merge.op)
        step.nest(lanes(step))
        return step.finish(None, serial=True)

    def _lane_block(self, step: PointBlock | None = None) -> PointBlock:
        steps = () if step is None else step.indices
        captures = (*steps, *self._block.indices)
        return PointBlock((self._lanes,), ["lane"], self._merge.op, captures)

    def _finish_lanes(
        self, block: PointBlock, inside: Sequence[LinearForm] = ()
    ) -> BlockOp:
        return block.finish(None, inside, bindings=[Binding.UNROLL])

    def _state_in(self, step: PointBlock) -> list[SSAValue]:
        """The numbers of all lanes, in a step."""
        whole = Refinement(Direction.INOUT, (LinearForm.constant_of(0, 1),))
        return [step.window(view, whole, (self._lanes,)) for view in self._state]

    def _numbers(
        self, block: PointBlock, state: Sequence[SSAValue]
    ) -> tuple[SSAValue, SSAValue]:
        """The two numbers of a lane."""
        rank = len(_BEFORE_STEPS if state is self._state else _IN_STEPS)
        own = Refinement(Direction.INOUT, (LinearForm.dimension(0, rank),))
        first, second = (block.window(view, own, (1,)) for view in state)
        return first, second

    def _row(self, block: PointBlock, view: SSAValue) -> SSAValue:
        """A row of keys or positions in a block inside."""
        zero = block.zero
        return read_window(block, view, (zero, zero), (1, self._length))

    def _written_in(self, step: PointBlock, view: SSAValue) -> SSAValue:
        """The chunk to write, in a step."""
        whole = Refinement(Direction.OUT, (step.zero, step.zero))
        return step.window(view, whole, (1, self._size))

    def _key(self, block: PointBlock, keys: SSAValue, place: SSAValue) -> SSAValue:
        """The key at a place of the row, or the last one."""
        last = block.constant(self._length - 1, si32)
        return block.load_from(keys, [0, block.apply("min", [place, last], si32)])


def _form(names: Sequence[str], **coefficients: int) -> LinearForm:
    """The form with these coefficients of the indices; those of others are dropped."""
    return LinearForm.of([coefficients.get(name, 0) for name in names])
