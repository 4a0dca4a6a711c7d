"""Which element-wise block may be computed where another one stores what it reads.

One block gives the cells of a buffer, and another one behind it reads each of them
once. Then what the second computes of a cell may be computed where the first one has
it. Among the statements of a function nobody else may need the cells; inside of a nest
they are still stored where somebody does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.ops import BroadcastOp, CastOp, ConstantOp, ElementwiseOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, MemorySpace, view_type
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from .effects import effects_of
from .facts import covers
from .nests import (
    all_blocks,
    has_own_windows,
    is_leaf,
    is_number,
    is_top_level,
    root_buffer,
    users_of,
    windows_from,
)


@dataclass(frozen=True)
class Ending:
    """A block that may be computed at the end of another one."""

    block: BlockOp
    producer: BlockOp
    output: int
    """The producer's refinement that is written."""
    merged: Mapping[int, range]
    """For each index of the block, the axes of that buffer that it steps through."""

    @cached_property
    def buffer(self) -> SSAValue:
        """The memory that the producer writes."""
        return root_buffer(self.producer.buffer(self.output))

    @property
    def inputs(self) -> list[int]:
        """The refinements of the block that read what the producer writes."""
        return [n for n in self.uses if self.block.refinement(n).direction.reads]

    @property
    def is_in_place(self) -> bool:
        """Whether the block writes its cells in place of those that it reads."""
        return self.inputs != self.uses

    @property
    def is_last(self) -> bool:
        """Whether nobody needs the cells but the block."""
        return self.is_in_place or self._others == set()

    @property
    def is_alone(self) -> bool:
        """Whether nobody else writes cells of the buffer."""
        others = self._others
        return others is not None and not any(
            self.buffer in effects_of(other).written for other in others
        )

    @property
    def uses(self) -> list[int]:
        """The refinements of the block that show the buffer."""
        buffers = self.block.buffers
        return [n for n, b in enumerate(buffers) if root_buffer(b) is self.buffer]

    @property
    def _others(self) -> set[Operation] | None:
        """Who else uses the buffer; None where it outlives the statements around."""
        owner = self.buffer.owner
        if not isinstance(owner, AllocOp) or owner.parent is not self.block.parent:
            return None
        return users_of(self.buffer) - {self.block, self.producer}

    def point_of(self, cell: Sequence[IndexSum]) -> dict[SSAValue, IndexSum]:
        """The indices of the point that reads a cell of the producer's buffer."""
        sizes = view_type(self.producer.buffer(self.output)).sizes
        point: dict[SSAValue, IndexSum] = {}
        for index, axes in self.merged.items():
            place = IndexSum()
            for axis in axes:
                place = place * sizes[axis] + cell[axis]
            point[self.block.indices[index]] = place
        return point


def ending_of(block: BlockOp) -> Ending | None:
    """How a block may be computed at the end of another one; None where it may not."""
    if not _is_elementwise(block):
        return None
    for number, refinement in enumerate(block.refinement_list):
        if refinement.direction is not Direction.IN:
            continue
        producer = _producer(block, number)
        if producer is None:
            continue
        ending = _ending(block, number, producer)
        if ending is not None or is_top_level(block):
            return ending
    return None


def _ending(block: BlockOp, number: int, producer: BlockOp) -> Ending | None:
    written = producer.written
    if len(written) != 1:
        return None
    (output,) = written
    source = producer.buffer(output)
    if not is_top_level(block) and not _is_same(source, block.buffer(number)):
        return None
    sizes = view_type(source).sizes
    axes = merged_axes(sizes, view_type(block.buffer(number)).sizes)
    if axes is None:
        return None
    merged: dict[int, range] = {}
    pairs = zip(block.access(number), axes, strict=True)
    for start, own in pairs:
        index = start.single_value
        if index is None and start == IndexSum() and not own:
            continue
        if index not in block.indices:
            return None
        merged[block.indices.index(index)] = own
    ranges = block.index_ranges
    if any(ranges[n] != prod(sizes[a] for a in own) for n, own in merged.items()):
        return None
    ending = Ending(block, producer, output, merged)
    steps = {index for index, extent in enumerate(ranges) if extent > 1}
    is_matched = len(merged) == len(block.indices) or steps <= {*merged}
    is_fine = is_matched and _keeps_to_cells(ending) and _may_move_up(ending)
    return ending if is_fine and _runs_along(ending) else None


def _is_same(view: SSAValue, other: SSAValue) -> bool:
    """Whether two views are one, or the same windows of one block."""
    if view is other:
        return True
    first, second = window_of(view), window_of(other)
    if first is None or second is None or first[0] is not second[0]:
        return False
    block, numbers = first[0], (first[1], second[1])
    accesses = {block.refinement(number).access for number in numbers}
    buffers = {block.buffer(number) for number in numbers}
    return len(accesses) == len(buffers) == 1 and view.type == other.type


def _keeps_to_cells(ending: Ending) -> bool:
    """Whether the block uses just the cell that it reads, and first reads it."""
    block = ending.block
    first, *others = ending.uses
    is_one = all(
        block.refinement(n).access == block.refinement(first).access
        and _is_same(block.buffer(n), block.buffer(first))
        for n in others
    )
    stores = [
        isinstance(op, StoreOp)
        for op in block.body.ops
        if isinstance(op, LoadOp | StoreOp)
    ]
    return is_one and (not ending.is_in_place or stores == sorted(stores))


def merged_axes(sizes: Sequence[int], merged: Sequence[int]) -> list[range] | None:
    """For each axis of a shape, which axes of a finer one it is made of.

    Axes of size 1 are made of none. None where it is no coarser shape.
    """
    found: list[range] = []
    axis = 0
    for size in merged:
        first, product = axis, 1
        while product < size and axis < len(sizes):
            product *= sizes[axis]
            axis += 1
        if product != size:
            return None
        found.append(range(first, axis))
    return found


def _is_elementwise(block: BlockOp) -> bool:
    """Whether a block computes cells of its own, each from numbers."""
    if not is_leaf(block) or block.is_serial:
        return False
    if block.conditions or block.captures or not all(block.index_ranges):
        return False
    for number, refinement in enumerate(block.refinement_list):
        if not is_number(block.view_type(number)):
            return False
        if refinement.direction is Direction.IN:
            continue
        if refinement.direction is not Direction.OUT or not refinement.is_plain:
            return False
        if not has_own_windows(block, number):
            return False
    return all(map(_is_plain, block.body.block.ops))


def _is_plain(op: Operation) -> bool:
    match op:
        case LoadOp():
            return op.subscripts is None
        case StoreOp():
            return op.subscripts is None and op.condition is None
        case _:
            return isinstance(op, ElementwiseOp | CastOp | ConstantOp | BroadcastOp)


def _producer(block: BlockOp, number: int) -> BlockOp | None:
    """Who wrote a buffer last, and reads nothing of it; None for other buffers.

    Among the statements of a function nobody else may use it.
    """
    root = root_buffer(block.buffer(number))
    before = block.prev_op
    while before is not None and root not in effects_of(before).written:
        before = before.prev_op
    if not isinstance(before, BlockOp):
        return None
    if is_top_level(block):
        is_own = isinstance(root.owner, AllocOp) and users_of(root) == {block, before}
        if not is_own:
            return None
    pairs = zip(before.buffers, before.refinement_list, strict=True)
    reads = any(root_buffer(b) is root and each.direction.reads for b, each in pairs)
    return None if reads else before


def _may_move_up(ending: Ending) -> bool:
    """Whether a block may run where its producer does."""
    block, producer = ending.block, ending.producer
    own = effects_of(block)
    used = effects_of(producer).used - {ending.buffer}
    if not own.written.isdisjoint(used):
        return False
    between = producer.next_op
    while between is not None and between is not block:
        if own.depends_on(effects_of(between)):
            return False
        between = between.next_op
    return between is block


def _runs_along(ending: Ending) -> bool:
    """Whether all windows step one by one, or not at all, along the producer's rows.

    Then vectors can be made of what is computed.
    """
    block = ending.block
    wide = [n for n in ending.merged if block.index_ranges[n] > 1]
    if not wide:
        return True
    row = max(wide, key=lambda index: ending.merged[index].start)
    for refinement in block.refinement_list:
        steps = [form.coefficients[row] for form in refinement.access]
        if any(steps[:-1]) or not {*steps} <= {0, 1}:
            return False
    return True


@dataclass(frozen=True)
class Stores:
    """The block that copies the cells which a producer has collected to their place."""

    block: BlockOp
    cell: tuple[IndexSum, ...]
    """Where a point stores in the producer's buffer, over indices of the blocks around.
    """


def stores_of(ending: Ending) -> Stores | None:
    """What stores all cells that the block reads; None where they are not collected."""
    producer = ending.producer
    found = [
        block
        for block in all_blocks(producer)
        if is_leaf(block)
        and any(root_buffer(buffer) is ending.buffer for buffer in block.buffers)
    ]
    (block, *others) = found or [producer]
    if others or block is producer or not _is_copy(block):
        return None
    windows = [*windows_from(block.view(1))]
    windows = windows[: [each for each, _ in windows].index(producer) + 1]
    refinements = [each.refinement(number) for each, number in windows]
    if not all(r.is_plain and r.direction is Direction.OUT for r in refinements):
        return None
    accesses = [each.access(number) for each, number in windows]
    cell = tuple([sum(starts, IndexSum()) for starts in zip(*accesses, strict=True)])
    sizes = view_type(producer.buffer(ending.output)).sizes
    limits = [-start + (size - 1) for start, size in zip(cell, sizes, strict=True)]
    around = [each for each, _ in windows[1:]]
    is_whole = (
        all(covers(each, number) for each, number in windows)
        and not any(each.where for each in around)
        and all(
            IndexSum() in [each - limit for limit in limits] for each in block.where
        )
    )
    return Stores(block, cell) if is_whole or ending.is_alone else None


def _is_copy(block: BlockOp) -> bool:
    """Whether a block copies cells of private memory."""
    statements = [*block.body.block.ops]
    if [type(op) for op in statements] != [LoadOp, StoreOp] or len(block.buffers) != 2:
        return False
    is_own = view_type(block.buffer(0)).space.data is MemorySpace.PRIVATE
    return is_own and all(map(_is_plain, statements))
