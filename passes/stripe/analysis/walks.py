"""Blocks of a function that one walk over an index may run: which, and over what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

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


_Labels = dict[BlockOp, dict[int, str | int]]
"""For each block what its indices are: that of the walk, or which one of rows."""


def _labels_from(first: BlockOp) -> _Labels | None:
    """The blocks that exchange values of a walk with a block; None for other indices.

    What steps through the same axis of a buffer is the same index.
    """
    (walked,) = [n for n in reduction_indices(first) if first.index_ranges[n] > 1]
    rows = [n for n in sorted(output_indices(first)) if first.index_ranges[n] > 1]
    extent = first.index_ranges[walked]
    labels: _Labels = {first: {walked: WALK} | {n: i for i, n in enumerate(rows)}}
    axes: dict[SSAValue, dict[int, str | int]] = {}
    pending = [first]
    while pending:
        if len(labels) > _MOST_BLOCKS:
            return None
        block = pending.pop()
        for number, buffer in enumerate(block.buffers):
            if not _is_exchanged(buffer):
                continue
            own = _axes_of(block, number, labels[block])
            if axes.setdefault(buffer, own) != own:
                return None
            for use in buffer.uses:
                user = use.operation
                if isinstance(user, ReturnOp):
                    continue
                if not isinstance(user, BlockOp) or not is_top_level(user):
                    return None
                found = _indices_of(user, use.index, own)
                if WALK not in own.values():
                    aggregating = _aggregating(user, extent)
                    if aggregating is None:
                        continue
                    found[aggregating] = WALK
                known = labels.setdefault(user, {})
                if any(known.get(n, label) != label for n, label in found.items()):
                    return None
                if not {*found} <= {*known}:
                    known.update(found)
                    pending.append(user)
    return labels


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


def _group(labels: _Labels, order: StatementOrder) -> WalkGroup | None:
    """The group of some blocks, if one walk can run them in one nest."""
    blocks = order.sorted([*labels])
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
