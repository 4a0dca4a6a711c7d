"""Two blocks for one that aggregates: one over parts of it, one that adds the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.ir import SSAValue

from ....affine.form import LinearForm
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import (
    Direction,
    Level,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import located
from ..analysis.nests import is_top_level, output_indices
from .blocks import compute_indices, move_statements

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
    block: BlockOp, chunks: Sequence[Chunk], lanes: Lanes | None
) -> tuple[BlockOp, BlockOp]:
    """Replace a block by one over parts and one that adds these.

    The first has an index for each chunk, the indices of the old block, and one for
    the lanes; these divide the range of their index, or the size of its chunks.
    """
    split = _Split(block, tuple(chunks), lanes)
    parts = {number: split.parts(number) for number in split.outputs}
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


@dataclass(frozen=True)
class _Split:
    block: BlockOp
    chunks: tuple[Chunk, ...]
    lanes: Lanes | None

    @property
    def outputs(self) -> list[int]:
        """The numbers of the refinements that are written."""
        refinements = enumerate(self.block.refinement_list)
        return [n for n, r in refinements if r.direction.writes]

    def parts(self, number: int) -> SSAValue:
        """A buffer for the parts of an output."""
        buffer = self.block.buffer(number)
        counts = [chunk.count for chunk in self.chunks]
        turns = [] if self.lanes is None else [self.lanes.count]
        shape = self._around(counts, turns, view_type(buffer).sizes)
        is_top = is_top_level(self.block)
        space = MemorySpace.GLOBAL if is_top else MemorySpace.PRIVATE
        parts = AllocOp(ViewType.of(shape, view_type(buffer).element_type, space))
        parts.view.name_hint = f"{buffer.name_hint or 'out'}_parts"
        return parts.view

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
        rank = len(old.index_ranges)
        width = first + rank + (self.lanes is not None)
        forms = self._forms(width)
        ranges = self._ranges()
        refinements = [
            replace(r, access=tuple(f.substitute(forms) for f in r.access))
            for r in old.refinement_list
        ]
        buffers = list(old.buffers)
        types = [old.view_type(n) for n in range(len(refinements))]
        chunks = [LinearForm.dimension(n, width) for n in range(first)]
        turns = [] if self.lanes is None else [LinearForm.dimension(width - 1, width)]
        for number, view in parts.items():
            access = self._around(chunks, turns, refinements[number].access)
            refinements[number] = replace(refinements[number], access=tuple(access))
            buffers[number] = view
            types[number] = _one_of(view)
        names = [
            *("c" for _ in self.chunks),
            *(index.name_hint for index in old.indices),
            *("lane" for _ in turns),
        ]
        hints = [view.name_hint for view in old.views]
        body = BlockOp.empty_body(names, list(zip(types, hints, strict=True)))
        arguments = body.block.args
        replacements: dict[SSAValue, IndexSum] = {
            index: IndexSum.of(form, arguments[:width])
            for index, form in zip(old.indices, forms, strict=True)
        }
        compute_indices(old.body.block, replacements)
        for before, after in zip(old.views, arguments[width:], strict=True):
            before.replace_all_uses_with(after)
        move_statements(old.body.block, body.block)
        loops = [Level.LOOP]
        return BlockOp(
            ranges,
            buffers,
            refinements,
            body,
            constraints=[
                *(form.substitute(forms) for form in old.conditions),
                *self._ends(forms),
            ],
            levels=[*loops * first, *old.index_levels, *loops * len(turns)],
            block_name=None if old.block_name is None else old.block_name.data,
        )

    def _forms(self, width: int) -> list[LinearForm]:
        """What each old index is over the new ones."""
        first = len(self.chunks)
        forms = [
            LinearForm.dimension(first + n, width)
            for n in range(len(self.block.index_ranges))
        ]
        if self.lanes is not None:
            index, count = self.lanes.index, self.lanes.count
            lane = LinearForm.dimension(width - 1, width)
            forms[index] = forms[index] * count + lane
        for place, chunk in enumerate(self.chunks):
            start = LinearForm.dimension(place, width, chunk.size)
            forms[chunk.index] = forms[chunk.index] + start
        return forms

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

    def _ends(self, forms: Sequence[LinearForm]) -> list[LinearForm]:
        """The constraints that chunks end where the old indices do."""
        extents = self.block.index_ranges
        turns = {} if self.lanes is None else {self.lanes.index: self.lanes.count}
        return [
            -forms[chunk.index] + (extents[chunk.index] - 1)
            for chunk in self.chunks
            if chunk.count * chunk.size != extents[chunk.index]
            or chunk.size % turns.get(chunk.index, 1)
        ]

    def final_block(self, parts: Mapping[int, SSAValue]) -> BlockOp:
        """The block that aggregates the parts of each cell."""
        old = self.block
        kept = sorted(output_indices(old))
        turns = [] if self.lanes is None else [self.lanes.count]
        counts = [chunk.count for chunk in self.chunks]
        width = len(kept) + len(counts) + len(turns)
        positions = {index: place for place, index in enumerate(kept)}
        chunks = [
            LinearForm.dimension(len(kept) + n, width) for n in range(len(counts))
        ]
        lane = [LinearForm.dimension(width - 1, width) for _ in turns]
        sources: list[Refinement] = []
        targets: list[Refinement] = []
        for number in parts:
            output = old.refinement(number)
            access = [form.remap(positions, width) for form in output.access]
            part = self._around(chunks, lane, access)
            sources.append(Refinement(Direction.IN, tuple(part)))
            targets.append(replace(output, access=tuple(access)))
        body = BlockOp.empty_body(
            [
                *(old.indices[index].name_hint for index in kept),
                *("c" for _ in counts),
                *("lane" for _ in turns),
            ],
            [
                *((_one_of(view), "part") for view in parts.values()),
                *((old.view_type(n), old.view(n).name_hint) for n in parts),
            ],
        )
        views = body.block.args[width:]
        for source, target in zip(
            views[: len(parts)], views[len(parts) :], strict=True
        ):
            load = LoadOp(source)
            body.block.add_ops([load, StoreOp(load.result, target)])
        return BlockOp(
            [*(old.index_ranges[index] for index in kept), *counts, *turns],
            [*parts.values(), *(old.buffer(number) for number in parts)],
            [*sources, *targets],
            body,
            block_name=None if old.block_name is None else old.block_name.data,
        )


def _one_of(view: SSAValue) -> ViewType:
    """The window of one number in a buffer."""
    type = view_type(view)
    return type.resized([1] * type.rank)
