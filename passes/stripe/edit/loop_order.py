"""The order of the loops of a block, and what they are bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import schedule_of, set_schedule


def order_loops(block: BlockOp, numbers: Sequence[int], order: Sequence[int]) -> None:
    """Order the loops of a block whose indices go by these numbers."""
    listed = [numbers.index(number) for number in order if number in numbers]
    others = [place for place in range(len(numbers)) if place not in listed]
    permute_indices(block, [*listed, *others])


def bind_loops(block: BlockOp, numbers: Sequence[int], bind: Sequence[Binding]) -> None:
    """Bind the loops of a block whose indices go by these numbers, where it is said."""
    if not bind:
        return
    pairs = zip([bind[number] for number in numbers], block.index_bindings, strict=True)
    block.set_bindings(
        own if given is Binding.UNDECIDED else given for given, own in pairs
    )


def unbind_vectors(block: BlockOp, index: int) -> None:
    """Let an index not be lanes of vectors, neither now nor by the schedule."""
    bindings = block.index_bindings
    if bindings[index] is Binding.VECTOR:
        block.set_bindings(_without_vectors(bindings))
    points = schedule_of(block).points
    if points.bind and points.bind[index] is Binding.VECTOR:
        points = replace(points, bind=_without_vectors(points.bind))
        set_schedule(block, replace(schedule_of(block), points=points))


def _without_vectors(bindings: Sequence[Binding]) -> tuple[Binding, ...]:
    vector, undecided = Binding.VECTOR, Binding.UNDECIDED
    return tuple([undecided if each is vector else each for each in bindings])


def lead_with(block: BlockOp, order: Sequence[int]) -> None:
    """Let the indices of the output come first, in an order of its axes.

    The index of vectors is the last of the output's, so that in a tile the vectors that
    a number meets follow each other; and the longest loop that aggregates is the
    innermost one, so that it is entered rarely.
    """
    ranges = block.index_ranges
    inner = [index for index in range(len(ranges)) if index not in order]
    longest = max(inner, key=lambda index: (ranges[index], index), default=None)
    inner.sort(key=lambda index: index == longest)
    permute_indices(block, [*order, *inner])


def permute_indices(block: BlockOp, order: Sequence[int]) -> None:
    """Let index `order[n]` of a block be index `n`, in place."""
    rank = len(order)
    if list(order) == list(range(rank)):
        return
    indices = block.indices
    uses = [list(index.uses) for index in indices]
    names = [index.name_hint for index in indices]
    ranges, bindings = block.index_ranges, block.index_bindings
    moved: dict[SSAValue, IndexSum] = {}
    for new, old in enumerate(order):
        moved[indices[old]] = IndexSum.value(indices[new])
        indices[new].name_hint = names[old]
        for use in uses[old]:
            use.operation.operands[use.index] = indices[new]
    block.set_ranges(ranges[old] for old in order)
    block.set_bindings(bindings[old] for old in order)
    block.substitute(moved)
    set_schedule(block, schedule_of(block).over(order))
