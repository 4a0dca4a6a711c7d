"""The order of the loops of a block."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import LevelAttr
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import schedule_of, set_schedule


def order_loops(block: BlockOp, numbers: Sequence[int], order: Sequence[int]) -> None:
    """Order the loops of a block whose indices go by these numbers."""
    listed = [numbers.index(number) for number in order if number in numbers]
    others = [place for place in range(len(numbers)) if place not in listed]
    permute_indices(block, [*listed, *others])


def permute_indices(block: BlockOp, order: Sequence[int]) -> None:
    """Let index `order[n]` of a block be index `n`, in place."""
    rank = len(order)
    if list(order) == list(range(rank)):
        return
    indices = block.indices
    uses = [list(index.uses) for index in indices]
    names = [index.name_hint for index in indices]
    ranges, levels = block.index_ranges, block.index_levels
    moved: dict[SSAValue, IndexSum] = {}
    for new, old in enumerate(order):
        moved[indices[old]] = IndexSum.value(indices[new])
        indices[new].name_hint = names[old]
        for use in uses[old]:
            use.operation.operands[use.index] = indices[new]
    block.set_ranges(ranges[old] for old in order)
    block.properties["levels"] = ArrayAttr([LevelAttr(levels[old]) for old in order])
    block.substitute(moved)
    set_schedule(block, schedule_of(block).over(order))
