"""Two blocks for one that aggregates: one over parts of it, one that adds the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import SSAValue

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.nests import is_top_level, output_indices, reduction_indices
from .blocks import Window, build_block, compute_indices, move_statements

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Chunk:
    """An index that is cut into `count` chunks of `size` values, the last may be less.

    Each of them has cells of its own.
    """

    index: int
    count: int
    size: int


@dataclass(frozen=True)
class Lanes:
    """An index of which every `count`-th value goes to the same cells.

    These lie along the last axis of the parts, or along the one before the cells.
    """

    index: int
    count: int
    is_last: bool = True


def split_reduction(
    block: BlockOp,
    chunks: Sequence[Chunk],
    lanes: Lanes | None,
    space: MemorySpace | None = None,
    *,
    row_unit: int = 1,
) -> tuple[BlockOp, BlockOp]:
    """Replace a block by one over parts and one that adds these.

    The first has an index for each chunk, the indices of the old block, and one for
    the lanes. The parts are in the memory of that space, by default in global memory,
    and inside of blocks in private one. Their rows are apart by multiples of
    `row_unit` numbers, so that each can begin with a whole vector.
    """
    split = _Split(block, tuple(chunks), lanes, space or _usual_space(block), row_unit)
    parts = {number: split.parts(number) for number in block.written}
    first, second = split.partial_block(parts), split.final_block(parts)
    allocations = [view.owner for view in parts.values()]
    block.replace_by(
        *(
            located(operation, block)
            for operation in (*allocations, first, second)
            if isinstance(operation, AllocOp | BlockOp)
        )
    )
    return first, second


def deal_out(block: BlockOp, index: int, count: int) -> BlockOp:
    """Let an index count rounds, in which a further, last index has `count` turns.

    Its values are `count * round + turn`; returns the block that takes the old one's
    place.
    """
    dealt = _Split(block, (), Lanes(index, count), MemorySpace.PRIVATE)
    new = located(dealt.partial_block({}), block)
    block.replace_by(new)
    return new


@dataclass(frozen=True)
class _Split:
    block: BlockOp
    chunks: tuple[Chunk, ...]
    lanes: Lanes | None
    space: MemorySpace
    row_unit: int = 1

    def parts(self, number: int) -> SSAValue:
        """A buffer for the parts of an output."""
        buffer = self.block.buffer(number)
        counts = [chunk.count for chunk in self.chunks]
        turns = [] if self.lanes is None else [self.lanes.count]
        *outer, row = self._around(counts, turns, view_type(buffer).sizes)
        shape = [*outer, -(-row // self.row_unit) * self.row_unit]
        element = view_type(buffer).element_type
        name = f"{buffer.name_hint or 'out'}_parts"
        return AllocOp(ViewType.of(shape, element, self.space), name).view

    def _around(
        self, chunks: Sequence[_Item], lanes: Sequence[_Item], cells: Sequence[_Item]
    ) -> list[_Item]:
        """Along the axes of the parts: chunks, the lanes here or at the end, cells."""
        if self.lanes is None or self.lanes.is_last:
            return [*chunks, *cells, *lanes]
        return [*chunks, *lanes, *cells]

    def partial_block(self, parts: Mapping[int, SSAValue]) -> BlockOp:
        """The block over indices for chunks, the old ones, and one for lanes."""
        old, first = self.block, len(self.chunks)
        turns = [] if self.lanes is None else ["lane"]
        names = [
            *("c" for _ in self.chunks),
            *(index.name_hint for index in old.indices),
            *turns,
        ]
        types = [
            view_type(parts[n]).cell if n in parts else old.view_type(n)
            for n in range(len(old.views))
        ]
        hints = [view.name_hint for view in old.views]
        body = BlockOp.empty_body(names, list(zip(types, hints, strict=True)))
        arguments = body.block.args
        indices = [IndexSum.value(each) for each in arguments[: len(names)]]
        chunks, lane = indices[:first], indices[len(names) - len(turns) :]
        whole = self._whole(indices)
        windows: list[Window] = []
        for number, access in enumerate(old.accesses):
            starts = [start.substitute(whole) for start in access]
            buffer = old.buffer(number)
            if number in parts:
                starts, buffer = self._around(chunks, lane, starts), parts[number]
            windows.append(Window(buffer, starts, old.refinement(number)))
        where = [condition.substitute(whole) for condition in old.where]
        where += self._ends(whole)
        compute_indices(old.body.block, whole)
        for before, after in zip(old.views, arguments[len(names) :], strict=True):
            before.replace_all_uses_with(after)
        move_statements(old.body.block, body.block)
        new = [Binding.UNDECIDED]
        bindings = [*new * first, *old.index_bindings, *new * len(turns)]
        return build_block(self._ranges(), windows, body, where, bindings, like=old)

    def _whole(self, indices: Sequence[IndexSum]) -> dict[SSAValue, IndexSum]:
        """What each old index is over the new ones."""
        first, old = len(self.chunks), self.block.indices
        whole = dict[SSAValue, IndexSum](zip(old, indices[first:], strict=False))
        if self.lanes is not None:
            index = old[self.lanes.index]
            whole[index] = whole[index] * self.lanes.count + indices[-1]
        for chunk, start in zip(self.chunks, indices, strict=False):
            whole[old[chunk.index]] += start * chunk.size
        return whole

    def _ranges(self) -> list[int]:
        ranges = list(self.block.index_ranges)
        for chunk in self.chunks:
            ranges[chunk.index] = chunk.size
        turns: list[int] = []
        if self.lanes is not None:
            index, count = self.lanes.index, self.lanes.count
            ranges[index] = -(-ranges[index] // count)
            turns.append(count)
        return [*(chunk.count for chunk in self.chunks), *ranges, *turns]

    def _ends(self, whole: Mapping[SSAValue, IndexSum]) -> list[IndexSum]:
        """The conditions that chunks and lanes end where the old indices do."""
        extents, old = self.block.index_ranges, self.block.indices
        reached = {chunk.index: chunk.size for chunk in self.chunks}
        if self.lanes is not None:
            index, turns = self.lanes.index, self.lanes.count
            size = reached.get(index, extents[index])
            reached[index] = -(-size // turns) * turns
        for chunk in self.chunks:
            reached[chunk.index] *= chunk.count
        return [
            -whole[old[index]] + (extents[index] - 1)
            for index in sorted(reached)
            if reached[index] != extents[index]
        ]

    def final_block(self, parts: Mapping[int, SSAValue]) -> BlockOp:
        """The block that aggregates the parts of each cell."""
        old = self.block
        kept = sorted(output_indices(old))
        turns = [] if self.lanes is None else [self.lanes.count]
        counts = [chunk.count for chunk in self.chunks]
        body = BlockOp.empty_body(
            [
                *(old.indices[index].name_hint for index in kept),
                *("c" for _ in counts),
                *("lane" for _ in turns),
            ],
            [
                *((view_type(view).cell, "part") for view in parts.values()),
                *((old.view_type(n), old.view(n).name_hint) for n in parts),
            ],
        )
        ranges = [*(old.index_ranges[index] for index in kept), *counts, *turns]
        indices = [IndexSum.value(each) for each in body.block.args[: len(ranges)]]
        own = dict[SSAValue, IndexSum](
            zip((old.indices[index] for index in kept), indices, strict=False)
        )
        chunks = indices[len(kept) : len(kept) + len(counts)]
        lane = indices[len(kept) + len(counts) :]
        sources: list[Window] = []
        targets: list[Window] = []
        for number, view in parts.items():
            cell = [start.substitute(own) for start in old.access(number)]
            part = self._around(chunks, lane, cell)
            sources.append(Window(view, part, Refinement(Direction.IN, ())))
            targets.append(Window(old.buffer(number), cell, old.refinement(number)))
        gone = {old.indices[index] for index in reduction_indices(old)}
        where = [
            condition.substitute(own)
            for condition in old.where
            if gone.isdisjoint(condition.values)
        ]
        views = body.block.args[len(ranges) :]
        for source, target in zip(
            views[: len(parts)], views[len(parts) :], strict=True
        ):
            load = LoadOp(source)
            body.block.add_ops([load, StoreOp(load.result, target)])
        return build_block(ranges, [*sources, *targets], body, where, like=old)


def _usual_space(block: BlockOp) -> MemorySpace:
    """Where the parts of a block's outputs are."""
    return MemorySpace.GLOBAL if is_top_level(block) else MemorySpace.PRIVATE
