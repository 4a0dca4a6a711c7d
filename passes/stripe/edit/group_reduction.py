"""An aggregation that the work-items of a group share: a tree over its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import MemorySpace
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import Points, Tiles
from ...locations import located
from ..analysis.nests import output_indices
from .partial import Lanes, split_reduction
from .redirect import replace_cell


def share_reduction(
    block: BlockOp,
    lanes: Lanes,
    radices: Sequence[int],
    reason: str,
    *,
    unrolls: bool = False,
) -> None:
    """Let work-items take turns at the values of an index, and add up their parts.

    `radices` are of the tree over the parts, first those that are put together first;
    their product is the number of lanes. Without any, each cell is one work-item's.
    Items that follow each other have following parts where the lanes are the last axis,
    else following cells. An item's turns may be unrolled.
    """
    parts = prod(radices)
    rounds = lanes.index if unrolls else None
    for radix in radices:
        turns = replace(lanes, count=parts)
        first, block = split_reduction(block, (), turns, MemorySpace.LOCAL)
        spread_cells(first, reason, last_first=not lanes.is_last, unrolled=rounds)
        rounds = None
        lanes = replace(lanes, index=len(block.index_ranges) - 1)
        parts //= radix
        reason = f"a tree over {parts} parts" if parts > 1 else "the last of a tree"
    spread_cells(block, reason)


def spread_cells(
    block: BlockOp,
    reason: str,
    *,
    last_first: bool = False,
    whole: int | None = None,
    unrolled: int | None = None,
) -> None:
    """Decide that each cell of the outputs is one work-item's.

    The last index runs fastest over these, or slowest. All values of the index `whole`
    are one work-item's, and the loop over `unrolled` is unrolled.
    """
    kept, ranges = output_indices(block), block.index_ranges
    numbers = range(len(ranges))
    # Cells that are set first are set one by one: those of an item are apart.
    is_set = any(refinement.init is not None for refinement in block.refinement_list)
    sizes = tuple([1 if n in kept and (is_set or n != whole) else 0 for n in numbers])
    bind = tuple(
        [
            Binding.GROUP
            if n in kept and n != whole and ranges[n] > 1
            else Binding.UNDECIDED
            for n in numbers
        ]
    )
    order = (numbers[-1], *numbers[:-1]) if last_first else ()
    points = Points()
    if unrolled is not None and ranges[unrolled] > 1 and not sizes[unrolled]:
        own = [Binding.UNDECIDED] * len(ranges)
        own[unrolled] = Binding.UNROLL
        points = Points(bind=tuple(own))
    tiles = Tiles(sizes, order, bind, reason=reason)
    set_schedule(block, Schedule((tiles,), points))


def deal_cells(allocation: AllocOp, axis: int, count: int) -> None:
    """Give a buffer an axis for rounds and one for the turns of a round.

    All blocks that use it do so one cell at a time, at places that are written so: see
    `deal_out`.
    """
    old = allocation.view.type
    sizes = [*old.sizes]
    sizes[axis : axis + 1] = [-(-sizes[axis] // count), count]
    name = allocation.view.name_hint
    dealt = located(AllocOp(old.resized(sizes), name), allocation)
    Rewriter.insert_op(dealt, InsertPoint.before(allocation))
    for use in [*allocation.view.uses]:
        block, number = use.operation, use.index
        if not isinstance(block, BlockOp):
            raise ValueError(f"expected a block, got {block.name}")
        starts = [*block.access(number)]
        place = starts[axis]
        rounds = [(value, n // count) for value, n in place.terms if n % count == 0]
        turns = [(value, n) for value, n in place.terms if n % count]
        digits = IndexSum(tuple(rounds)), IndexSum(tuple(turns))
        starts[axis : axis + 1] = digits
        replace_cell(block, number, dealt.view, starts)
    Rewriter.erase_op(allocation)
