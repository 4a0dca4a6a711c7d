"""Cells that are written where they are needed, and only once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import Direction, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ..analysis.nests import is_leaf, is_number, is_top_level, root_buffer
from .blocks import restrict_indices


def forward_copy(copy: BlockOp) -> bool:
    """Let what a copy of a whole buffer reads be written where it copies it to.

    Nothing else may need the one after it, or the other before. Returns whether it was.
    """
    buffers = _copied(copy)
    if buffers is None:
        return False
    source, target = buffers
    if not isinstance(source.owner, AllocOp) or not isinstance(target.owner, AllocOp):
        return False
    is_last = all(_comes_before(use.operation, copy) for use in source.uses)
    is_first = all(_comes_before(copy, use.operation) for use in target.uses)
    if source.type != target.type or not is_last or not is_first:
        return False
    allocation = target.owner
    allocation.detach()
    Rewriter.insert_op(allocation, InsertPoint.before(source.owner))
    Rewriter.erase_op(copy)
    source.replace_all_uses_with(target)
    Rewriter.erase_op(source.owner)
    return True


def _copied(block: BlockOp) -> tuple[SSAValue, SSAValue] | None:
    """The buffers from and to which a block copies all cells; None if it is no copy."""
    statements = list(block.body.block.ops)
    if not is_leaf(block) or block.conditions or len(statements) != 2:
        return None
    load, store = statements
    if not isinstance(load, LoadOp) or not isinstance(store, StoreOp):
        return None
    is_plain = load.subscripts is None and store.subscripts is None
    if not is_plain or store.value is not load.result or len(block.views) != 2:
        return None
    numbers = block.views.index(load.view), block.views.index(store.view)
    source, target = (block.refinement(number) for number in numbers)
    is_same = source.access == target.access and target == replace(
        source, direction=Direction.OUT
    )
    boxes = [written_box(block, number) for number in numbers]
    if not is_same or any(box is None or not box.is_whole for box in boxes):
        return None
    return block.buffer(numbers[0]), block.buffer(numbers[1])


def _comes_before(first: Operation, second: Operation) -> bool:
    """Whether a statement of a function is another one, or before it."""
    if not isinstance(first, BlockOp) or first.parent is not second.parent:
        return False
    return first is second or first.is_before_in_block(second)


@dataclass(frozen=True)
class Box:
    """Cells of a buffer: from `lows` to `highs`, both included, along each axis."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    sizes: tuple[int, ...]
    """Of the buffer."""

    @property
    def volume(self) -> int:
        """How many cells there are."""
        pairs = zip(self.lows, self.highs, strict=True)
        return prod(max(high - low + 1, 0) for low, high in pairs)

    @property
    def is_whole(self) -> bool:
        """Whether these are all cells of the buffer."""
        return self.volume == prod(self.sizes)

    def meets(self, other: Box) -> bool:
        """Whether some cells are in both."""
        ends = zip(self.lows, self.highs, other.lows, other.highs, strict=True)
        return all(a <= d and c <= b for a, b, c, d in ends)


def written_box(block: BlockOp, number: int) -> Box | None:
    """The cells that the points of a block reach through a window.

    None where that is no box inside the buffer, each cell of one point.
    """
    sizes = view_type(block.buffer(number)).sizes
    intervals = index_intervals(block)
    if not is_number(block.view_type(number)) or len(intervals.left) > 0:
        return None
    lows: list[int] = []
    highs: list[int] = []
    seen: set[int] = set()
    for form in block.refinement(number).access:
        index = form.support[0] if len(form.support) == 1 else None
        if index is None or index >= len(block.index_ranges) or index in seen:
            return None
        step = form.coefficients[index]
        if abs(step) != 1:
            return None
        seen.add(index)
        ends = [step * end + form.constant for end in intervals.of[index]]
        lows.append(int(min(ends)))
        highs.append(int(max(ends)))
    if len(seen) != len(block.index_ranges):
        return None
    is_inside = all(
        low >= 0 and high < size
        for low, high, size in zip(lows, highs, sizes, strict=True)
    )
    return Box(tuple(lows), tuple(highs), tuple(sizes)) if is_inside else None


@dataclass(frozen=True)
class Intervals:
    """The least and greatest value of each index, and the other constraints."""

    of: tuple[tuple[int, int], ...]
    left: tuple[LinearForm, ...]


def index_intervals(block: BlockOp) -> Intervals:
    """What constraints that depend on one index leave of its range."""
    found = [(0, extent - 1) for extent in block.index_ranges]
    left: list[LinearForm] = []
    for form in block.conditions:
        index = form.support[0] if len(form.support) == 1 else None
        if index is None or index >= len(found):
            left.append(form)
            continue
        low, high = found[index]
        step, constant = int(form.coefficients[index]), int(form.constant)
        if step > 0:
            low = max(low, -(constant // step))
        else:
            high = min(high, constant // -step)
        found[index] = low, high
    return Intervals(tuple(found), tuple(left))


def drop_overwritten(block: BlockOp) -> bool:
    """Leave out to set cells that others write before anybody reads them.

    Returns whether there were some.
    """
    numbers = block.written
    if not is_leaf(block) or not is_top_level(block) or len(numbers) != 1:
        return False
    (number,) = numbers
    refinement = block.refinement(number)
    box = written_box(block, number)
    is_set = refinement.init is not None
    if not is_set or refinement.aggregation is not Aggregation.ASSIGN or box is None:
        return False
    boxes = [box]
    for written in _written_next(block, block.buffer(number)):
        if any(written.meets(other) for other in boxes):
            return False
        boxes.append(written)
        if sum(each.volume for each in boxes) == prod(box.sizes):
            block.set_refinement(number, replace(refinement, init=None))
            return True
    return False


def _written_next(block: BlockOp, buffer: SSAValue) -> Iterator[Box]:
    """The boxes that blocks write after another one, until one reads the buffer."""
    root = root_buffer(buffer)
    statement = block.next_op
    while statement is not None:
        if root in map(root_buffer, statement.operands):
            box = _written(statement, buffer)
            if box is None:
                return
            yield box
        statement = statement.next_op


def _written(statement: Operation, buffer: SSAValue) -> Box | None:
    """The box of a buffer that a statement writes and does nothing else with."""
    if not isinstance(statement, BlockOp) or not is_leaf(statement):
        return None
    buffers = statement.buffers
    uses = [
        n for n, own in enumerate(buffers) if root_buffer(own) is root_buffer(buffer)
    ]
    if len(uses) != 1 or buffers[uses[0]] is not buffer:
        return None
    refinement = statement.refinement(uses[0])
    is_set = refinement.direction is Direction.OUT and refinement.is_plain
    if not is_set or not _stores_always(statement, statement.view(uses[0])):
        return None
    return written_box(statement, uses[0])


def _stores_always(block: BlockOp, view: SSAValue) -> bool:
    """Whether each point stores to a window, whatever the values."""
    stores = [use.operation for use in view.uses]
    return len(stores) == 1 and all(
        isinstance(store, StoreOp) and len(store.operands) == 2 for store in stores
    )


def narrow(block: BlockOp) -> bool:
    """Let indices have only values that constraints allow; whether there were others.

    Left alone are blocks that set cells where constraints fail.
    """
    initializes = any(r.init is not None for r in block.refinement_list)
    if not is_leaf(block) or block.is_serial or initializes or not block.conditions:
        return False
    intervals = index_intervals(block)
    if len(intervals.left) == len(block.conditions):
        return False
    if any(high < low for low, high in intervals.of):
        return False
    starts = {index: low for index, (low, _) in enumerate(intervals.of)}
    extents = {n: high - low + 1 for n, (low, high) in enumerate(intervals.of)}
    block.set_constraints(intervals.left)
    restrict_indices(block, starts, extents)
    return True
