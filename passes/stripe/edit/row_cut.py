"""What is to be known of a nest over long rows to cut these: see `cut_rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from xdsl.ir import BlockArgument, SSAValue

from ....dialects.stripe.attributes import Direction
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ..analysis.nests import axis_of, reduction_indices, root_buffer


class RowUse(Enum):
    """What a leaf does with rows."""

    AGGREGATES = auto()
    """It reads them, and has a cell for each."""
    COMPUTES = auto()
    """It has a value of its own at each place of a row."""
    IS_APART = auto()
    """It uses none."""


@dataclass(frozen=True)
class RowLeaf:
    """A block of the nest."""

    block: BlockOp
    index: int | None
    """That goes along rows."""
    kind: RowUse
    memories: tuple[SSAValue, ...]
    """Of each window."""

    def used(self, *, reads: bool) -> list[SSAValue]:
        """The memories that it reads, or those that it writes."""
        pairs = zip(self.memories, self.block.refinement_list, strict=True)
        return [
            memory
            for memory, use in pairs
            if (use.direction.reads if reads else use.direction.writes)
        ]

    def axis(self, number: int) -> int | None:
        """The axis of a memory along which it has values of its own, from 0 on."""
        index = self.index
        return None if index is None else axis_of(self.block, number, index)


@dataclass(frozen=True)
class RowCut:
    """A nest whose rows can be cut."""

    nest: BlockOp
    size: int
    """Values of a part of a row."""
    length: int
    """Of a row."""
    leaves: tuple[RowLeaf, ...]
    writers: Mapping[SSAValue, RowLeaf]
    """Of each memory that a leaf writes."""

    @property
    def count(self) -> int:
        """The parts of a row."""
        return -(-self.length // self.size)

    @staticmethod
    def of(
        nest: BlockOp, indices: Mapping[BlockOp, int | None], size: int
    ) -> RowCut | None:
        """What is to be known of a nest; None where it can not be cut."""
        leaves = [_leaf(nest, block, index) for block, index in indices.items()]
        found = tuple([leaf for leaf in leaves if leaf is not None])
        lengths = {
            leaf.block.index_ranges[leaf.index]
            for leaf in found
            if leaf.index is not None
        }
        if len(found) < len(leaves) or len(lengths) != 1 or nest.conditions:
            return None
        writers: dict[SSAValue, RowLeaf] = {}
        for leaf in found:
            for memory in leaf.used(reads=False):
                if memory in writers:
                    return None
                writers[memory] = leaf
        cut = RowCut(nest, size, lengths.pop(), found, writers)
        return cut if all(map(cut._hands_on, found)) else None

    def _hands_on(self, leaf: RowLeaf) -> bool:
        """Whether a leaf uses what leaves write as others that are cut do."""
        for number, memory in enumerate(leaf.memories):
            writer = self.writers.get(memory)
            if writer is None:
                continue
            is_last = self.leaves.index(writer) > self.leaves.index(leaf)
            direction = leaf.block.refinement(number).direction
            if is_last or direction is Direction.INOUT:
                return False
            # Of the rows that the nest hands on nothing is read in it.
            is_row = writer.kind is RowUse.COMPUTES
            is_result = writer is leaf or not is_row
            axis, place = leaf.axis(number), writer.memories.index(memory)
            if not (self._is_inside(memory) or is_result):
                return False
            if is_row != (axis is not None) or not self._is_one_window(memory):
                return False
            if axis != writer.axis(place):
                return False
        return True

    def _is_one_window(self, memory: SSAValue) -> bool:
        """Whether the nest shows the same part of a memory wherever it does."""
        shown = {
            (use.access, self.nest.view_type(number))
            for number, use in enumerate(self.nest.refinement_list)
            if root_buffer(self.nest.buffer(number)) is memory
        }
        return len(shown) < 2

    def _is_inside(self, memory: SSAValue) -> bool:
        """Whether nothing but the nest uses a memory."""
        owner = memory.owner
        if isinstance(owner, AllocOp) and owner.parent is self.nest.body.block:
            return True
        return is_only_used_by(memory, self.nest)

    @cached_property
    def levels(self) -> dict[BlockOp, int]:
        """How many aggregations each leaf waits for, one after the other."""
        found: dict[BlockOp, int] = {}
        for leaf in self.leaves:
            writers = [self.writers.get(memory) for memory in leaf.used(reads=True)]
            found[leaf.block] = max(
                [
                    found[each.block] + (each.kind is RowUse.AGGREGATES)
                    for each in writers
                    if each is not None
                ],
                default=0,
            )
        return found

    @cached_property
    def axes(self) -> dict[SSAValue, int | None]:
        """Along which axis leaves use their own values of a buffer, if they all do."""
        found: dict[SSAValue, set[int | None]] = {}
        for leaf in self.leaves:
            for number, buffer in enumerate(leaf.block.buffers):
                found.setdefault(buffer, set()).add(leaf.axis(number))
        return {
            buffer: axes.pop() if len(axes) == 1 else None
            for buffer, axes in found.items()
        }

    def is_cell(self, memory: SSAValue) -> bool:
        """Whether a result has cells for rows: each nest finds these for itself.

        The last one, which is not cut, hands them on.
        """
        writer = self.writers.get(memory)
        is_known = writer is not None and writer.kind is not RowUse.COMPUTES
        return is_known and not self._is_inside(memory)

    def is_result(self, leaf: RowLeaf) -> bool:
        """Whether a leaf writes what is used behind the nest."""
        return not all(map(self._is_inside, leaf.used(reads=False)))


def is_only_used_by(memory: SSAValue, nest: BlockOp) -> bool:
    """Whether a buffer is allocated for a nest."""
    is_allocated = isinstance(memory.owner, AllocOp)
    return is_allocated and all(use.operation is nest for use in memory.uses)


def _leaf(nest: BlockOp, block: BlockOp, index: int | None) -> RowLeaf | None:
    """What is to be known of a block; None for one that goes along rows otherwise."""
    kind = RowUse.IS_APART
    if index is not None:
        aggregates = index in reduction_indices(block)
        kind = RowUse.AGGREGATES if aggregates else RowUse.COMPUTES
    if block.is_serial or block.parent_op() is not nest:
        return None
    memories = tuple([_memory(nest, buffer) for buffer in block.buffers])
    return RowLeaf(block, index, kind, memories)


def _memory(nest: BlockOp, buffer: SSAValue) -> SSAValue:
    """What a leaf's window is cut from: allocated in the nest, or outside."""
    if isinstance(buffer, BlockArgument) and buffer in nest.views:
        return root_buffer(nest.buffer(nest.views.index(buffer)))
    return buffer
