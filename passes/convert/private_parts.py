"""Private memory of a work-group, of which every work-item has a part.

A work-item has the cells that its points use, which must be the same ones in all
blocks. Where these lie apart, as in tiles of 4 cells that are 16 apart, its part has
them side by side, without what is between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...affine.radix import determined_indices
from ...dialects.index_sum import IndexSum, values_of
from ...dialects.stripe.binding import IN_GROUP, Binding
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.block_values import index_range
from ...dialects.stripe.ops import AllocOp
from ..locations import error_at
from ..stripe.analysis.nests import is_leaf
from ..stripe.analysis.work_groups import is_spread_inside, spread_indices

_MOST_CELLS = 4096
"""Along an axis, of which it is looked whether there are gaps between them."""


@dataclass(frozen=True)
class PrivatePart:
    """The cells along each axis of a memory that a work-item has, from its first on."""

    cells: tuple[Sequence[int], ...]
    """Along each axis, in order, the first one is 0."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many there are along each axis."""
        return tuple(map(len, self.cells))

    def packed(self, starts: Sequence[IndexSum]) -> tuple[IndexSum, ...]:
        """Places in the memory, as places in the part."""
        return tuple(map(_packed, self.cells, starts))


def _packed(cells: Sequence[int], start: IndexSum) -> IndexSum:
    terms = [(value, _place(cells, step)) for value, step in start.terms]
    return IndexSum(tuple(terms), _place(cells, start.constant))


def _place(cells: Sequence[int], cell: int) -> int:
    return cell if isinstance(cells, range) else bisect_left(cells, cell)


@dataclass(frozen=True)
class _Share:
    """Which cells of a memory the points of a block use, by work-item.

    `steps` has, for each axis, the number and the coefficient of the indices that are
    spread over work-items; `extents` the bindings and ranges of these indices.
    """

    extents: tuple[tuple[Binding, int], ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    loops: tuple[tuple[tuple[int, int], ...], ...]
    """For each axis, the coefficient and the range of the work-item's own loops."""
    windows: tuple[int, ...]
    """What one point sees."""
    firsts: tuple[int, ...]
    """Where it begins along each axis, of which those that are spread begin at 0."""

    def size(self, axis: int) -> int:
        """From the first to the last cell of a work-item."""
        reach = sum(step * (extent - 1) for step, extent in self.loops[axis])
        return self.firsts[axis] + self.windows[axis] + reach

    def cells(self, axis: int) -> set[int]:
        """The cells of a work-item along an axis."""
        first = self.firsts[axis]
        cells = {*range(first, first + self.windows[axis])}
        for step, extent in self.loops[axis]:
            cells = {cell + step * n for cell in cells for n in range(extent)}
        return cells

    def is_linear(self, axis: int, cells: Sequence[int]) -> bool:
        """Whether a loop's steps are the same everywhere among these cells."""
        first = self.firsts[axis]
        window = range(first, first + self.windows[axis])
        places = {cell: bisect_left(cells, cell) for cell in window}
        for step, extent in self.loops[axis]:
            own = bisect_left(cells, step)
            places = {
                cell + step * n: place + own * n
                for cell, place in places.items()
                for n in range(extent)
            }
        return all(bisect_left(cells, cell) == place for cell, place in places.items())


def private_part(op: AllocOp) -> PrivatePart:
    """The cells of private memory of a group that each work-item has of its own.

    Raises GinghamError where a work-item uses what others use.
    """
    shares = list(_shares(op, op.view, _Path()))
    if len({(share.extents, share.steps) for share in shares}) == 1:
        axes = range(len(op.view.type.sizes))
        return PrivatePart(tuple(_cells(shares, axis) for axis in axes))
    reason = "by no block" if not shares else "in different parts by different blocks"
    raise error_at(
        op,
        "the work-items of a group have no memory in common but local one, and this "
        f"private memory is used {reason} with indices bound to work-items",
        "let the work-items use the same cells everywhere, or allocate local memory",
    )


def _cells(shares: Sequence[_Share], axis: int) -> Sequence[int]:
    """The cells along an axis; all up to the last where steps over gaps differ."""
    size = max(share.size(axis) for share in shares)
    if size <= _MOST_CELLS:
        cells = sorted(set[int]().union(*(share.cells(axis) for share in shares)))
        if len(cells) < size and all(s.is_linear(axis, cells) for s in shares):
            return cells
    return range(size)


@dataclass(frozen=True)
class _Path:
    """What of a memory a view in blocks that a group runs or shares is."""

    starts: tuple[IndexSum, ...] | None = None
    """Where it starts along each axis, over the indices of these blocks."""
    spread: tuple[tuple[SSAValue, Binding], ...] = ()
    """The indices by which work-items share the blocks, outermost first."""
    loops: frozenset[SSAValue] = frozenset()
    """The other indices, over which each work-item loops."""

    def into(self, block: BlockOp, number: int) -> _Path:
        """The path of a window of a block, where `self` is that of its buffer."""
        access = block.access(number)
        starts = self.starts or (IndexSum(),) * len(access)
        own = tuple(
            (block.indices[number], binding)
            for binding in IN_GROUP
            for number in spread_indices(block, binding)
        )
        moved = tuple([a + b for a, b in zip(starts, access, strict=True)])
        spread = {index for index, _ in own}
        loops = {*block.indices} - spread
        return _Path(moved, self.spread + own, self.loops | loops)


def _shares(op: AllocOp, view: SSAValue, path: _Path) -> Iterator[_Share]:
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            raise error_at(
                block,
                "all work-items of a group run this, and each has private memory of "
                "its own",
                "access it in blocks with indices bound to 'group'",
            )
        inner = path.into(block, use.index)
        if is_spread_inside(block):
            yield from _shares(op, block.view(use.index), inner)
            continue
        share = _share(block, use.index, inner)
        if share is not None:
            yield share
            continue
        # A window may show cells of others between those that are used.
        if is_leaf(block):
            raise error_at(
                block,
                "work-items of a group may use the same cells of private memory, which "
                "each has for itself",
                "let each work-item own its cells, or allocate local memory",
            )
        yield from _shares(op, block.view(use.index), inner)


def _share(block: BlockOp, number: int, path: _Path) -> _Share | None:
    """The share of each work-item of what a block's points access.

    None where that may be the same for several.
    """
    starts = path.starts or ()
    windows = block.view_type(number).sizes
    spread_by = [index for index, _ in path.spread]
    values = values_of(starts, first=[*spread_by, *block.indices])
    access = [start.form(values) for start in starts]
    ranges = {place: index_range(value) for place, value in enumerate(values)}
    group = range(len(spread_by))
    told = determined_indices(access, windows, ranges)
    loops: list[tuple[tuple[int, int], ...]] = []
    for form in access:
        own = [n for n in form.support if n not in group]
        steps = [(int(form.coefficients[n]), ranges[n]) for n in own]
        is_spread = len(own) < len(form.support)
        is_plain = all(values[n] in path.loops for n in own)
        is_plain &= not form.constant if is_spread else form.constant >= 0
        is_plain &= all(step >= 0 for step, _ in steps)
        if not is_plain or not {*group} <= told:
            return None
        loops.append(tuple(steps))
    steps_of_items = tuple(_steps(form, group) for form in access)
    extents = tuple([(binding, index_range(index)) for index, binding in path.spread])
    firsts = tuple([int(form.constant) for form in access])
    return _Share(extents, steps_of_items, tuple(loops), windows, firsts)


def _steps(form: LinearForm, group: range) -> tuple[tuple[int, int], ...]:
    """The numbers and the coefficients of the indices that are spread."""
    return tuple([(n, int(form.coefficients[n])) for n in group if n in form.support])
