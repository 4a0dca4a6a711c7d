"""Which blocks of a nest may run beyond an end, as what comes of that stays beyond.

A nest has tiles of rows, the last of which sticks out. Rows that there are not may be
computed all the same where nothing else depends on them: each block reads and writes
its own memory in the row that it computes, and what leaves the nest is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

from xdsl.ir import SSAValue

from ....dialects.aggregation import Aggregation
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from .lanes import computes_with_floats
from .nests import (
    absolute_access,
    all_blocks,
    blocks_around,
    is_leaf,
    is_number,
    is_subscripted,
)

Terms: TypeAlias = tuple[frozenset[tuple[SSAValue, int]], int]
"""A sum, whatever the order of its terms."""


def droppable(nest: BlockOp) -> Iterator[tuple[BlockOp, IndexSum]]:
    """The constraints of blocks inside a nest that keep from nothing which matters."""
    leaves = [_Leaf(each, nest) for each in all_blocks(nest) if is_leaf(each)]
    for limit in dict.fromkeys(limit for leaf in leaves for limit in leaf.rows):
        rows = _Rows(leaves, limit)
        yield from rows.constraints()


@dataclass(frozen=True)
class _Cell:
    """A cell of a buffer that a leaf accesses at each of its points."""

    buffer: SSAValue
    starts: tuple[Terms, ...]
    writes: bool
    reads: bool
    """Also where something is aggregated to what is there."""

    def axes(self, row: Terms) -> set[int]:
        """Those along which it is at the place of a row."""
        return {axis for axis, start in enumerate(self.starts) if start == row}


class _Leaf:
    """An innermost block: what it accesses, and what is tested around it."""

    def __init__(self, block: BlockOp, nest: BlockOp) -> None:
        self.block = block
        self._nest = nest
        around = (block, *blocks_around(block))
        self.around = [*takewhile(lambda each: each is not nest, around)]
        """The block and those around it inside the nest."""
        outer: set[SSAValue] = {*nest.indices}
        self.rows: dict[Terms, set[Terms]] = {}
        """Those that it computes, by the limits that they do not pass."""
        self.tested: list[tuple[BlockOp, IndexSum, Terms]] = []
        """Which block tests what for which limit."""
        for each in self.around:
            for condition in each.where:
                limit = _part(condition, outer, condition.constant)
                rest = [(v, -c) for v, c in condition.terms if v not in outer]
                self.rows.setdefault(limit, set()).add((frozenset(rest), 0))
                self.tested.append((each, condition, limit))

    @cached_property
    def cells(self) -> list[_Cell]:
        """What it accesses."""
        found: list[_Cell] = []
        for number, refinement in enumerate(self.block.refinement_list):
            access = absolute_access(self.block.view(number))
            starts = tuple([_terms(start) for start in access.starts])
            direction = refinement.direction
            adds = refinement.aggregation is not Aggregation.ASSIGN
            reads = direction.reads or (adds and refinement.init is None)
            found.append(_Cell(access.buffer, starts, direction.writes, reads))
        return found

    @cached_property
    def stays_inside(self) -> bool:
        """Whether it computes with numbers of memory of the nest alone.

        All points have their cells there, also those that are left out.
        """
        block = self.block
        if block.is_serial or not computes_with_floats(block):
            return False
        for number in range(len(block.refinements)):
            view = block.view(number)
            access = absolute_access(view)
            owner = access.buffer.owner
            is_own = isinstance(owner, AllocOp) and self._nest.is_ancestor(owner)
            if not is_own or is_subscripted(view):
                return False
            if not is_number(block.view_type(number)):
                return False
            if not access.is_inside():
                return False
        return True


class _Rows:
    """What the leaves of a nest do with rows that do not pass a limit."""

    def __init__(self, leaves: Sequence[_Leaf], limit: Terms) -> None:
        self._leaves = leaves
        self._limit = limit
        self._beyond: dict[_Leaf, Terms] = {}
        """The leaves that may run beyond the limit, and the row that each computes."""

    def constraints(self) -> Iterator[tuple[BlockOp, IndexSum]]:
        """Those that test the limit for nothing."""
        for leaf in self._leaves:
            rows = leaf.rows.get(self._limit, set())
            if len(rows) == 1 and leaf.stays_inside:
                (self._beyond[leaf],) = rows
        while not self._is_stable():
            pass
        tested = {
            (block, condition)
            for leaf in self._beyond
            for block, condition, limit in leaf.tested
            if limit == self._limit
        }
        yield from tested

    def _is_stable(self) -> bool:
        """Whether nothing of what lies beyond gets anywhere else.

        Takes leaves away, or adds some that hand it on, where that is not so.
        """
        known = self._set_beyond()
        for leaf, row in [*self._beyond.items()]:
            if not self._tests_alone(leaf) or not self._is_aligned(leaf, row):
                del self._beyond[leaf]
                return False
            if not all(cell.buffer in known for cell in leaf.cells if cell.reads):
                del self._beyond[leaf]
                return False
            for cell in leaf.cells:
                if not cell.writes:
                    continue
                for reader in self._users(cell.buffer, writes=False):
                    if reader not in self._beyond and not self._takes(
                        reader, cell.buffer, cell.axes(row)
                    ):
                        self._beyond.pop(leaf)
                        return False
        return True

    def _tests_alone(self, leaf: _Leaf) -> bool:
        """Whether all leaves that a test is around may run beyond the limit."""
        return all(
            other in self._beyond
            for block, _, limit in leaf.tested
            if limit == self._limit
            for other in self._leaves
            if block in other.around
        )

    def _is_aligned(self, leaf: _Leaf, row: Terms) -> bool:
        """Whether all that run beyond the limit have their rows along the same axis."""
        return all(
            self._axes(cell.buffer) & cell.axes(row)
            for cell in leaf.cells
            if cell.writes or self._is_written_beyond(cell.buffer)
        )

    def _axes(self, buffer: SSAValue) -> set[int]:
        """The axes along which a buffer has the rows of all those that access it."""
        found: set[int] | None = None
        for leaf, row in self._beyond.items():
            for cell in leaf.cells:
                if cell.buffer is buffer:
                    own = cell.axes(row)
                    found = own if found is None else found & own
        return found or set()

    def _is_written_beyond(self, buffer: SSAValue) -> bool:
        return any(e in self._beyond for e in self._users(buffer, writes=True))

    def _set_beyond(self) -> set[SSAValue]:
        """The buffers of which cells beyond the limit are set by somebody.

        Who computes them of such as are not set does not count.
        """
        found: set[SSAValue] = set()
        while True:
            further = {
                cell.buffer
                for leaf in self._leaves
                for cell in leaf.cells
                if cell.writes and cell.buffer not in found
                if self._sets(leaf, cell.buffer, found)
            }
            if not further:
                return found
            found |= further

    def _sets(self, leaf: _Leaf, buffer: SSAValue, known: set[SSAValue]) -> bool:
        """Whether a leaf, or what sets the rest of its copy, sets cells beyond."""
        if leaf in self._beyond:
            return all(cell.buffer in known for cell in leaf.cells if cell.reads)
        if self._limit not in leaf.rows:
            return not any(c.reads for c in leaf.cells if c.buffer is buffer)
        limit, constant = self._limit
        opposite = (frozenset((v, -c) for v, c in limit), -constant - 1)
        return any(opposite in e.rows for e in self._users(buffer, writes=True))

    def _takes(self, reader: _Leaf, buffer: SSAValue, axes: set[int]) -> bool:
        """Whether who reads a buffer tests the limit, or hands rows on as they are."""
        for cell in reader.cells:
            if cell.buffer is not buffer or cell.writes:
                continue
            if (rows := reader.rows.get(self._limit)) is not None:
                if not any(axes & cell.axes(row) for row in rows):
                    return False
            elif len(axes) != 1 or not reader.stays_inside:
                return False
            else:
                (axis,) = axes
                self._beyond[reader] = cell.starts[axis]
        return True

    def _users(self, buffer: SSAValue, *, writes: bool) -> list[_Leaf]:
        return [
            leaf
            for leaf in self._leaves
            if any(c.buffer is buffer and c.writes is writes for c in leaf.cells)
        ]


def _terms(sum: IndexSum) -> Terms:
    return frozenset(sum.terms), sum.constant


def _part(sum: IndexSum, values: set[SSAValue], constant: int) -> Terms:
    return frozenset((v, c) for v, c in sum.terms if v in values), constant
