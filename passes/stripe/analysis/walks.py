"""Blocks of a function that one walk over an index may run: which, and over what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from .nests import is_top_level, output_indices, reduction_indices
from .recurrences import Recurrences, recurrences_of
from .schedules import is_scheduled
from .shared_indices import Member, find_conflict, may_be_member
from .statement_order import StatementOrder

WALK = "walk"
_MOST_BLOCKS = 32
"""Of a group."""


@dataclass(frozen=True)
class WalkGroup:
    """Blocks that share indices of rows, and of which a walk runs the values."""

    blocks: tuple[BlockOp, ...]
    """In order."""
    indices: tuple[int, ...]
    """For each block the number of the index of the walk."""
    rows: tuple[tuple[int, ...], ...]
    """For each block its numbers of the indices of rows."""
    found: Recurrences

    @cached_property
    def extent(self) -> int:
        """How many values there are to walk over."""
        return self.blocks[0].index_ranges[self.indices[0]]

    @cached_property
    def row_ranges(self) -> tuple[int, ...]:
        """How many rows there are along each of their indices."""
        block = self.blocks[0]
        return tuple([block.index_ranges[index] for index in self.rows[0]])


def walk_groups(
    blocks: Sequence[BlockOp], order: StatementOrder
) -> Iterator[WalkGroup]:
    """The groups of top-level blocks that a walk may run, each block in one of them.

    They are found from a block that aggregates numbers which others need meanwhile.
    """
    taken: set[BlockOp] = set()
    for block in blocks:
        if block in taken or not _may_begin(block):
            continue
        labels = _labels_from(block)
        group = None if labels is None else _group(labels, order)
        if group is not None and taken.isdisjoint(group.blocks):
            taken.update(group.blocks)
            yield group


def _may_begin(block: BlockOp) -> bool:
    """Whether a block aggregates along one index for rows, from what others compute."""
    wide = [n for n in reduction_indices(block) if block.index_ranges[n] > 1]
    return may_be_member(block) is None and len(wide) == 1


_Labels: TypeAlias = dict[BlockOp, dict[int, str | int]]
"""For each block what its indices are: that of the walk, or which one of rows."""


def _labels_from(first: BlockOp) -> _Labels | None:
    """The blocks that exchange values of a walk with a block; None for other indices.

    What steps through the same axis of a buffer is the same index.
    """
    (walked,) = [n for n in reduction_indices(first) if first.index_ranges[n] > 1]
    rows = [n for n in sorted(output_indices(first)) if first.index_ranges[n] > 1]
    labelling = _Labelling(first.index_ranges[walked])
    labelling.take(first, {walked: WALK} | {n: i for i, n in enumerate(rows)})
    return labelling.labels if labelling.spread() else None


@dataclass
class _Labelling:
    """Says of block after block what its indices are."""

    extent: int
    """How many values the walk has."""
    labels: _Labels = field(default_factory=_Labels)
    axes: dict[SSAValue, dict[int, str | int]] = field(
        default_factory=dict[SSAValue, dict[int, "str | int"]]
    )
    """What the axes of buffers are."""
    pending: list[BlockOp] = field(default_factory=list[BlockOp])

    def take(self, block: BlockOp, found: dict[int, str | int]) -> bool:
        """Note what indices of a block are; False where they are others, too."""
        known = self.labels.setdefault(block, {})
        if any(known.get(n, label) != label for n, label in found.items()):
            return False
        if not {*found} <= {*known}:
            known.update(found)
            self.pending.append(block)
        return True

    def spread(self) -> bool:
        """Go on to all blocks that exchange values; whether they agree."""
        while self.pending:
            block = self.pending.pop()
            if len(self.labels) > _MOST_BLOCKS:
                return False
            for number, buffer in enumerate(block.buffers):
                if _is_exchanged(buffer) and not self._follow(block, number):
                    return False
        return True

    def _follow(self, block: BlockOp, number: int) -> bool:
        """Go on to the other blocks that use a buffer."""
        buffer = block.buffer(number)
        own = _axes_of(block, number, self.labels[block])
        if self.axes.setdefault(buffer, own) != own:
            return False
        users = [(use.operation, use.index) for use in buffer.uses]
        for user, other in users:
            if isinstance(user, ReturnOp):
                continue
            if not isinstance(user, BlockOp) or not is_top_level(user):
                return False
            found = _indices_of(user, other, own)
            if WALK not in own.values():
                aggregating = _aggregating(user, self.extent)
                if aggregating is None:
                    continue
                found[aggregating] = WALK
            if not self.take(user, found):
                return False
        return True


def _is_exchanged(buffer: SSAValue) -> bool:
    """Whether blocks write a buffer and others read it."""
    if not isinstance(buffer.owner, AllocOp):
        return False
    uses = [(use.operation, use.index) for use in buffer.uses]
    writes = [
        block.refinement(number).direction.writes
        for block, number in uses
        if isinstance(block, BlockOp)
    ]
    return any(writes) and not all(writes)


def _aggregating(block: BlockOp, extent: int) -> int | None:
    """The only index over which a block aggregates, where it has so many values."""
    wide = [n for n in reduction_indices(block) if block.index_ranges[n] > 1]
    return wide[0] if len(wide) == 1 and block.index_ranges[wide[0]] == extent else None


def _axes_of(
    block: BlockOp, number: int, labels: dict[int, str | int]
) -> dict[int, str | int]:
    """What the axes of a buffer are, by the indices of a block."""
    access = block.refinement(number).access
    found = {axis: form.single_dimension for axis, form in enumerate(access)}
    return {
        axis: labels[index]
        for axis, index in found.items()
        if index is not None and index in labels
    }


def _indices_of(
    block: BlockOp, number: int, axes: dict[int, str | int]
) -> dict[int, str | int]:
    """What the indices of a block are, by the axes of a buffer."""
    access = block.refinement(number).access
    return {
        index: label
        for axis, label in axes.items()
        if (index := access[axis].single_dimension) is not None
    }


def _without_sources(labels: _Labels) -> _Labels:
    """The blocks but for those that are better run before, once for several rows.

    They compute values from what is there before the walk, as a mask that several heads
    share, and lack indices of rows that all others have.
    """
    written = {
        buffer: block
        for block in labels
        for buffer, refinement in zip(block.buffers, block.refinement_list, strict=True)
        if refinement.direction.writes
    }
    sources = [
        block
        for block in labels
        if not reduction_indices(block)
        and not any(written.get(buffer, block) is not block for buffer in block.buffers)
    ]
    others = [{*own.values()} for block, own in labels.items() if block not in sources]
    if not others:
        return labels
    rows = set[str | int].intersection(*others)
    return {
        block: own
        for block, own in labels.items()
        if block not in sources or rows <= {*own.values()}
    }


def _group(labels: _Labels, order: StatementOrder) -> WalkGroup | None:
    """The group of some blocks, if one walk can run them in one nest."""
    blocks = order.sorted([*_without_sources(labels)])
    if any(may_be_member(b) is not None or is_scheduled(b) for b in blocks):
        return None
    numbers = [{label: n for n, label in labels[block].items()} for block in blocks]
    if any(WALK not in own for own in numbers):
        return None
    rows = [row for row in numbers[0] if row != WALK]
    rows = [row for row in rows if all(row in own for own in numbers)]
    if not rows:
        return None
    shared = [tuple([own[row] for row in sorted(rows, key=str)]) for own in numbers]
    indices = tuple([own[WALK] for own in numbers])
    extents = {b.index_ranges[n] for b, n in zip(blocks, indices, strict=True)}
    members = [Member.of(b, own) for b, own in zip(blocks, shared, strict=True)]
    if len(extents) > 1 or find_conflict(members) is not None:
        return None
    around: set[Operation] = {*blocks}
    found = recurrences_of([*zip(blocks, indices, strict=True)], [*around])
    if isinstance(found, str) or not found.running:
        return None
    return WalkGroup(tuple(blocks), indices, tuple(shared), found)
