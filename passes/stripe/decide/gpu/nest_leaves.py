"""The blocks of a nest over rows or columns, and at whose values items take turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .....dialects.aggregation import Aggregation
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp
from .....targets.hardware import Hardware
from ...analysis.lanes import unit_steps
from ...analysis.nests import (
    aggregates_from_nothing,
    is_injective,
    is_leaf,
    is_number,
    is_subscripted,
    output_indices,
    reduction_indices,
    root_buffer,
)
from ...analysis.schedules import is_scheduled


@dataclass(frozen=True)
class NestLeaf:
    """A block of a nest, and the index at whose values items take turns, if any."""

    block: BlockOp
    index: int | None
    turns: int = 1
    is_column: bool = False
    """Whether items that follow each other have other columns."""

    @property
    def extent(self) -> int:
        """How many values there are to take."""
        return 1 if self.index is None else self.block.index_ranges[self.index]

    @property
    def rounds(self) -> int:
        """How many of them an item has."""
        return -(-self.extent // self.turns)

    @property
    def spread(self) -> tuple[int, ...]:
        """The other indices whose values are different items."""
        return tuple(sorted(output_indices(self.block) - {self.index}))

    @property
    def rows(self) -> int:
        """How many values these have."""
        return prod(self.block.index_ranges[index] for index in self.spread)

    def share(self, number: int) -> LeafShare | None:
        """Which cells of a buffer an item has; None where it has none of its own."""
        if self.turns * self.rows == 1:
            return None
        ranges = self.block.index_ranges
        axes: dict[int, int] = {}
        for axis, form in enumerate(self.block.refinement(number).access):
            if not form.support and not form.constant:
                continue
            if len(form.support) != 1 or form.constant:
                return None
            (index,) = form.support
            if form.coefficients[index] != 1 or index in axes or index >= len(ranges):
                return None
            axes[index] = axis
        if self.index not in axes or not {*self.spread} <= {*axes}:
            return None
        if not is_number(self.block.view_type(number)):
            return None
        others = tuple([(axes[index], ranges[index]) for index in self.spread])
        return LeafShare(axes[self.index], self.turns, others)


@dataclass(frozen=True)
class LeafShare:
    """How a buffer is divided among items: the same for all that use it."""

    axis: int
    """Along which they take turns."""
    turns: int
    others: tuple[tuple[int, int], ...]
    """The axes that others have other places of, with how many."""


def leaves_of(nest: BlockOp) -> list[NestLeaf] | None:
    """The blocks of a nest; None where it has others than can be dealt out."""
    is_plain = not nest.conditions and not nest.is_serial and not is_scheduled(nest)
    if not is_plain or any(
        refinement.aggregation is not Aggregation.ASSIGN or refinement.init is not None
        for refinement in nest.refinement_list
    ):
        return None
    found: list[NestLeaf] = []
    for op in nest.body.block.ops:
        if isinstance(op, AllocOp):
            continue
        leaf = _leaf(op) if isinstance(op, BlockOp) else None
        if leaf is None:
            return None
        found.append(leaf)
    return _as_columns(found) or found


def _as_columns(leaves: Sequence[NestLeaf]) -> list[NestLeaf] | None:
    """The same, with turns at the values of columns; None where there are none.

    Then the index that aggregates is another one than that of neighbouring cells. What
    adds up parts of columns has fewer values than columns have.
    """
    lengths = {
        leaf.block.index_ranges[index]
        for leaf in leaves
        for index in reduction_indices(leaf.block)
        if leaf.block.index_ranges[index] > 1
    }
    rows = any(leaf.index in reduction_indices(leaf.block) for leaf in leaves)
    if rows or not lengths:
        return None
    length = max(lengths)
    found: list[NestLeaf] = []
    for leaf in leaves:
        ranges = leaf.block.index_ranges
        own = [n for n, extent in enumerate(ranges) if extent > 1 and n != leaf.index]
        sums = reduction_indices(leaf.block)
        along = [n for n in own if n in sums or not sums]
        if len(along) > 1 or any(ranges[n] != length for n in along if n not in sums):
            return None
        if sums and not _aggregates(leaf.block):
            return None
        found.append(NestLeaf(leaf.block, along[0] if along else None, is_column=True))
    return found


def _leaf(block: BlockOp) -> NestLeaf | None:
    """A block with the index that it is dealt out along; None if it can not be."""
    if not is_leaf(block) or block.is_serial or not all(block.index_ranges):
        return None
    if is_scheduled(block) or any(map(is_subscripted, block.views)):
        return None
    if not all(_has_cells(block, number) for number in range(len(block.views))):
        return None
    index = _lane_index(block, block.index_ranges)
    if index is None:
        reductions = reduction_indices(block)
        is_small = all(block.index_ranges[n] == 1 for n in reductions)
        return NestLeaf(block, None) if is_small else None
    if index in reduction_indices(block) and not _aggregates(block):
        return None
    return NestLeaf(block, index)


def _has_cells(block: BlockOp, number: int) -> bool:
    """Whether what is written through a window is used by the same items alone."""
    refinement = block.refinement(number)
    if not refinement.direction.writes:
        return True
    root = root_buffer(block.buffer(number))
    is_alone = all(
        refinement.access == other.access
        for buffer, other in zip(block.buffers, block.refinement_list, strict=True)
        if root_buffer(buffer) is root
    )
    return is_alone and is_injective(block, number)


def _aggregates(block: BlockOp) -> bool:
    """Whether all outputs aggregate numbers from what changes nothing."""
    return all(aggregates_from_nothing(block, number) for number in block.written)


def may_share(block: BlockOp, ranges: Sequence[int], hardware: Hardware) -> bool:
    """Whether the work-items of a group can share a block of a nest with these ranges.

    At most as many as a group may have take turns at the cells along one index; each of
    the others has cells of its own. A sum is over that one.
    """
    index = _lane_index(block, ranges)
    sums = {n for n in reduction_indices(block) if ranges[n] > 1}
    own = [n for n in output_indices(block) if n != index]
    rows = prod(ranges[n] for n in own)
    return sums <= {index} and rows <= hardware.work_group_limit


def _lane_index(block: BlockOp, ranges: Sequence[int]) -> int | None:
    """The index along which the most cells are contiguous, or the longest one."""
    scores = [0] * len(ranges)
    for refinement in block.refinement_list:
        used = {n for form in refinement.access for n in form.support}
        cells = prod(ranges[n] for n in used if n < len(ranges))
        for index in unit_steps(refinement, len(ranges)):
            scores[index] += cells if ranges[index] > 1 else 0
    wide = [index for index in range(len(ranges)) if ranges[index] > 1]
    return max(wide, key=lambda n: (scores[n], ranges[n]), default=None)
