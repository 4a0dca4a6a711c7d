"""`stripe-align`: fill just the cells that a block leaves out, in step with it.

Where a result has cells without a point, a block fills the whole buffer before another
one sets the cells that have one. Here the fill is cut into boxes around what the other
block sets, and all of them get the same range along the outermost axes, with
constraints that leave out the points that are not theirs. So every cell is written
once, and the blocks share indices and can become one nest (see `stripe-plan-fusion`).

Before:

```mlir
stripe.block "O_fill" [%i : 58, %j : 66]
    out %o = %O[%i, %j] : 1x1 { ... }
stripe.block "O" [%x : 57, %y : 64]
    in %a = %I[%x, %y] : 1x1
    out %o = %O[%x + 1, %y + 2] : 1x1 { ... }
```

After:

```mlir
stripe.block "O_fill" [%i : 58, %j : 66]
    out %o = %O[%i, %j] : 1x1
    where -%i >= 0 { ... }
stripe.block "O_fill" [%i : 58, %j : 2]
    out %o = %O[%i, %j] : 1x1
    where %i - 1 >= 0 { ... }
stripe.block "O" [%x : 58, %y : 64]
    in %a = %I[%x - 1, %y] : 1x1
    out %o = %O[%x, %y + 2] : 1x1
    where %x - 1 >= 0 { ... }
```

`stripe-separate` takes the ranges apart again. As many axes are aligned as it takes for
`rows` points; the last one never is, as it is that of vectors. Left alone are
blocks that aggregate, have an `init` or constraints, axes that no single index steps
through one by one, and fills of which more than `boxes` boxes would be left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ...locations import check_positive
from ...walking import functions
from ..analysis.nests import is_leaf, is_subscripted, root_buffer, statements
from ..analysis.schedules import is_scheduled
from ..edit.blocks import shift_indices


@dataclass(frozen=True)
class StripeAlignPass(ModulePass):
    """Cut fills to the cells that the block behind leaves out, and align the two."""

    name = "stripe-align"

    rows: int = 32
    """Points of the aligned indices that are enough."""
    boxes: int = 4
    """The most blocks that a fill is cut into."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Align the fills of all functions with the blocks behind them.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, rows=self.rows, boxes=self.boxes)
        for function in functions(op):
            self._align(list(statements(function)))

    def _align(self, operations: list[Operation]) -> None:
        """Look at each fill with the next user of its buffer."""
        fills: dict[SSAValue, BlockOp] = {}
        for operation in operations:
            if not isinstance(operation, BlockOp):
                continue
            for number, buffer in enumerate(operation.buffers):
                fill = fills.pop(root_buffer(buffer), None)
                if fill is not None and fill.buffer(0) is buffer:
                    self._align_pair(fill, operation, number)
            if _fills(operation):
                fills[root_buffer(operation.buffer(0))] = operation

    def _align_pair(self, fill: BlockOp, block: BlockOp, number: int) -> None:
        part = _FilledBox.of(block, number)
        if part is None:
            return
        aligned = part.outer_axes(self.rows)
        boxes = list(part.boxes_around())
        if aligned and len(boxes) <= self.boxes:
            for box in boxes:
                _fill_box(fill, box, aligned)
            for axis in aligned:
                index = part.indices[axis]
                if index is not None:
                    _extend(block, index, part.box[axis], part.sizes[axis])
            fill.detach()
            fill.erase()


def _is_plain(block: BlockOp) -> bool:
    """Whether the points of a block set cells, and no more."""
    return (
        is_leaf(block)
        and not block.is_serial
        and not block.captures
        and not block.conditions
        and not is_scheduled(block)
        and not any(map(is_subscripted, block.views))
        and all(block.index_ranges)
        and all(
            refinement.init is None and refinement.aggregation is Aggregation.ASSIGN
            for refinement in block.refinement_list
        )
    )


def _fills(block: BlockOp) -> bool:
    """Whether all that a block does is to set all cells of a buffer."""
    if len(block.buffers) != 1 or not isinstance(block.buffer(0).owner, AllocOp):
        return False
    part = _FilledBox.of(block, 0)
    return part is not None and not [*part.boxes_around()]


_Box: TypeAlias = tuple[tuple[int, int], ...]
"""For each axis the first cell, and the one behind the last."""


@dataclass(frozen=True)
class _FilledBox:
    """The box of a buffer that a block sets, each cell once."""

    sizes: tuple[int, ...]
    box: _Box
    indices: tuple[int | None, ...]
    """The block's index that steps through each axis; None for one cell."""

    @staticmethod
    def of(block: BlockOp, number: int) -> _FilledBox | None:
        """None where a block does something else with the buffer."""
        writes = block.refinement(number).direction is Direction.OUT
        if not _is_plain(block) or not writes:
            return None
        buffer = block.buffer(number)
        if [root_buffer(b) for b in block.buffers].count(root_buffer(buffer)) > 1:
            return None
        sizes = view_type(buffer).sizes
        indices: list[int | None] = []
        box: list[tuple[int, int]] = []
        for axis, form in enumerate(block.refinement(number).access):
            index = form.support[0] if form.support else None
            if len(form.support) > 1 or {*form.coefficients} - {0, 1}:
                return None
            start = int(form.constant)
            end = start + (1 if index is None else block.index_ranges[index])
            is_cell = block.view_type(number).sizes[axis] == 1
            if not is_cell or start < 0 or end > sizes[axis]:
                return None
            indices.append(index)
            box.append((start, end))
        used = [index for index in indices if index is not None]
        moving = {n for n, extent in enumerate(block.index_ranges) if extent > 1}
        if len({*used}) < len(used) or not moving <= {*used}:
            return None
        return _FilledBox(sizes, tuple(box), tuple(indices))

    def outer_axes(self, rows: int) -> list[int]:
        """The first axes with enough points together, without the last one."""
        found: list[int] = []
        points = 1
        for axis, size in enumerate(self.sizes[:-1]):
            if points < rows and size > 1:
                if self.indices[axis] is None:
                    return []
                found.append(axis)
                points *= size
        return found

    def boxes_around(self) -> Iterator[_Box]:
        """The rest of the buffer as boxes that are apart."""
        whole = [(0, size) for size in self.sizes]
        for axis, (start, end) in enumerate(self.box):
            before, behind = self.box[:axis], whole[axis + 1 :]
            for piece in ((0, start), (end, self.sizes[axis])):
                if piece[0] < piece[1]:
                    yield (*before, piece, *behind)


def _fill_box(fill: BlockOp, box: _Box, aligned: Sequence[int]) -> None:
    """Put a block before a fill that fills just a box."""
    part = _FilledBox.of(fill, 0)
    if part is None or fill.parent is None:
        raise ValueError("expected a block that fills a buffer")
    piece = fill.clone()
    fill.parent.insert_op_before(piece, fill)
    for axis, (start, end) in enumerate(box):
        index, size = part.indices[axis], part.sizes[axis]
        if index is None:
            continue
        if axis not in aligned:
            shift_indices(piece, {index: start})
            piece.set_range(index, end - start)
        elif (start, end) != (0, size):
            _constrain(piece, index, start, end, size)


def _extend(block: BlockOp, index: int, cells: tuple[int, int], size: int) -> None:
    """Let an index run over its whole axis, where it ran over some cells of it."""
    start, end = cells
    shift_indices(block, {index: -start})
    block.set_range(index, size)
    _constrain(block, index, start, end, size)


def _constrain(block: BlockOp, index: int, start: int, end: int, size: int) -> None:
    """Leave out the values of an index before `start` and from `end` on."""
    own = IndexSum.value(block.indices[index])
    if start:
        block.add_where(own - start)
    if end < size:
        block.add_where(-own + (end - 1))
