"""What kind of reduction a block is: of rows, or of streams."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....affine.form import LinearForm
from ....dialects.stripe.attributes import Direction
from ....dialects.stripe.block import BlockOp
from .lanes import unit_steps, vector_index
from .nests import (
    aggregates_from_nothing,
    has_own_windows,
    is_leaf,
    is_number,
    is_subscripted,
    output_indices,
    owns_cells,
    reduction_indices,
)
from .schedules import is_scheduled

_PRODUCTS = 8
"""How much longer sums may be of which each input number is used for many."""


def cells_of_outputs(block: BlockOp) -> int:
    """How many cells the outputs have."""
    return prod(block.index_ranges[index] for index in output_indices(block))


def aggregates_plainly(block: BlockOp) -> bool:
    """Whether a block aggregates numbers into cells that are its own."""
    if not is_leaf(block) or block.captures or block.is_serial:
        return False
    if is_scheduled(block) or not all(block.index_ranges):
        return False
    if any(map(is_subscripted, block.views)):
        return False
    if not all(is_number(block.view_type(n)) for n in range(len(block.views))):
        return False
    return bool(block.written) and all(
        aggregates_from_nothing(block, number) and owns_cells(block, number)
        for number in block.written
    )


def is_of_rows(block: BlockOp, parallelism: int) -> bool:
    """Whether a block aggregates along rows that lie in memory as they are read.

    Numbers of the rows are used once, or there are fewer cells than `parallelism`.
    """
    if vector_index(block) is not None or row_index(block) is None:
        return False
    return is_stream(block) or cells_of_outputs(block) < parallelism


def is_stream(block: BlockOp) -> bool:
    """Whether each number of some input is used at one point only."""
    return any(
        refinement.direction is Direction.IN and has_own_windows(block, number)
        for number, refinement in enumerate(block.refinement_list)
    )


def longest_sum(block: BlockOp, longest: int) -> int:
    """How many values are aggregated one after the other into a cell of a block.

    They are `longest` of a stream; parts of what computes much for each number that it
    reads cost more.
    """
    return longest * (1 if is_stream(block) else _PRODUCTS)


def row_index(
    block: BlockOp, conditions: Sequence[LinearForm] | None = None
) -> int | None:
    """The aggregating index that steps through all inputs one by one, if any.

    It is in no constraint; `conditions` stand in for those.
    """
    rank = len(block.index_ranges)
    candidates = reduction_indices(block)
    read: set[int] = set()
    for refinement in block.refinement_list:
        if refinement.direction is Direction.IN:
            used = {index for form in refinement.access for index in form.support}
            steps = unit_steps(refinement, rank)
            candidates = {c for c in candidates if c in steps or c not in used}
            read |= used
    for form in block.conditions if conditions is None else conditions:
        candidates = {c for c in candidates if not form.coefficients[c]}
    return max(candidates & read, key=lambda c: block.index_ranges[c], default=None)
