"""Work-groups of several work-items, which share the points of nested blocks.

A top-level block may have statements that a whole group runs together: loops, and
blocks that have indices bound to `group`. The points of such a block are spread over
the work-items by these indices; all else is run by every work-item alike. The group is
as large as the largest of these blocks wants; in the others, some work-items rest.

What the group allocates in local memory is shared. What it allocates in private memory
is divided: every work-item has the cells that its points use, which must be the same
ones in all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...affine.radix import determined_indices
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.ops import IfOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.binding import Binding
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from ..locations import error_at
from .known_conditions import KnownConditions
from .opencl_grid import spread
from .opencl_scope import Cursor, KernelScope, nested


def has_group_indices(op: BlockOp) -> bool:
    """Whether the points of a block are spread over the work-items of a group."""
    return Binding.GROUP in op.index_bindings


def shared_blocks(op: BlockOp) -> list[BlockOp]:
    """The blocks inside `op` whose points the work-items of a group share."""
    found: list[BlockOp] = []
    for inner in op.body.block.ops:
        if not isinstance(inner, BlockOp):
            continue
        deeper = shared_blocks(inner)
        if has_group_indices(inner):
            found.append(inner)
        found += deeper
    return found


def _extents(op: BlockOp) -> tuple[int, ...]:
    """The ranges of the indices that are spread over work-items."""
    return tuple(op.index_ranges[number] for number in _group_indices(op))


def _group_indices(op: BlockOp) -> list[int]:
    return [
        number
        for number, level in enumerate(op.index_bindings)
        if level is Binding.GROUP and op.index_ranges[number] > 1
    ]


class GroupLowering:
    """Gives the indices of blocks that a group shares their values."""

    def __init__(self, op: BlockOp, scope: KernelScope) -> None:
        self._op = op
        self._scope = scope
        self._shapes = list(dict.fromkeys(map(_extents, shared_blocks(op))))
        self._items = max(map(prod, self._shapes), default=1)
        self._item: SSAValue | None = None
        self._values: dict[tuple[int, ...], Sequence[SSAValue]] = {}

    def bind(self) -> tuple[int, ...]:
        """Name the work-items at the start of the kernel; the size of a group."""
        if not self._shapes:
            return (1, 1, 1)
        self._scope.is_uniform = True
        entry = Cursor(self._scope.entry, KnownConditions.none())
        if len(self._shapes) == 1:
            return self._bind_dimensions(self._shapes[0], entry)
        self._item = self._work_item(0, self._items, entry)
        for shape in self._shapes:
            if prod(shape) == self._items:
                self._values[shape] = self._take_apart(self._item, shape, entry)
        return (self._items, 1, 1)

    def enter(self, op: BlockOp, cursor: Cursor) -> Cursor:
        """Bind the indices that a block spreads; where its points are to be run."""
        shape = _extents(op)
        values = self._values.get(shape)
        if values is None:
            if self._item is None:
                raise ValueError("expected a block of this kernel")
            cursor = self._only_first(self._item, prod(shape), op, cursor)
            values = self._take_apart(self._item, shape, cursor)
        for index, extent in zip(op.indices, op.index_ranges, strict=True):
            if extent == 1:
                self._scope.indices[index] = IndexSum()
        for number, value in zip(_group_indices(op), values, strict=True):
            self._scope.bind(op.indices[number], value, op.index_ranges[number])
        return cursor

    def _bind_dimensions(
        self, shape: tuple[int, ...], entry: Cursor
    ) -> tuple[int, ...]:
        grid = spread(shape, WorkItemQuery.LOCAL_ID)
        values: dict[int, SSAValue] = {}
        for dimension, members in enumerate(grid.members):
            if members:
                item = self._work_item(dimension, grid.sizes[dimension], entry)
                extents = tuple(shape[member] for member in members)
                parts = self._take_apart(item, extents, entry)
                values |= dict(zip(members, parts, strict=True))
        self._values[shape] = [values[number] for number in range(len(shape))]
        return grid.sizes

    def _work_item(self, dimension: int, extent: int, entry: Cursor) -> SSAValue:
        item = WorkItemOp(WorkItemQuery.LOCAL_ID, dimension, extent)
        item.result.name_hint = "item"
        entry.emit(item, self._op)
        self._scope.extents[item.result] = extent
        self._scope.items.add(item.result)
        return item.result

    def _take_apart(
        self, item: SSAValue, extents: tuple[int, ...], cursor: Cursor
    ) -> Sequence[SSAValue]:
        """A work-item's coordinates in a box; those of a line are its number."""
        if len(extents) < 2:
            return [item][: len(extents)]
        apart = DelinearizeOp(item, extents)
        cursor.emit(apart, self._op)
        self._scope.items.update(apart.coordinates)
        return [*apart.coordinates]

    def _only_first(
        self, item: SSAValue, count: int, op: BlockOp, cursor: Cursor
    ) -> Cursor:
        """Let the first `count` work-items of the group go on."""
        rest = LinearForm.of([-1], count - 1)
        region, inner = nested(cursor)
        cursor.emit(IfOp([rest], [item], region), op)
        return inner


@dataclass(frozen=True)
class _Share:
    """Which cells of a memory the points of a block use, by work-item.

    `steps` has, for each axis, the number and the coefficient of the indices that are
    spread over work-items with ranges `extents`; a work-item uses `sizes` cells.
    """

    extents: tuple[int, ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    sizes: tuple[int, ...]


def private_sizes(op: AllocOp) -> tuple[int, ...]:
    """The cells of private memory of a group that each work-item has of its own.

    Raises GinghamError where a work-item uses what others use.
    """
    shares = list(_shares(op, op.view))
    if len({(share.extents, share.steps) for share in shares}) == 1:
        return tuple(map(max, zip(*(share.sizes for share in shares), strict=True)))
    reason = "by no block" if not shares else "in different parts by different blocks"
    raise error_at(
        op,
        "the work-items of a group have no memory in common but local one, and this "
        f"private memory is used {reason} with indices bound to 'group'",
        "let the work-items use the same cells everywhere, or allocate local memory",
    )


def _shares(op: AllocOp, view: SSAValue) -> Iterator[_Share]:
    for use in view.uses:
        block = use.operation
        if not isinstance(block, BlockOp):
            raise error_at(
                block,
                "all work-items of a group run this, and each has private memory of "
                "its own",
                "access it in blocks with indices bound to 'group'",
            )
        if has_group_indices(block):
            yield _share(block, use.index)
            continue
        if any(form.support or form.constant for form in _access(block, use.index)):
            raise error_at(
                block,
                "expected blocks that all work-items of a group run to pass on private "
                "memory as a whole",
                "cut windows in blocks with indices bound to 'group'",
            )
        yield from _shares(op, block.view(use.index))


def _access(block: BlockOp, number: int) -> tuple[LinearForm, ...]:
    return block.refinement(number).access


def _share(block: BlockOp, number: int) -> _Share:
    """The share of each work-item of what a block's points access."""
    group = _group_indices(block)
    ranges = block.index_ranges
    windows = block.view_type(number).sizes
    access = _access(block, number)
    told = determined_indices(access, windows, dict(enumerate(ranges)))
    sizes: list[int] = []
    for form, window in zip(access, windows, strict=True):
        own = [n for n in form.support if n not in group]
        coefficients = [form.coefficients[n].numerator for n in own]
        is_plain = all(n < len(ranges) for n in own) and not form.constant
        if not is_plain or min(coefficients, default=0) < 0 or not set(group) <= told:
            raise error_at(
                block,
                "work-items of a group may use the same cells of private memory, which "
                "each has for itself",
                "let each work-item own its cells, or allocate local memory",
            )
        reach = (c * (ranges[n] - 1) for c, n in zip(coefficients, own, strict=True))
        sizes.append(window + sum(reach))
    steps = tuple(
        tuple(
            (place, form.coefficients[n].numerator)
            for place, n in enumerate(group)
            if n in form.support
        )
        for form in access
    )
    return _Share(_extents(block), steps, tuple(sizes))
