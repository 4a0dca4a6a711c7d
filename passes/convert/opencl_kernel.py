"""One top-level `stripe.block` as the body of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.opencl.attributes import PointerType, WorkItemQuery
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import (
    ArrayOp,
    DelinearizeOp,
    ForOp,
    IfOp,
    WorkItemOp,
)
from ...dialects.opencl.ops import LoadOp as KernelLoadOp
from ...dialects.opencl.ops import StoreOp as KernelStoreOp
from ...dialects.stripe.attributes import Level, MemorySpace, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ..locations import error_at, located
from .opencl_grid import Grid, spread
from .opencl_index import IndexExpression, KnownConditions
from .opencl_races import PARALLEL, check_races
from .opencl_view import KernelView


@dataclass(frozen=True)
class Cursor:
    """Where ops are added, and what is known to hold there."""

    block: Block
    known: KnownConditions


@dataclass(frozen=True)
class LoweredKernel:
    """A kernel, and how it is to be launched."""

    kernel: KernelOp
    group_counts: tuple[int, ...]
    buffers: tuple[SSAValue, ...]
    """The views of the function that the kernel's pointers stand for."""


class KernelLowering:
    """Lowers one top-level block. Its maps say what each value of the block became."""

    def __init__(self, op: BlockOp, name: str) -> None:
        self._op = op
        self._name = name
        self._buffers = list(dict.fromkeys(op.buffers))
        self._entry = Block()
        self._extents: dict[SSAValue, int] = {}
        self._indices: dict[SSAValue, IndexExpression] = {}
        self._views: dict[SSAValue, KernelView] = {}
        self._values: dict[SSAValue, SSAValue] = {}
        self._group_size: tuple[int, ...] = (1, 1, 1)

    def lower(self) -> LoweredKernel | None:
        """The kernel, or None for a block that does nothing.

        Raises GinghamError for what has no meaning in a kernel.
        """
        op = self._op
        if 0 in op.index_ranges:
            return None
        check_races(op)
        pointers = [(self._pointer_type(v), v.name_hint) for v in self._buffers]
        region = KernelOp.empty_body(pointers)
        self._entry = region.block
        for buffer, pointer in zip(self._buffers, self._entry.args, strict=True):
            pointer.location = op.location
            self._views[buffer] = KernelView.whole(pointer, _view_type(buffer))
        cursor = Cursor(self._entry, KnownConditions.none())
        counts = self._bind_parallel(op, Level.GRID, WorkItemQuery.GROUP_ID)
        self._group_size = self._bind_parallel(op, Level.GROUP, WorkItemQuery.LOCAL_ID)
        self._lower_block(op, cursor)
        used = self._drop_unused_pointers()
        if not used:
            return None
        kernel = located(KernelOp(self._name, self._group_size, region), op)
        return LoweredKernel(kernel, counts, tuple(used))

    def _pointer_type(self, buffer: SSAValue) -> PointerType:
        type = _view_type(buffer)
        return PointerType.of(type.element_type, MemorySpace.GLOBAL)

    def _drop_unused_pointers(self) -> list[SSAValue]:
        """The buffers whose pointers are used; the other pointers are removed."""
        used: list[SSAValue] = []
        for buffer, pointer in zip(self._buffers, [*self._entry.args], strict=True):
            if pointer.first_use is not None:
                used.append(buffer)
            else:
                self._entry.erase_arg(pointer)
        return used

    # Indices.

    def _bind_parallel(
        self, op: BlockOp, level: Level, query: WorkItemQuery
    ) -> tuple[int, ...]:
        """Bind the block's indices of a level; the sizes of the three dimensions."""
        pairs = zip(op.indices, op.index_ranges, op.index_levels, strict=True)
        indices = [(i, extent) for i, extent, own in pairs if own is level]
        for index, extent in indices:
            if extent == 1:
                self._indices[index] = IndexExpression()
        indices = [(index, extent) for index, extent in indices if extent > 1]
        grid = spread([extent for _, extent in indices], query)
        for dimension in range(len(grid.members)):
            self._bind_dimension([i for i, _ in indices], grid, dimension, query)
        return grid.sizes

    def _bind_dimension(
        self,
        indices: Sequence[BlockArgument],
        grid: Grid,
        dimension: int,
        query: WorkItemQuery,
    ) -> None:
        members = grid.members[dimension]
        if not members:
            return
        item = WorkItemOp(query, dimension, grid.sizes[dimension])
        self._emit(self._entry, item, self._op)
        if len(members) == 1:
            self._bind(indices[members[0]], item.result, grid.extents[members[0]])
            return
        item.result.name_hint = "group" if query is WorkItemQuery.GROUP_ID else "item"
        extents = [grid.extents[member] for member in members]
        apart = DelinearizeOp(item.result, extents)
        self._emit(self._entry, apart, self._op)
        for member, value in zip(members, apart.coordinates, strict=True):
            self._bind(indices[member], value, grid.extents[member])

    def _bind(self, index: SSAValue, value: SSAValue, extent: int) -> None:
        value.name_hint = index.name_hint
        self._extents[value] = extent
        self._indices[index] = IndexExpression.value(value)

    # Blocks.

    def _lower_block(self, op: BlockOp, cursor: Cursor) -> None:
        if 0 in op.index_ranges:
            return
        if op is not self._op:
            self._check_nested_levels(op)
        for number, refinement in enumerate(op.refinement_list):
            if refinement.init is not None:
                self._initialize(op, number, refinement.init, cursor)
        inner = self._open_loops(op, cursor)
        if inner is None:
            return
        self._bind_views(op)
        for statement in op.body.block.ops:
            self._lower_statement(statement, inner)

    def _check_nested_levels(self, op: BlockOp) -> None:
        for index, level in zip(op.indices, op.index_levels, strict=True):
            if level in PARALLEL:
                raise error_at(
                    op,
                    f"index '{index.name_hint or index.index}' of a nested block has "
                    f"level '{level.value}'",
                    "only indices of top-level blocks become work-items",
                )

    def _open_loops(self, op: BlockOp, cursor: Cursor) -> Cursor | None:
        """Open the block's loops, with its conditions as far out as they are known.

        None when the conditions hold nowhere.
        """
        pending = list(op.conditions)
        inner = self._guard(op, pending, cursor)
        pairs = zip(op.indices, op.index_ranges, op.index_levels, strict=True)
        for index, extent, level in pairs:
            if inner is None:
                return None
            if index in self._indices:
                continue
            inner = self._open_loop(op, index, extent, level is Level.UNROLL, inner)
            inner = self._guard(op, pending, inner)
        return inner

    def _open_loop(
        self, op: BlockOp, index: SSAValue, extent: int, unroll: bool, cursor: Cursor
    ) -> Cursor:
        """Open a loop over an index; a single value needs none."""
        if extent == 1:
            self._indices[index] = IndexExpression()
            return cursor
        body, value = self._open_for(op, index.name_hint, extent, unroll, cursor)
        self._bind(index, value, extent)
        return body

    def _open_for(
        self,
        op: BlockOp,
        name: str | None,
        extent: int,
        unroll: bool,
        cursor: Cursor,
    ) -> tuple[Cursor, SSAValue]:
        region = ForOp.empty_body(name)
        body = region.block
        body.args[0].location = op.location
        self._extents[body.args[0]] = extent
        self._emit(cursor.block, ForOp(extent, region, unroll=unroll), op)
        return Cursor(body, cursor.known), body.args[0]

    def _guard(
        self, op: BlockOp, pending: list[LinearForm], cursor: Cursor
    ) -> Cursor | None:
        """Test those pending conditions whose indices are all known by now."""
        values = op.form_values
        ready = [
            form
            for form in pending
            if all(values[number] in self._indices for number in form.support)
        ]
        pending[:] = [form for form in pending if form not in ready]
        return self._guard_by(
            op, [self._expression(op, form) for form in ready], cursor
        )

    def _guard_by(
        self, op: BlockOp, conditions: Sequence[IndexExpression], cursor: Cursor
    ) -> Cursor | None:
        tested: list[IndexExpression] = []
        known = cursor.known
        for condition in conditions:
            low, high = condition.bounds(self._extents)
            if high < 0:
                return None
            if low >= 0 or known.imply(condition):
                continue
            tested.append(condition)
            known = known.and_also([condition])
        if not tested:
            return cursor
        block = Block()
        self._emit(cursor.block, _if_op(tested, block), op)
        return Cursor(block, known)

    def _expression(self, op: BlockOp, form: LinearForm) -> IndexExpression:
        """A form of a block over the kernel's index values."""
        nothing = IndexExpression()
        arguments = [self._indices.get(value, nothing) for value in op.form_values]
        return IndexExpression.apply(form, arguments)

    def _bind_views(self, op: BlockOp) -> None:
        for number, refinement in enumerate(op.refinement_list):
            outer = self._views[op.buffers[number]]
            offsets = [self._expression(op, form) for form in refinement.access]
            self._views[op.views[number]] = outer.moved(offsets, refinement.aggregation)

    # Initial values.

    def _initialize(
        self, op: BlockOp, number: int, init: int | float, cursor: Cursor
    ) -> None:
        """Set all cells that a refinement reaches, before the loops of its block."""
        refinement = op.refinement_list[number]
        reached = {index for form in refinement.access for index in form.support}
        opened: list[SSAValue] = []
        for position, index in enumerate(op.indices):
            if index in self._indices:
                continue
            opened.append(index)
            if position not in reached:
                self._indices[index] = IndexExpression()
                continue
            unroll = op.index_levels[position] is Level.UNROLL
            extent = op.index_ranges[position]
            cursor = self._open_loop(op, index, extent, unroll, cursor)
        offsets = [self._expression(op, form) for form in refinement.access]
        view = self._views[op.buffers[number]].moved(offsets)
        self._fill(op, view, op.view_type(number), init, cursor)
        # The block's own loops bind these indices anew.
        for index in opened:
            del self._indices[index]

    def _fill(
        self,
        op: BlockOp,
        view: KernelView,
        window: ViewType,
        init: int | float,
        cursor: Cursor,
    ) -> None:
        """Set the cells of a window that lie within the memory."""
        value_type = window.value_type
        overhangs = any(view.inside(window.sizes, self._extents))
        sizes = window.sizes
        if value_type is None or overhangs:
            value_type = window.element_type
            offsets: list[IndexExpression] = []
            for size in sizes:
                offset = IndexExpression()
                if size > 1:
                    cursor, index = self._open_for(op, None, size, False, cursor)
                    offset = IndexExpression.value(index)
                offsets.append(offset)
            view, sizes = view.moved(offsets), (1,) * len(sizes)
        conditions = [*view.inside(sizes, self._extents)]
        inner = self._guard_by(op, conditions, cursor)
        if inner is None or 0 in window.sizes:
            return
        number = _number_for(op, init, element_of(value_type))
        constant = ConstantOp(number, value_type)
        self._emit(inner.block, constant, op)
        self._store(constant.result, view, inner, op)

    # Statements.

    def _lower_statement(self, op: Operation, cursor: Cursor) -> None:
        match op:
            case BlockOp():
                self._lower_block(op, cursor)
            case AllocOp():
                self._allocate(op, cursor)
            case LoadOp():
                load = self._load(self._views[op.view], op.result.type, cursor, op)
                self._values[op.result] = load
                load.name_hint = op.result.name_hint
            case StoreOp():
                self._aggregate(op, cursor)
            case ElementwiseOp() | ConstantOp() | CastOp() | BroadcastOp():
                self._compute(op, cursor)
            case _:
                raise error_at(op, f"'{op.name}' has no form in the opencl dialect")

    def _allocate(self, op: AllocOp, cursor: Cursor) -> None:
        type = op.view.type
        space = type.space.data
        if space is MemorySpace.GLOBAL:
            raise error_at(
                op,
                "a block allocates global memory",
                "kernels have private and local memory; move it to the function",
            )
        if space is MemorySpace.LOCAL and prod(self._group_size) > 1:
            raise error_at(
                op,
                "each point has its own allocation, but the work-items of a group "
                "share local memory",
                "allocate private memory, or use no index of level 'group'",
            )
        pointer = PointerType.of(type.element_type, space)
        array = located(ArrayOp(prod(type.sizes), pointer), op)
        array.pointer.name_hint = op.view.name_hint
        first = self._entry.first_op
        if space is MemorySpace.LOCAL and first is not None:
            # A kernel declares local arrays outside of all loops.
            self._entry.insert_op_before(array, first)
        else:
            cursor.block.add_op(array)
        self._views[op.view] = KernelView.whole(array.pointer, type)

    def _load(
        self, view: KernelView, type: Attribute, cursor: Cursor, op: Operation
    ) -> SSAValue:
        form, values = view.position.as_form()
        load = KernelLoadOp(view.pointer, form, values, type)
        self._emit(cursor.block, load, op)
        return load.result

    def _store(
        self, value: SSAValue, view: KernelView, cursor: Cursor, op: Operation
    ) -> None:
        form, values = view.position.as_form()
        store = KernelStoreOp(value, view.pointer, form, values)
        self._emit(cursor.block, store, op)

    def _aggregate(self, op: StoreOp, cursor: Cursor) -> None:
        value = self._operand(op.value, op, cursor)
        view = self._views[op.view]
        function = view.aggregation.function
        if function is not None:
            before = self._load(view, value.type, cursor, op)
            before.name_hint = view.pointer.name_hint
            combine = FUNCTION_OPS[function].build_typed([before, value], value.type)
            self._emit(cursor.block, combine, op)
            value = combine.result
        self._store(value, view, cursor, op)

    def _compute(
        self, op: ElementwiseOp | ConstantOp | CastOp | BroadcastOp, cursor: Cursor
    ) -> None:
        operands = {
            operand: self._operand(operand, op, cursor) for operand in op.operands
        }
        copy = op.clone(operands)
        copy.location = op.location
        cursor.block.add_op(copy)
        self._values[op.results[0]] = copy.results[0]

    def _operand(self, value: SSAValue, op: Operation, cursor: Cursor) -> SSAValue:
        """What a value of a block became; a number for an index without a loop."""
        if value in self._values:
            return self._values[value]
        expression = self._indices.get(value)
        if expression is None:
            raise error_at(op, f"'{op.name}' uses a value from outside of its kernel")
        if expression.terms:
            return expression.terms[0][0]
        constant = ConstantOp(expression.constant, IndexType())
        self._emit(cursor.block, constant, op)
        return constant.result

    def _emit(self, block: Block, op: Operation, origin: Operation) -> None:
        block.add_op(located(op, origin))


def _if_op(conditions: Sequence[IndexExpression], body: Block) -> IfOp:
    """The op that tests conditions, each over its own values."""
    values = list(dict.fromkeys(v for c in conditions for v, _ in c.terms))
    forms: list[LinearForm] = []
    for condition in conditions:
        form, own = condition.as_form()
        positions = {number: values.index(value) for number, value in enumerate(own)}
        forms.append(form.remap(positions, len(values)))
    return IfOp(forms, values, Region(body))


def _view_type(value: SSAValue) -> ViewType:
    if not isinstance(value.type, ViewType):
        raise ValueError(f"expected a view, got {value.type}")
    return value.type


def _number_for(op: BlockOp, number: int | float, element: Attribute) -> int | float:
    """An initial value as the constant of an element type."""
    if kind(element) is Kind.FLOAT or isinstance(number, int):
        return number
    if not number.is_integer():
        raise error_at(op, f"expected an integer to initialize {element}, got {number}")
    return int(number)
