"""An aggregation that the work-items of a group share: a tree over its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Tiles
from ..analysis.nests import output_indices
from .partial import Lanes, split_reduction


def share_reduction(
    block: BlockOp, lanes: Lanes, radices: Sequence[int], reason: str
) -> None:
    """Let work-items take turns at the values of an index, and add up their parts.

    `radices` are of the tree over the parts, first those that are put together first;
    their product is the number of lanes. Without any, each cell is one work-item's.
    Items that follow each other have following parts where the lanes are the last axis,
    else following cells.
    """
    parts = prod(radices)
    for radix in radices:
        turns = replace(lanes, count=parts)
        first, block = split_reduction(block, (), turns, MemorySpace.LOCAL)
        spread_cells(first, reason, last_first=not lanes.is_last)
        lanes = replace(lanes, index=len(block.index_ranges) - 1)
        parts //= radix
        reason = f"a tree over {parts} parts" if parts > 1 else "the last of a tree"
    spread_cells(block, reason, last_first=False)


def spread_cells(block: BlockOp, reason: str, *, last_first: bool) -> None:
    """Decide that each cell of the outputs is one work-item's.

    The last index runs fastest over these, or slowest.
    """
    kept, ranges = output_indices(block), block.index_ranges
    numbers = range(len(ranges))
    sizes = tuple([1 if n in kept else 0 for n in numbers])
    bind = tuple(
        [
            Binding.GROUP if n in kept and ranges[n] > 1 else Binding.UNDECIDED
            for n in numbers
        ]
    )
    order = (numbers[-1], *numbers[:-1]) if last_first else ()
    tiles = Tiles(sizes, order, bind, reason=reason)
    set_schedule(block, Schedule((tiles,)))
