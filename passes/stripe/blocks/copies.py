"""Blocks that fill and copy windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import BlockArgument, Operation, SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import ConstantOp
from ....dialects.stripe.attributes import Direction, Refinement, ViewType
from ....dialects.stripe.block import BlockOp, index_range
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from .nests import replace_forms, root_buffer


@dataclass(frozen=True)
class Windows:
    """Windows of a buffer, one for each value of some indices."""

    buffer: SSAValue
    starts: tuple[LinearForm, ...]
    """Where a window starts, one form per axis of the buffer over the indices, then the
    captures."""
    sizes: tuple[int, ...]
    """Of a window."""
    ranges: tuple[int, ...]
    """Of the indices."""
    names: tuple[str | None, ...]
    captures: tuple[SSAValue, ...]
    """Indices of blocks around."""


def view_type(view: SSAValue) -> ViewType:
    """The type of a value that is a view."""
    if not isinstance(view.type, ViewType):
        raise ValueError(f"expected a view, got {view.type}")
    return view.type


def fill_block(view: SSAValue, value: int | float) -> BlockOp:
    """A block that sets every cell of a view that lies inside the windows around."""
    type = view_type(view)
    ranges, access = _cells(type)
    captures: list[SSAValue] = []
    bounds = cell_bounds(view, access, ranges, captures)
    width = len(ranges) + len(captures)
    window = type.resized([1] * type.rank)
    body = BlockOp.empty_body(_names(len(ranges)), [(window, "cell")])
    constant = ConstantOp(value, window.element_type)
    body.block.add_ops([constant, StoreOp(constant.result, body.block.args[-1])])
    forms = tuple(_widened(form, width) for form in access)
    return BlockOp(
        ranges,
        [view],
        [Refinement(Direction.OUT, forms)],
        body,
        captures=captures,
        constraints=bounds,
    )


def _widened(form: LinearForm, width: int) -> LinearForm:
    """The form with further dimensions behind its own, which do not occur."""
    return form.remap({number: number for number in range(form.rank)}, width)


def copy_block(
    source: SSAValue,
    target: SSAValue,
    aggregation: Aggregation = Aggregation.ASSIGN,
) -> BlockOp:
    """A block that copies a window, the cells inside the windows around.

    With an aggregation, each is aggregated with what is there.
    """
    ranges, access = _cells(view_type(source))
    names = _names(len(ranges))
    copy = _copy(source, access, target, access, ranges, names, (), None)
    _change_output(copy, aggregation)
    return copy


def _change_output(
    copy: BlockOp,
    aggregation: Aggregation = Aggregation.ASSIGN,
    init: int | float | None = None,
) -> None:
    source, target = copy.refinement_list
    refinements = [source, replace(target, aggregation=aggregation, init=init)]
    replace_forms(copy, refinements, copy.conditions, copy.captures)


def windows_copy(
    windows: Windows,
    target: SSAValue,
    order: Sequence[int],
    name: str | None,
) -> BlockOp:
    """A block that copies windows into a buffer, the cells inside the windows around.

    The target has an axis per index, then those of the window in `order`.
    """
    count = len(windows.ranges)
    axes = [axis for axis in order if windows.sizes[axis] != 1]
    ranges = [*windows.ranges, *(windows.sizes[axis] for axis in axes)]
    names = [*windows.names, *(f"w{axis}" for axis in axes)]
    own, captured = len(ranges), len(windows.captures)
    width = own + captured
    places = {n: n if n < count else own + n - count for n in range(count + captured)}

    def within(axis: int, rank: int) -> LinearForm:
        if axis not in axes:
            return LinearForm.constant_of(0, rank)
        return LinearForm.dimension(count + axes.index(axis), rank)

    source_access = [
        start.remap(places, width) + within(axis, width)
        for axis, start in enumerate(windows.starts)
    ]
    target_access = [
        *(LinearForm.dimension(index, own) for index in range(count)),
        *(within(axis, own) for axis in order),
    ]
    return _copy(
        windows.buffer,
        source_access,
        target,
        target_access,
        ranges,
        names,
        windows.captures,
        name,
    )


def _names(count: int) -> list[str | None]:
    return [f"e{axis}" for axis in range(count)]


def _cells(type: ViewType) -> tuple[list[int], list[LinearForm]]:
    """The ranges of indices over the cells of a view, and the access of a cell."""
    axes = [axis for axis, size in enumerate(type.sizes) if size != 1]
    access = [
        LinearForm.dimension(axes.index(axis), len(axes))
        if axis in axes
        else LinearForm.constant_of(0, len(axes))
        for axis in range(type.rank)
    ]
    return [type.sizes[axis] for axis in axes], access


def _copy(
    source: SSAValue,
    source_access: Sequence[LinearForm],
    target: SSAValue,
    target_access: Sequence[LinearForm],
    ranges: Sequence[int],
    names: Sequence[str | None],
    captures: Sequence[SSAValue],
    name: str | None,
) -> BlockOp:
    """A block that copies a cell per point, where it lies inside all windows around.

    Accesses are over the block's indices and then, if they are that long, `captures`.
    """
    own = len(ranges)
    values: list[SSAValue] = [*captures]
    bounds = [*cell_bounds(source, source_access, ranges, values)]
    bounds += cell_bounds(target, target_access, ranges, values)
    width = own + len(values)
    types = [view_type(view) for view in (source, target)]
    body = BlockOp.empty_body(
        names,
        [
            (type.resized([1] * type.rank), hint)
            for type, hint in zip(types, ("from", "to"), strict=True)
        ],
    )
    *_, source_cell, target_cell = body.block.args
    load = LoadOp(source_cell)
    body.block.add_ops([load, StoreOp(load.result, target_cell)])
    return BlockOp(
        ranges,
        [source, target],
        [
            Refinement(Direction.IN, tuple(_widened(f, width) for f in source_access)),
            Refinement(Direction.OUT, tuple(_widened(f, width) for f in target_access)),
        ],
        body,
        captures=values,
        constraints=[_widened(form, width) for form in bounds],
        block_name=name,
    )


def cell_bounds(
    view: SSAValue,
    access: Sequence[LinearForm],
    ranges: Sequence[int],
    values: list[SSAValue],
) -> list[LinearForm]:
    """The conditions that a cell of a view lies in it and in all windows around.

    Forms are over the indices of these ranges, then `values`, to which what they need
    is added. Conditions that always hold are left out.
    """
    own = len(ranges)
    conditions: list[LinearForm] = []
    for window, offsets in _windows_around(view, values):
        width = own + len(values)
        all_ranges = [*ranges, *(index_range(value) for value in values)]
        places = {number: own + number for number in range(len(values))}
        for offset, form, size in zip(offsets, access, window.sizes, strict=True):
            position = offset.remap(places, width) + _widened(form, width)
            low, high = position.bounds(all_ranges)
            if low < 0:
                conditions.append(position)
            if high >= size:
                conditions.append(-position + (size - 1))
    width = own + len(values)
    return list(dict.fromkeys(_widened(form, width) for form in conditions))


def _windows_around(
    view: SSAValue, values: list[SSAValue]
) -> Iterator[tuple[ViewType, list[LinearForm]]]:
    """A view and all that it was cut from, with where the view starts in each.

    The starts are over `values`, to which what they need is added.
    """
    offsets = [LinearForm.constant_of(0, len(values))] * view_type(view).rank
    while True:
        yield view_type(view), offsets
        block = view.block.parent_op() if isinstance(view, BlockArgument) else None
        if not isinstance(block, BlockOp) or not isinstance(view, BlockArgument):
            return
        number = view.index - len(block.index_ranges)
        values += [value for value in block.form_values if value not in values]
        places = {n: values.index(value) for n, value in enumerate(block.form_values)}
        offsets = [
            _widened(offset, len(values)) + form.remap(places, len(values))
            for offset, form in zip(
                offsets, block.refinement(number).access, strict=True
            )
        ]
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
            is_same = _is_same(known, windows) and rest == [order, fill]
            if is_same and scratch.type == type and _is_current(scratch, known, user):
                return scratch
        return None


def _is_same(first: Windows, second: Windows) -> bool:
    """Whether windows are the same, whatever their indices are called."""
    return (
        first.buffer is second.buffer
        and first.starts == second.starts
        and first.sizes == second.sizes
        and first.ranges == second.ranges
        and first.captures == second.captures
    )


def _is_current(scratch: SSAValue, windows: Windows, user: Operation) -> bool:
    """Whether nothing between the copy and its user writes what was copied."""
    allocation = scratch.owner
    if not isinstance(allocation, AllocOp) or allocation.parent is not user.parent:
        return False
    source = root_buffer(windows.buffer)
    operation: Operation | None = allocation.next_op
    while operation is not None and operation is not user:
        if isinstance(operation, BlockOp) and _writes(operation, source):
            return False
        operation = operation.next_op
    return operation is user


def _writes(block: BlockOp, root: SSAValue) -> bool:
    return any(
        refinement.direction.writes and root_buffer(buffer) is root
        for buffer, refinement in zip(block.buffers, block.refinement_list, strict=True)
    )
