"""Blocks that have parts of the points of one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.rewriter import InsertPoint, Rewriter

from ....affine.separation import Piece
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from .blocks import restrict_indices, shift_indices
from .loop_order import unbind_vectors
from .schedules import take_levels
from .split import tile_nest


def split_block(block: BlockOp, index: int, position: int, overlap: int = 0) -> BlockOp:
    """Cut the range of an index at `position`; returns the new block of the rest.

    `for i in [0, n)` becomes `for i in [0, position)` and `for i in [0, n - position)`
    with `i + position` in place of `i`. An odd rest has no vectors. With an `overlap`
    the rest begins so much earlier.
    """
    rest = block.clone()
    Rewriter.insert_op(rest, InsertPoint.after(block))
    block.set_range(index, position)
    start = position - overlap
    rest.set_range(index, rest.index_ranges[index] - start)
    shift_indices(rest, {index: start})
    if rest.index_ranges[index] % 2:
        unbind_vectors(rest, index)
    return rest


def tile_outside(block: BlockOp, count: int) -> BlockOp:
    """Tile a block by its outermost levels; the block inside, with what is left to do.

    Raises GinghamError for sizes that do not fit.
    """
    outer = take_levels(block, count)
    *around, inner = tile_nest(block, outer, is_whole=False)
    if outer.stages:
        set_schedule(around[0], Schedule(stages=outer.stages))
    return inner


def replace_by_pieces(block: BlockOp, pieces: Sequence[Piece]) -> list[BlockOp]:
    """Put a block for each piece in place of `block`.

    Pieces of several, or of a part, have no vectors where a condition is left on their
    index.
    """
    parts: list[BlockOp] = []
    for piece in pieces:
        part = block.clone()
        forms = [*piece.conditions, *piece.pending]
        part.set_constraints(forms)
        indices = range(len(block.index_ranges))
        extents = {index: piece.extent(index) for index in indices}
        restrict_indices(part, dict(zip(indices, piece.lows, strict=False)), extents)
        for index in indices:
            if len(pieces) == 1 and extents[index] == block.index_ranges[index]:
                continue
            if extents[index] % 2 or any(form.coefficients[index] for form in forms):
                unbind_vectors(part, index)
        parts.append(part)
    block.replace_by(*parts)
    return parts
