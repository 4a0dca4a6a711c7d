"""Tiles that begin earlier: what `stripe-shift-inwards` applies."""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ..analysis.nests import nested_blocks
from ..analysis.shiftable_tiles import ShiftableTiles


def shift_inwards(tiles: ShiftableTiles) -> None:
    """Let all tiles be equally far apart, or else the last begin earlier."""
    block, index, size = tiles.block, tiles.index, tiles.last_size
    for leaf in nested_blocks(block):
        leaf.drop_where(*(form for form in leaf.where if index in form.values))
    start = tiles.extent - size
    apart, rest = divmod(start, tiles.count - 1)
    if size == tiles.size and not rest:
        _begin(block, tiles, IndexSum.value(index) * apart)
        # Cells that two tiles have are stored twice, one after the other.
        block.serial = UnitAttr()
    elif size == tiles.size:
        _add_last(tiles, start)
        block.serial = UnitAttr()
    else:
        _split_last(tiles, size, start)


def _add_last(tiles: ShiftableTiles, start: int) -> None:
    """Let another index be 1 for the last tile, which begins at `start`."""
    block, index = tiles.block, tiles.index
    before = tiles.count - 1
    is_last = IndexSum.value(block.add_index(2, f"{index.name_hint or 'i'}_last"))
    block.set_range(index.index, before)
    own = IndexSum.value(index)
    _begin(block, tiles, own * tiles.size + is_last * start)
    block.add_where(is_last * -(before - 1) - own + (before - 1))


def _split_last(tiles: ShiftableTiles, size: int, start: int) -> None:
    """Let a block of its own have the last tile, which begins at `start`."""
    block, index = tiles.block, tiles.index
    last = block.clone()
    Rewriter.insert_op(last, InsertPoint.after(block))
    block.set_range(index.index, tiles.count - 1)
    last.set_range(index.index, 1)
    for leaf, column in zip(nested_blocks(last), tiles.columns, strict=True):
        if column is not None:
            leaf.set_range(column, size)
    _begin(last, tiles, IndexSum((), start))


def _begin(block: BlockOp, tiles: ShiftableTiles, start: IndexSum) -> None:
    """Let the tiles of a block, which is that of `tiles` or a copy, begin elsewhere."""
    index = block.indices[tiles.index.index]
    accesses = [
        [
            own.without([index]) + start * (own.coefficient(index) // tiles.size)
            for own in access
        ]
        for access in block.accesses
    ]
    block.rewrite(accesses, block.where)
