"""Work-groups of several work-items, which share the points of nested blocks.

A top-level block may have statements that a whole group runs together: loops, and
blocks whose indices are bound to `group`. The points of such a block are spread over
the work-items by these indices; all else is run by every work-item alike, but for
blocks without such blocks inside: the first work-item alone runs these.

The work-items of a group are also divided into sub-groups of neighbours: work-item `n`
is lane `n % lanes` of sub-group `n // lanes`, with as many lanes as the widest block
has that binds some. Indices bound to `subgroup` spread points over the sub-groups. What
is in such a block, a whole sub-group runs together, likewise: blocks inside with
indices bound to `lane` are spread over its lanes, and the first lane alone runs others.
One block may bind both. A block that binds lanes and is in no sub-group's is the first
one's.

The group is as large as the largest of these blocks wants; in the others, some
work-items rest.

What the group allocates in local memory is shared. What it allocates in private memory
is divided: every work-item has the cells that its points use, which must be the same
ones in all blocks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...affine.radix import determined_indices
from ...dialects.index_sum import IndexSum, values_of
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.ops import IfOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.binding import IN_GROUP, Binding
from ...dialects.stripe.block import BlockOp, index_range
from ...dialects.stripe.ops import AllocOp
from ..locations import error_at
from ..stripe.analysis.nests import all_blocks
from ..stripe.analysis.work_groups import is_spread, is_spread_inside, spread_blocks
from .known_conditions import KnownConditions
from .opencl_grid import spread
from .opencl_scope import Cursor, KernelScope, nested


def _spread_indices(op: BlockOp, binding: Binding) -> list[int]:
    """The indices that are spread by a binding, those of one value left out."""
    return [
        number
        for number, own in enumerate(op.index_bindings)
        if own is binding and op.index_ranges[number] > 1
    ]


def _extents(op: BlockOp, binding: Binding) -> tuple[int, ...]:
    """The ranges of the indices that are spread by a binding."""
    return tuple(op.index_ranges[number] for number in _spread_indices(op, binding))


@dataclass
class _Team:
    """The work-items that the points of blocks are spread over by a binding."""

    count: int
    """How many there are."""
    number: SSAValue | None = None
    """Which one this is; None where there is one."""


class GroupLowering:
    """Gives the indices of blocks that a group shares their values."""

    def __init__(self, op: BlockOp, scope: KernelScope) -> None:
        self._op = op
        self._scope = scope
        self.blocks = spread_blocks(op)
        """Those whose points work-items of a group share."""
        most = {
            binding: max((prod(_extents(b, binding)) for b in self.blocks), default=1)
            for binding in IN_GROUP
        }
        lanes = most[Binding.LANE]
        items = max(most[Binding.GROUP], most[Binding.SUBGROUP] * lanes)
        self._teams = {
            Binding.GROUP: _Team(items),
            Binding.SUBGROUP: _Team(-(-items // lanes)),
            Binding.LANE: _Team(lanes),
        }
        self._values: dict[tuple[Binding, tuple[int, ...]], Sequence[SSAValue]] = {}

    @property
    def has_items(self) -> bool:
        """Whether work-items of a group share points of blocks."""
        return bool(self.blocks)

    def bind(self) -> tuple[int, ...]:
        """Name the work-items at the start of the kernel; the size of a group."""
        if not self.blocks:
            return (1, 1, 1)
        self._scope.is_uniform = True
        entry = Cursor(self._scope.entry, KnownConditions.none())
        shapes = [*dict.fromkeys(_extents(b, Binding.GROUP) for b in self.blocks)]
        is_divided = any(Binding.GROUP not in b.index_bindings for b in self.blocks)
        if len(shapes) == 1 and not is_divided and not self._has_single_blocks():
            return self._bind_dimensions(shapes[0], entry)
        items = self._teams[Binding.GROUP]
        items.number = self._work_item(0, items.count, entry)
        if is_divided:
            self._divide(items, entry)
        for binding, team in self._teams.items():
            if team.number is None:
                continue
            for shape in dict.fromkeys(_extents(b, binding) for b in self.blocks):
                if prod(shape) == team.count:
                    own = self._take_apart(team.number, shape, entry)
                    self._values[binding, shape] = own
        return (items.count, 1, 1)

    def _has_single_blocks(self) -> bool:
        """Whether some blocks are run by one work-item."""
        around = {*self.blocks}
        for block in self.blocks:
            outer = block.parent_op()
            while isinstance(outer, BlockOp):
                around.add(outer)
                outer = outer.parent_op()
        inside = {each for block in self.blocks for each in all_blocks(block)}
        return any(block not in around | inside for block in all_blocks(self._op))

    def _divide(self, items: _Team, entry: Cursor) -> None:
        """Name the sub-group and the lane of a work-item."""
        subgroups, lanes = self._teams[Binding.SUBGROUP], self._teams[Binding.LANE]
        if lanes.count == 1:
            subgroups.number = items.number
        elif subgroups.count == 1:
            lanes.number = items.number
        elif items.number is not None:
            extents = subgroups.count, lanes.count
            apart = self._take_apart(items.number, extents, entry)
            for team, number, name in zip(
                (subgroups, lanes), apart, ("subgroup", "lane"), strict=True
            ):
                number.name_hint = name
                self._scope.extents[number] = team.count
                team.number = number

    @contextmanager
    def entered(self, op: BlockOp, cursor: Cursor) -> Generator[Cursor]:
        """Where the points of a block are to be run, and by whom."""
        scope = self._scope
        before = scope.is_uniform, scope.in_subgroup
        if scope.is_uniform:
            cursor = self._enter(op, cursor)
        yield cursor
        scope.is_uniform, scope.in_subgroup = before

    def _enter(self, op: BlockOp, cursor: Cursor) -> Cursor:
        """Give each work-item that runs a block its values of the indices."""
        is_inside = is_spread_inside(op)
        if not is_spread(op) and is_inside:
            return cursor
        bindings = op.index_bindings
        if Binding.GROUP in bindings or (
            not is_spread(op) and not self._scope.in_subgroup
        ):
            cursor = self._spread(op, Binding.GROUP, cursor)
        else:
            if not self._scope.in_subgroup:
                cursor = self._spread(op, Binding.SUBGROUP, cursor)
            if Binding.LANE in bindings or not is_inside:
                cursor = self._spread(op, Binding.LANE, cursor)
        for index, extent, binding in zip(
            op.indices, op.index_ranges, bindings, strict=True
        ):
            if extent == 1 and binding in IN_GROUP:
                self._scope.indices[index] = IndexSum()
        self._scope.in_subgroup = is_inside
        self._scope.is_uniform = is_inside
        return cursor

    def _spread(self, op: BlockOp, binding: Binding, cursor: Cursor) -> Cursor:
        """Let the work-items of a team have the points; those it has too many rest."""
        shape = _extents(op, binding)
        values = self._values.get((binding, shape))
        if values is None:
            team = self._teams[binding]
            if team.number is None:
                return cursor
            if prod(shape) < team.count:
                cursor = self._only_first(team.number, prod(shape), op, cursor)
            values = self._take_apart(team.number, shape, cursor)
        numbers = _spread_indices(op, binding)
        for number, value in zip(numbers, values, strict=True):
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
        own = [values[number] for number in range(len(shape))]
        self._values[Binding.GROUP, shape] = own
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
        """Let the first `count` work-items of a team go on."""
        rest = LinearForm.of([-1], count - 1)
        region, inner = nested(cursor)
        cursor.emit(IfOp([rest], [item], region), op)
        return inner


@dataclass(frozen=True)
class _Share:
    """Which cells of a memory the points of a block use, by work-item.

    `steps` has, for each axis, the number and the coefficient of the indices that are
    spread over work-items; a work-item uses `sizes` cells. `extents` has the bindings
    and ranges of these indices.
    """

    extents: tuple[tuple[Binding, int], ...]
    steps: tuple[tuple[tuple[int, int], ...], ...]
    sizes: tuple[int, ...]


def private_sizes(op: AllocOp) -> tuple[int, ...]:
    """The cells of private memory of a group that each work-item has of its own.

    Raises GinghamError where a work-item uses what others use.
    """
    shares = list(_shares(op, op.view, _Path()))
    if len({(share.extents, share.steps) for share in shares}) == 1:
        return tuple(map(max, zip(*(share.sizes for share in shares), strict=True)))
    reason = "by no block" if not shares else "in different parts by different blocks"
    raise error_at(
        op,
        "the work-items of a group have no memory in common but local one, and this "
        f"private memory is used {reason} with indices bound to work-items",
        "let the work-items use the same cells everywhere, or allocate local memory",
    )


@dataclass(frozen=True)
class _Path:
    """What of a memory a view in blocks that work-items share is."""

    starts: tuple[IndexSum, ...] | None = None
    """Where it starts along each axis, over the indices of these blocks."""
    spread: tuple[tuple[SSAValue, Binding], ...] = ()
    """The indices by which work-items share the blocks, outermost first."""

    def into(self, block: BlockOp, number: int) -> _Path:
        """The path of a window of a block, where `self` is that of its buffer."""
        access = block.access(number)
        starts = self.starts or (IndexSum(),) * len(access)
        own = tuple(
            (block.indices[number], binding)
            for binding in IN_GROUP
            for number in _spread_indices(block, binding)
        )
        moved = tuple([a + b for a, b in zip(starts, access, strict=True)])
        return _Path(moved, self.spread + own)


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
        if not is_spread_inside(block):
            yield _share(block, use.index, path.into(block, use.index))
        elif is_spread(block):
            inner = path.into(block, use.index)
            yield from _shares(op, block.view(use.index), inner)
        elif any(start != IndexSum() for start in block.access(use.index)):
            raise error_at(
                block,
                "expected blocks that all work-items of a group run to pass on private "
                "memory as a whole",
                "cut windows in blocks with indices bound to 'group'",
            )
        else:
            yield from _shares(op, block.view(use.index), path)


def _share(block: BlockOp, number: int, path: _Path) -> _Share:
    """The share of each work-item of what a block's points access."""
    starts = path.starts or ()
    windows = block.view_type(number).sizes
    spread_by = [index for index, _ in path.spread]
    values = values_of(starts, first=[*spread_by, *block.indices])
    access = [start.form(values) for start in starts]
    ranges = {place: index_range(value) for place, value in enumerate(values)}
    group = range(len(spread_by))
    told = determined_indices(access, windows, ranges)
    sizes: list[int] = []
    for form, window in zip(access, windows, strict=True):
        own = [n for n in form.support if n not in group]
        coefficients = [form.coefficients[n].numerator for n in own]
        is_plain = all(values[n] in block.indices for n in own) and not form.constant
        if not is_plain or min(coefficients, default=0) < 0 or not {*group} <= told:
            raise error_at(
                block,
                "work-items of a group may use the same cells of private memory, which "
                "each has for itself",
                "let each work-item own its cells, or allocate local memory",
            )
        reach = (c * (ranges[n] - 1) for c, n in zip(coefficients, own, strict=True))
        sizes.append(window + sum(reach))
    steps = tuple(
        tuple((n, form.coefficients[n].numerator) for n in group if n in form.support)
        for form in access
    )
    extents = [(binding, index_range(index)) for index, binding in path.spread]
    return _Share(tuple(extents), steps, tuple(sizes))
