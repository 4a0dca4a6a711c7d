"""Which element-wise block may be computed where another one stores what it reads.

One block gives the cells of a buffer, another one behind it reads each of them once,
and nobody else does. Then what the second computes of a cell may be computed where the
first one has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ....dialects.eltwise.ops import BroadcastOp, CastOp, ConstantOp, ElementwiseOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from .effects import effects_of
from .nests import (
    has_own_windows,
    is_leaf,
    is_number,
    is_top_level,
    root_buffer,
    users_of,
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

    @property
    def inputs(self) -> list[int]:
        """The refinements of the block that read what the producer writes."""
        root = root_buffer(self.producer.buffer(self.output))
        buffers = self.block.buffers
        return [n for n, buffer in enumerate(buffers) if root_buffer(buffer) is root]

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
        producer = _producer(block, number)
        if refinement.direction is Direction.IN and producer is not None:
            return _ending(block, number, producer)
    return None


def _ending(block: BlockOp, number: int, producer: BlockOp) -> Ending | None:
    written = producer.written
    if len(written) != 1 or not _may_move_up(block, producer):
        return None
    (output,) = written
    sizes = view_type(producer.buffer(output)).sizes
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
    ending = Ending(block, producer, output, merged)
    steps = {index for index, extent in enumerate(block.index_ranges) if extent > 1}
    same = {block.refinement(n).access for n in ending.inputs}
    is_matched = len(merged) == len(block.indices) or steps <= {*merged}
    return ending if is_matched and len(same) == 1 and _runs_along(ending) else None


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
    """Whether a top-level block computes cells of its own, each from numbers."""
    if not is_leaf(block) or not is_top_level(block) or block.is_serial:
        return False
    if block.conditions or not all(block.index_ranges):
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
    """Who writes a buffer that nobody but a block reads; None for other buffers."""
    root = root_buffer(block.buffer(number))
    if not isinstance(root.owner, AllocOp):
        return None
    users = users_of(root) - {block}
    producer = users.pop() if len(users) == 1 else None
    if not isinstance(producer, BlockOp) or not is_top_level(producer):
        return None
    is_before = producer.parent is block.parent and producer.is_before_in_block(block)
    reads = any(
        root_buffer(buffer) is root and refinement.direction is Direction.IN
        for buffer, refinement in zip(
            producer.buffers, producer.refinement_list, strict=True
        )
    )
    return producer if is_before and not reads else None


def _may_move_up(block: BlockOp, producer: BlockOp) -> bool:
    """Whether a block may run where its producer does."""
    own = effects_of(block)
    if not own.written.isdisjoint(effects_of(producer).used):
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
