"""What planning asks of a block again and again, found once.

A block joins one group after the other, and each question is asked of all members of
each. The answers depend on the block alone, and planning changes no block: who plans
makes one `BlockFacts` for each and drops them all at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

from xdsl.ir import SSAValue

from ....dialects.eltwise.ops import value_bytes
from ....dialects.stripe.attributes import Refinement, view_type
from ....dialects.stripe.block import BlockOp
from ...reuse import is_reused
from .footprint import box
from .lanes import vector_indices
from .nests import output_indices, reduction_indices, root_buffer
from .problem import operations_of
from .reductions import row_index


class BlockFacts:
    """The facts of one block, which must not change meanwhile."""

    def __init__(self, block: BlockOp) -> None:
        self.block = block
        self._axes: dict[tuple[int, tuple[int, ...]], Mapping[int, int]] = {}
        self._windows: dict[tuple[int, tuple[int, ...]], int] = {}

    # Its indices.

    @cached_property
    def ranges(self) -> tuple[int, ...]:
        """The range of each index."""
        return self.block.index_ranges

    @cached_property
    def points(self) -> int:
        """How many points the block has, those that constraints leave out included."""
        return prod(self.ranges)

    @cached_property
    def reductions(self) -> set[int]:
        """See `reduction_indices`."""
        return reduction_indices(self.block)

    @cached_property
    def outputs(self) -> set[int]:
        """The indices of more than one value that move some output."""
        return {i for i in output_indices(self.block) if self.ranges[i] > 1}

    @cached_property
    def vector_indices(self) -> tuple[int, ...]:
        """The indices along which it, or parts of its sums, can be vectors.

        Where constraints depend on one, it is cut into pieces where none does.
        """
        row = row_index(self.block, ())
        along = vector_indices(self.block, ())
        return (*along, *([] if row is None else [row]))

    @cached_property
    def shareable(self) -> tuple[int, ...]:
        """The indices whose values write cells of their own through every output.

        Each is alone on one axis of the access and steps through it one by one.
        """
        alone = [
            set(carried.values())
            for carried, writes in zip(self.carried, self.writes, strict=True)
            if writes
        ]
        if not alone:
            return ()
        return tuple(
            index
            for index in range(len(self.ranges))
            if all(index in indices for indices in alone)
        )

    # Its buffers, by the numbers of the refinements.

    @cached_property
    def refinements(self) -> tuple[Refinement, ...]:
        """Direction, access and aggregation of each window."""
        return self.block.refinement_list

    @cached_property
    def buffers(self) -> tuple[SSAValue, ...]:
        """What the windows are cut from, in their order."""
        return tuple(self.block.buffers)

    @cached_property
    def memories(self) -> tuple[SSAValue, ...]:
        """The root of each buffer."""
        return tuple(root_buffer(buffer) for buffer in self.buffers)

    @cached_property
    def writes(self) -> tuple[bool, ...]:
        """For each window, whether the block may store through it."""
        return tuple(each.direction.writes for each in self.refinements)

    @cached_property
    def written(self) -> tuple[SSAValue, ...]:
        """The memories that it writes, each once."""
        pairs = zip(self.memories, self.writes, strict=True)
        return tuple(dict.fromkeys(memory for memory, writes in pairs if writes))

    @cached_property
    def carried(self) -> tuple[Mapping[int, int], ...]:
        """For each refinement, see `carried_indices`."""
        numbers = range(len(self.refinements))
        return tuple(carried_indices(self.block, number) for number in numbers)

    @cached_property
    def last_carried(self) -> tuple[int | None, ...]:
        """For each refinement the index of contiguous elements, if there is one."""
        return tuple(
            carried.get(len(refinement.access) - 1)
            for carried, refinement in zip(self.carried, self.refinements, strict=True)
        )

    def shared_axes(self, number: int, shared: tuple[int, ...]) -> Mapping[int, int]:
        """Which of some indices steps through an axis of a refinement, by the axes.

        Axes through which none of them steps are left out.
        """
        found = self._axes.get((number, shared))
        if found is None:
            found = {
                axis: shared.index(index)
                for axis, index in self.carried[number].items()
                if index in shared
            }
            self._axes[number, shared] = found
        return found

    # What it moves and computes.

    @cached_property
    def is_contraction(self) -> bool:
        """Whether it uses the elements of all that it reads many times.

        Windows that reach over a border read what is there.
        """
        if not self.reductions:
            return False
        return all(
            is_reused(self.points, self._cells_there(number))
            for number, writes in enumerate(self.writes)
            if not writes
        )

    def _cells_there(self, number: int) -> int:
        """The cells of a buffer that a refinement reaches, at most."""
        reached = cells(self.block, number, self.ranges)
        return min(reached, prod(view_type(self.buffers[number]).sizes))

    @cached_property
    def operations(self) -> float:
        """See `operations_of`."""
        return operations_of(self.block)

    @cached_property
    def footprints(self) -> tuple[int, ...]:
        """For each refinement the bytes of what the block uses of the buffer."""
        numbers = range(len(self.refinements))
        return tuple(self._bytes(number, self.ranges) for number in numbers)

    def window_bytes(
        self, number: int, shared: Sequence[int], sizes: Sequence[int]
    ) -> int:
        """Bytes of the part that one tile of some indices uses."""
        ranges = list(self.ranges)
        for index, size in zip(shared, sizes, strict=True):
            ranges[index] = min(size, ranges[index]) if size else ranges[index]
        key = number, tuple(ranges)
        if key not in self._windows:
            self._windows[key] = self._bytes(number, ranges)
        return self._windows[key]

    def _bytes(self, number: int, ranges: Sequence[int]) -> int:
        element = self.block.view_type(number).element_type
        return cells(self.block, number, ranges) * value_bytes(element)


def carried_indices(block: BlockOp, number: int) -> dict[int, int]:
    """For each axis of a refinement that is just an index, that index.

    Not of indices that occur on another axis too.
    """
    access = block.refinement(number).access
    used = [index for form in access for index in form.support]
    sizes = block.view_type(number).sizes
    rank = len(block.index_ranges)
    return {
        axis: index
        for axis, form in enumerate(access)
        if (index := form.single_dimension) is not None
        and sizes[axis] == 1
        and used.count(index) == 1
        and index < rank
    }


def reaches_each_cell_once(block: BlockOp, number: int) -> bool:
    """Whether the points of a block's box are the cells of a buffer, one to one.

    Constraints aside; decided where an index alone steps through each axis.
    """
    ranges = dict(enumerate(block.index_ranges))
    carried = carried_indices(block, number)
    reached = {axis: ranges.pop(index) for axis, index in carried.items()}
    sizes = view_type(block.buffer(number)).sizes
    is_whole = all(reached.get(axis, 1) == size for axis, size in enumerate(sizes))
    return is_whole and all(extent == 1 for extent in ranges.values())


def covers(block: BlockOp, number: int) -> bool:
    """Whether the windows of a refinement lie over every cell of its buffer."""
    outer = view_type(block.buffer(number))
    window = block.view_type(number)
    ranges = block.index_ranges
    seen: set[int] = set()
    for form, width, size in zip(
        block.refinement(number).access, window.sizes, outer.sizes, strict=True
    ):
        terms = sorted((abs(int(form.coefficients[i])), i) for i in form.support)
        # Along a diagonal, axes do not move each on its own.
        if not seen.isdisjoint(form.support) or any(
            index >= len(ranges) for index in form.support
        ):
            return False
        seen |= {*form.support}
        start, span = int(form.constant), width
        for step, index in terms:
            if step > span:
                return False
            span += step * (ranges[index] - 1)
            start += min(int(form.coefficients[index]), 0) * (ranges[index] - 1)
        if start > 0 or start + span < size:
            return False
    return True


def cells(block: BlockOp, number: int, ranges: Sequence[int]) -> int:
    """The cells of the box that a refinement reaches over `ranges`."""
    access = block.refinement(number).access
    rows = [[int(c) for c in form.coefficients[: len(ranges)]] for form in access]
    return prod(box(rows, ranges, block.view_type(number).sizes))
