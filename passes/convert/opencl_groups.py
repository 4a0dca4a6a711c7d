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

What the group allocates in local memory is shared; private memory is divided (see
`private_parts`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.control_flow import IfOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.binding import IN_GROUP, Binding
from ...dialects.stripe.block import BlockOp
from ..stripe.analysis.nests import all_blocks
from ..stripe.analysis.work_groups import (
    is_spread,
    is_spread_inside,
    spread_blocks,
    spread_extents,
    spread_indices,
    team_sizes,
)
from .known_conditions import KnownConditions
from .opencl_grid import spread
from .opencl_scope import Cursor, KernelScope, nested


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
        sizes = team_sizes(self.blocks)
        self._teams = {binding: _Team(count) for binding, count in sizes.items()}
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
        shapes = [*dict.fromkeys(spread_extents(b, Binding.GROUP) for b in self.blocks)]
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
            for shape in dict.fromkeys(spread_extents(b, binding) for b in self.blocks):
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
        shape = spread_extents(op, binding)
        values = self._values.get((binding, shape))
        if values is None:
            team = self._teams[binding]
            if team.number is None:
                return cursor
            if prod(shape) < team.count:
                cursor = self._only_first(team.number, prod(shape), op, cursor)
            values = self._take_apart(team.number, shape, cursor)
        numbers = spread_indices(op, binding)
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
