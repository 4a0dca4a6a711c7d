"""Blocks that fill and copy windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import ConstantOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import Direction, Refinement, ViewType, view_type
from ....dialects.stripe.block import BlockOp, window_of
from ....dialects.stripe.block_values import index_range
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ..analysis.effects import effects_of
from ..analysis.nests import root_buffer


@dataclass(frozen=True)
class Windows:
    """Windows of a buffer, one for each value of some indices."""

    buffer: SSAValue
    starts: tuple[IndexSum, ...]
    """Where a window starts, along each axis of the buffer: over the indices, and those
    of blocks around."""
    sizes: tuple[int, ...]
    """The cells of a window along each axis."""
    steps: tuple[int, ...]
    """How far apart these are in the buffer."""
    indices: tuple[SSAValue, ...]
    ranges: tuple[int, ...]
    """Of the indices."""
    names: tuple[str | None, ...]

    def is_same(self, other: Windows) -> bool:
        """Whether these are the same windows, whatever their indices are called."""
        renamed = {
            old: IndexSum.value(new)
            for old, new in zip(self.indices, other.indices, strict=False)
        }
        return (
            self.buffer is other.buffer
            and self.sizes == other.sizes
            and self.steps == other.steps
            and self.ranges == other.ranges
            and all(
                own.substitute(renamed) - start == IndexSum()
                for own, start in zip(self.starts, other.starts, strict=True)
            )
        )


def fill_block(view: SSAValue, value: int | float) -> BlockOp:
    """A block that sets every cell of a view that lies inside the windows around."""
    type = view_type(view)
    window = type.cell
    axes = [axis for axis, size in enumerate(type.sizes) if size != 1]
    body = BlockOp.empty_body(_names(len(axes)), [(window, "cell")])
    constant = ConstantOp(value, window.element_type)
    body.block.add_ops([constant, StoreOp(constant.result, body.block.args[-1])])
    out = _anywhere(Direction.OUT, type)
    block = BlockOp([type.sizes[axis] for axis in axes], [view], [out], body)
    cell = _cell(block.indices, axes, type.rank)
    block.rewrite([cell], cell_bounds(view, cell))
    return block


def copy_block(
    source: SSAValue,
    target: SSAValue,
    aggregation: Aggregation = Aggregation.ASSIGN,
) -> BlockOp:
    """A block that copies a window, the cells inside the windows around.

    With an aggregation, each is aggregated with what is there. Of a larger window
    there are only the cells of the smaller one.
    """
    types = view_type(source), view_type(target)
    sizes = tuple(map(min, *(type.sizes for type in types)))
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    ranges = [sizes[axis] for axis in axes]
    copy = _copy_of_cells(source, target, ranges, _names(len(ranges)))
    cell = _cell(copy.indices, axes, len(sizes))
    _place(copy, cell, cell)
    refinement = replace(copy.refinement(1), aggregation=aggregation)
    copy.set_refinement(1, refinement)
    return copy


def turned_copy(source: SSAValue, target: SSAValue, order: Sequence[int]) -> BlockOp:
    """A block that copies a window whose axes are in another order in the target.

    Axis `n` of the target is axis `order[n]` of the source, or has more places.
    """
    sizes = view_type(source).sizes
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    copy = _copy_of_cells(
        source, target, [sizes[axis] for axis in axes], _names(len(axes))
    )
    cell = _cell(copy.indices, axes, len(sizes))
    _place(copy, cell, [cell[axis] for axis in order])
    return copy


def windows_copy(
    windows: Windows,
    target: SSAValue,
    order: Sequence[int],
    name: str | None,
) -> BlockOp:
    """A block that copies windows into a buffer, the cells inside the windows around.

    The target has an axis per index, then those of the window in `order`.
    """
    axes = [axis for axis in order if windows.sizes[axis] != 1]
    ranges = [*windows.ranges, *(windows.sizes[axis] for axis in axes)]
    names = [*windows.names, *(f"w{axis}" for axis in axes)]
    copy = _copy_of_cells(windows.buffer, target, ranges, names, name)
    indices = [IndexSum.value(index) for index in copy.indices]
    chosen = dict(zip(windows.indices, indices, strict=False))
    within = _cell(copy.indices[len(chosen) :], axes, len(windows.sizes))
    axes_of_source = zip(windows.starts, windows.steps, within, strict=True)
    _place(
        copy,
        [
            start.substitute(chosen) + cell * step
            for start, step, cell in axes_of_source
        ],
        [*chosen.values(), *(within[axis] for axis in order)],
    )
    return copy


def _names(count: int) -> list[str | None]:
    return [f"e{axis}" for axis in range(count)]


def _cell(
    indices: Sequence[SSAValue], axes: Sequence[int], rank: int
) -> list[IndexSum]:
    """A cell of a window, of which each index goes along one of some axes."""
    cell = [IndexSum()] * rank
    for index, axis in zip(indices, axes, strict=True):
        cell[axis] = IndexSum.value(index)
    return cell


def _anywhere(direction: Direction, type: ViewType) -> Refinement:
    """A window of which it is not said yet where it starts."""
    return Refinement(direction, (LinearForm(()),) * type.rank)


def _copy_of_cells(
    source: SSAValue,
    target: SSAValue,
    ranges: Sequence[int],
    names: Sequence[str | None],
    name: str | None = None,
) -> BlockOp:
    """A block that copies a cell for each point: see `_place`."""
    types = [view_type(view) for view in (source, target)]
    body = BlockOp.empty_body(
        names,
        [(type.cell, hint) for type, hint in zip(types, ("from", "to"), strict=True)],
    )
    *_, source_cell, target_cell = body.block.args
    load = LoadOp(source_cell)
    body.block.add_ops([load, StoreOp(load.result, target_cell)])
    directions = (Direction.IN, Direction.OUT)
    refinements = [*map(_anywhere, directions, types)]
    return BlockOp(ranges, [source, target], refinements, body, block_name=name)


def _place(
    copy: BlockOp, source: Sequence[IndexSum], target: Sequence[IndexSum]
) -> None:
    """Let a block copy these cells, where they lie inside all windows around."""
    bounds = [
        *cell_bounds(copy.buffer(0), source),
        *cell_bounds(copy.buffer(1), target),
    ]
    copy.rewrite([source, target], bounds)


def cell_bounds(view: SSAValue, cell: Sequence[IndexSum]) -> list[IndexSum]:
    """The conditions that a cell of a view lies in it and in all windows around.

    Conditions that always hold are left out.
    """
    conditions: dict[IndexSum, None] = {}
    while True:
        for position, size in zip(cell, view_type(view).sizes, strict=True):
            low, high = position.bounds(index_range)
            if low < 0:
                conditions[position] = None
            if high >= size:
                conditions[-position + (size - 1)] = None
        window = window_of(view)
        if window is None:
            return [*conditions]
        block, number = window
        pairs = zip(cell, block.access(number), strict=True)
        cell = [inside + start for inside, start in pairs]
        view = block.buffer(number)


@dataclass
class PackedCopies:
    """What has been staged already, for nests that need the same windows."""

    _known: list[tuple[Windows, tuple[int, ...], int | float, SSAValue]] = field(
        default_factory=list[tuple[Windows, tuple[int, ...], int | float, SSAValue]]
    )

    def add(
        self,
        windows: Windows,
        order: tuple[int, ...],
        fill: int | float,
        scratch: SSAValue,
    ) -> None:
        """Note that `scratch` holds these windows."""
        self._known.append((windows, order, fill, scratch))

    def find(
        self,
        windows: Windows,
        order: tuple[int, ...],
        fill: int | float,
        type: ViewType,
        user: Operation,
    ) -> SSAValue | None:
        """A scratch that holds these windows where `user` stands, if there is one."""
        for known, *rest, scratch in self._known:
            is_same = known.is_same(windows) and rest == [order, fill]
            if is_same and scratch.type == type and _is_current(scratch, known, user):
                return scratch
        return None


def _is_current(scratch: SSAValue, windows: Windows, user: Operation) -> bool:
    """Whether nothing between the copy and its user writes what was copied."""
    allocation = scratch.owner
    if not isinstance(allocation, AllocOp) or allocation.parent is not user.parent:
        return False
    source = root_buffer(windows.buffer)
    operation: Operation | None = allocation.next_op
    while operation is not None and operation is not user:
        if source in effects_of(operation).written:
            return False
        operation = operation.next_op
    return operation is user
