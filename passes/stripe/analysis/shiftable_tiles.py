"""Tiles of which the last one may begin earlier, where it ends within a vector.

In a block of tiles, `stripe.block [%j : 3]` around `[%x : 48] where
-48 * %j - %x + 141 >= 0`, the index `%j` counts tiles of 48 columns, `%x` the columns
of one, and the last tile has 46.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import BlockArgument

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp
from .effects import reads_own_results
from .lanes import index_of_vectors, widest_vector
from .nests import is_leaf, nested_blocks

MOST_OVERLAP = 1 / 8
"""The part of a range that may be computed twice so that tiles leave nothing over."""


@dataclass(frozen=True)
class ShiftableTiles:
    """The tiles that an index of a block counts."""

    block: BlockOp
    index: BlockArgument
    size: int
    """How many columns a tile has."""
    extent: int
    """How many columns there are."""
    columns: tuple[int | None, ...]
    """For each leaf, the number of its index that counts the columns of a tile."""
    lanes: int
    """The columns of a whole vector."""

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return index_range(self.index)

    @property
    def rest(self) -> int:
        """How many columns the last tile has."""
        return self.extent - self.size * (self.count - 1)

    @property
    def last_size(self) -> int:
        """How many it has when it is moved: all, or those in whole vectors."""
        return self.size if self.overlaps_little else self._rest_in_vectors

    @property
    def overlaps_little(self) -> bool:
        """Whether few columns are computed twice when the last tile is whole."""
        return self.size - self.rest <= MOST_OVERLAP * self.extent

    @property
    def _rest_in_vectors(self) -> int:
        return -(-self.rest // self.lanes) * self.lanes


def shiftable_tiles(block: BlockOp, bits: int) -> ShiftableTiles | None:
    """The tiles of a block that may lie elsewhere; None where there are none.

    What is computed for a column must not depend on the tile in which it is: then the
    last tile may begin earlier, and compute columns once more that the one before has.
    """
    if not all(isinstance(op, AllocOp | BlockOp) for op in block.body.block.ops):
        return None
    leaves = nested_blocks(block)
    if not all(is_leaf(leaf) and not leaf.is_serial for leaf in leaves):
        return None
    for index in block.indices:
        found = _tiles_along(block, index, leaves, bits)
        if found is not None and _leave_over(found) and _may_move(found):
            return found
    return None


def _tiles_along(
    block: BlockOp, index: BlockArgument, leaves: list[BlockOp], bits: int
) -> ShiftableTiles | None:
    """The tiles that an index counts, if all its constraints are those of one range."""
    columns: list[int | None] = []
    limits: set[tuple[int, int]] = set()
    lanes = 1
    for leaf in leaves:
        limiting = [form for form in leaf.where if index in form.values]
        if not limiting:
            columns.append(None)
            continue
        limit, *others = limiting
        column = _column(leaf, limit, index)
        if others or column is None:
            return None
        columns.append(column)
        limits.add((-limit.coefficient(index), limit.constant + 1))
        if index_of_vectors(leaf) == column:
            lanes = max(lanes, widest_vector(leaf, bits))
    if len(limits) != 1:
        return None
    ((size, extent),) = limits
    return ShiftableTiles(block, index, size, extent, tuple(columns), lanes)


def _column(leaf: BlockOp, limit: IndexSum, index: BlockArgument) -> int | None:
    """The index of a leaf that counts columns of tiles, if only their end limits it."""
    size = -limit.coefficient(index)
    for number, column in enumerate(leaf.indices):
        covered: IndexSum = IndexSum(((column, 1), (index, size)))
        if not (limit + covered).terms:
            limits = [form for form in leaf.where if column in form.values]
            is_tile = limits == [limit] and index_range(column) == size
            return number if is_tile else None
    return None


def _leave_over(tiles: ShiftableTiles) -> bool:
    """Whether there is more than one tile, and it pays to move the last.

    That spares what is inside of it, written once more, or shorter vectors.
    """
    if tiles.count < 2 or not 0 < tiles.rest < tiles.size:
        return False
    if tiles.size % tiles.lanes:
        return False
    return tiles.overlaps_little or tiles.rest % tiles.lanes != 0


def _may_move(tiles: ShiftableTiles) -> bool:
    """Whether what is computed for a column is the same in whatever tile it is."""
    block, index = tiles.block, tiles.index
    if any(not isinstance(use.operation, BlockOp) for use in index.uses):
        return False
    if any(index in form.values for form in block.where):
        return False
    if reads_own_results(block):
        return False
    leaves = zip(nested_blocks(block), tiles.columns, strict=True)
    return all(_follows(tiles, leaf, number) for leaf, number in leaves)


def _follows(tiles: ShiftableTiles, leaf: BlockOp, number: int | None) -> bool:
    """Whether a leaf goes by columns, not by tiles, outside of what one tile has."""
    column = None if number is None else leaf.indices[number]
    if column is not None and any(column.uses):
        return False
    triples = zip(leaf.buffers, leaf.refinement_list, leaf.accesses, strict=True)
    for buffer, refinement, access in triples:
        if any(tiles.index in start.values for start in access):
            return False
        block, window = window_of(buffer) or (None, 0)
        if block is not tiles.block:
            continue
        sets = refinement.direction is Direction.OUT and refinement.is_plain
        if refinement.direction.writes and (column is None or not sets):
            return False
        for outer, own in zip(tiles.block.access(window), access, strict=True):
            step = 0 if column is None else own.coefficient(column)
            if outer.coefficient(tiles.index) != tiles.size * step:
                return False
    return True
