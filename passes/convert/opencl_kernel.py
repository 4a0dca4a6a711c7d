"""One top-level `stripe.block` as the body of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.ops import ConstantOp, element_of
from ...dialects.index_sum import IndexSum, values_of
from ...dialects.opencl.attributes import VECTOR_LENGTHS, PointerType, WorkItemQuery
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import WhenOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import ArrayOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import (
    UNLESS_NUMBERS_ATTRIBUTE,
    MemorySpace,
    ViewType,
    view_type,
)
from ...dialects.stripe.binding import Binding
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.scheduled import keep_done
from ..locations import error_at, located
from ..stripe.analysis.nests import all_blocks, root_buffer
from ..stripe.analysis.schedules import check_bindings_of, check_is_applied
from .known_conditions import KnownConditions
from .opencl_grid import Grid, in_line, spread
from .opencl_groups import GroupLowering
from .opencl_numbers import any_nan
from .opencl_races import check_races
from .opencl_scope import Cursor, KernelScope, nested
from .opencl_statements import StatementLowering
from .opencl_view import KernelView


@dataclass(frozen=True)
class LoweredKernel:
    """A kernel, and how it is to be launched."""

    kernel: KernelOp
    group_counts: tuple[int, ...]
    buffers: tuple[SSAValue, ...]
    """The allocations and arguments that the kernel's pointers stand for."""


class KernelLowering:
    """Lowers one top-level block. Its maps say what each value of the block became."""

    def __init__(self, op: BlockOp, name: str) -> None:
        self._op = op
        self._name = name
        self._buffers = list(dict.fromkeys(map(root_buffer, op.buffers)))
        self._scope = KernelScope()
        self._statements = StatementLowering(self._scope)
        self._groups = GroupLowering(op, self._scope)
        self._tests: dict[Operation, Sequence[IndexSum]] = {}
        """The conditions of tests, where they are the same for a whole group."""

    def lower(self) -> LoweredKernel | None:
        """The kernel, or None for a block that does nothing.

        Raises GinghamError for what has no meaning in a kernel.
        """
        op = self._op
        if 0 in op.index_ranges:
            return None
        for block in all_blocks(op):
            check_is_applied(block)
            check_bindings_of(block)
        for parallel in dict.fromkeys((op, *self._groups.blocks)):
            check_races(parallel)
        pointers = [(self._pointer_type(v), v.name_hint) for v in self._buffers]
        region = KernelOp.empty_body(pointers)
        scope = self._scope
        scope.entry = region.block
        pointer_to = dict(zip(self._buffers, scope.entry.args, strict=True))
        for pointer in pointer_to.values():
            pointer.location = op.location
        for buffer in op.buffers:
            pointer = pointer_to[root_buffer(buffer)]
            scope.views[buffer] = KernelView.whole(pointer, view_type(buffer))
        cursor = Cursor(scope.entry, KnownConditions.none())
        counts = self._bind_groups(op)
        scope.group_size = self._groups.bind()
        self._lower_block(op, cursor)
        used = self._drop_unused_pointers()
        if not used:
            return None
        kernel = located(KernelOp(self._name, scope.group_size, region), op)
        keep_done(kernel, all_blocks(op))
        return LoweredKernel(kernel, counts, tuple(used))

    def _pointer_type(self, buffer: SSAValue) -> PointerType:
        type = view_type(buffer)
        return PointerType.of(type.element_type, MemorySpace.GLOBAL)

    def _drop_unused_pointers(self) -> list[SSAValue]:
        """The buffers whose pointers are used; the other pointers are removed."""
        used: list[SSAValue] = []
        for buffer, pointer in zip(
            self._buffers, [*self._scope.entry.args], strict=True
        ):
            if pointer.first_use is not None:
                used.append(buffer)
            else:
                self._scope.entry.erase_arg(pointer)
        return used

    # Indices.

    def _bind_groups(self, op: BlockOp) -> tuple[int, ...]:
        """Give the indices bound to work-groups; the sizes of the three dimensions."""
        pairs = zip(op.indices, op.index_ranges, op.index_bindings, strict=True)
        indices = [(i, extent) for i, extent, own in pairs if own is Binding.GRID]
        for index, extent in indices:
            if extent == 1:
                self._scope.indices[index] = IndexSum()
        indices = [(index, extent) for index, extent in indices if extent > 1]
        extents = [extent for _, extent in indices]
        has_items, query = self._groups.has_items, WorkItemQuery.GROUP_ID
        grid = spread(extents, query) if has_items else in_line(extents)
        for dimension in range(len(grid.members)):
            self._bind_dimension([i for i, _ in indices], grid, dimension)
        return grid.sizes

    def _bind_dimension(
        self, indices: Sequence[BlockArgument], grid: Grid, dimension: int
    ) -> None:
        members = grid.members[dimension]
        if not members:
            return
        entry = Cursor(self._scope.entry, KnownConditions.none())
        item = WorkItemOp(WorkItemQuery.GROUP_ID, dimension, grid.sizes[dimension])
        entry.emit(item, self._op)
        if len(members) == 1:
            self._scope.bind(indices[members[0]], item.result, grid.extents[members[0]])
            return
        item.result.name_hint = "group"
        extents = [grid.extents[member] for member in members]
        apart = DelinearizeOp(item.result, extents)
        entry.emit(apart, self._op)
        for member, value in zip(members, apart.coordinates, strict=True):
            self._scope.bind(indices[member], value, grid.extents[member])

    # Blocks.

    def _lower_block(self, op: BlockOp, cursor: Cursor) -> None:
        if 0 in op.index_ranges:
            return
        is_seldom = UNLESS_NUMBERS_ATTRIBUTE in op.attributes
        around = self._unless_numbers(op, cursor) if is_seldom else cursor
        with self._groups.entered(op, around) as inner:
            self._lower_points(op, inner)
        if around is not cursor:
            _keep_short(around.block)

    def _unless_numbers(self, op: BlockOp, cursor: Cursor) -> Cursor:
        """Where a block is run that may be left out: see UNLESS_NUMBERS_ATTRIBUTE."""
        views = [self._scope.views[op.buffer(number)] for number in op.written]
        arrays = [view.pointer.owner for view in views]
        if len(arrays) != 1 or not isinstance(arrays[0], ArrayOp):
            return cursor
        if kind(element_of(views[0].element)) is not Kind.FLOAT:
            return cursor
        region, inner = nested(cursor)
        again = any_nan(arrays[0], self._scope, cursor, op)
        cursor.emit(WhenOp(again, region), op)
        return inner

    def _lower_points(self, op: BlockOp, cursor: Cursor) -> None:
        for number, refinement in enumerate(op.refinement_list):
            if refinement.init is not None:
                self._initialize(op, number, refinement.init, cursor)
        inner = self._open_loops(op, cursor)
        if inner is None:
            return
        self._bind_views(op)
        for statement in op.body.block.ops:
            if isinstance(statement, BlockOp):
                self._lower_block(statement, inner)
            else:
                self._statements.lower(statement, inner)

    def _open_loops(self, op: BlockOp, cursor: Cursor) -> Cursor | None:
        """Open the block's loops, with its conditions as far out as they are known.

        None when the conditions hold nowhere.
        """
        pending = list(op.where)
        inner = self._guard(op, pending, cursor)
        pairs = zip(op.indices, op.index_ranges, op.index_bindings, strict=True)
        for index, extent, binding in pairs:
            if inner is None:
                return None
            if index in self._scope.indices:
                continue
            inner = self._scope.open_loop(
                op, index, extent, binding is Binding.UNROLL, inner
            )
            inner = self._guard(op, pending, inner)
        return inner

    def _guard(
        self, op: BlockOp, pending: list[IndexSum], cursor: Cursor
    ) -> Cursor | None:
        """Test those pending conditions whose indices are all known by now."""
        known = self._scope.indices
        ready = [each for each in pending if all(v in known for v in each.values)]
        pending[:] = [each for each in pending if each not in ready]
        return self._guard_by(op, [each.substitute(known) for each in ready], cursor)

    def _guard_by(
        self, op: BlockOp, conditions: Sequence[IndexSum], cursor: Cursor
    ) -> Cursor | None:
        tested: list[IndexSum] = []
        known = cursor.known
        for condition in conditions:
            low, high = condition.bounds(self._scope.extents.__getitem__)
            if high < 0:
                return None
            if low >= 0 or known.imply(condition):
                continue
            tested.append(condition)
            known = known.and_also([condition])
        if not tested:
            return cursor
        return Cursor(self._tested(op, tested, cursor), known)

    def _tested(
        self, op: BlockOp, conditions: Sequence[IndexSum], cursor: Cursor
    ) -> Block:
        """Where conditions hold: in the test of the same ones that is just before.

        Where they differ between work-items, each test stays one of its own: barriers
        may have to be between.
        """
        last = cursor.block.last_op
        if isinstance(last, IfOp) and self._tests.get(last) == conditions:
            return last.body.block
        block = Block()
        test = _if_op(conditions, block)
        cursor.emit(test, op)
        if self._scope.items.isdisjoint(test.values):
            self._tests[test] = conditions
        return block

    def _bind_views(self, op: BlockOp) -> None:
        for number, refinement in enumerate(op.refinement_list):
            self._scope.views[op.view(number)] = self._window(
                op, number, refinement.aggregation
            )

    def _window(self, op: BlockOp, number: int, aggregation: Aggregation) -> KernelView:
        """What a refinement shows at the values that the indices have."""
        outer = self._scope.views[op.buffer(number)]
        offsets = [start.substitute(self._scope.indices) for start in op.access(number)]
        if outer.part is not None:
            # Every work-item's part begins at its own first cell.
            offsets = [offset.without(self._scope.items) for offset in offsets]
        return outer.moved(offsets, aggregation)

    # Initial values.

    def _initialize(
        self, op: BlockOp, number: int, init: int | float, cursor: Cursor
    ) -> None:
        """Set all cells that a refinement reaches, before the loops of its block."""
        if self._scope.is_uniform:
            raise error_at(
                op,
                "all work-items of a group would set the cells of an output",
                "set them in a block with indices bound to 'group' "
                "(stripe-collect-outputs and stripe-distribute do so)",
            )
        refinement = op.refinement(number)
        reached = {index for form in refinement.access for index in form.support}
        opened: list[SSAValue] = []
        for position, index in enumerate(op.indices):
            if index in self._scope.indices:
                continue
            opened.append(index)
            if position not in reached:
                self._scope.indices[index] = IndexSum()
                continue
            unroll = op.index_bindings[position] is Binding.UNROLL
            extent = op.index_ranges[position]
            cursor = self._scope.open_loop(op, index, extent, unroll, cursor)
        view = self._window(op, number, Aggregation.ASSIGN)
        self._fill(op, view, op.view_type(number), init, cursor)
        # The block's own loops bind these indices anew.
        for index in opened:
            del self._scope.indices[index]

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
        overhangs = any(view.inside(window.sizes, self._scope.extents))
        sizes = window.sizes
        if overhangs or not _is_value(value_type):
            value_type = window.element_type
            offsets: list[IndexSum] = []
            for size in sizes:
                offset = IndexSum()
                if size > 1:
                    cursor, index = self._scope.open_for(op, None, size, False, cursor)
                    offset = IndexSum.value(index)
                offsets.append(offset)
            view, sizes = view.moved(offsets), (1,) * len(sizes)
        conditions = [*view.inside(sizes, self._scope.extents)]
        inner = self._guard_by(op, conditions, cursor)
        if inner is None or 0 in window.sizes:
            return
        number = _number_for(op, init, element_of(value_type))
        constant = ConstantOp(number, value_type)
        inner.emit(constant, op)
        self._statements.store(constant.result, view, inner, op)


def _keep_short(block: Block) -> None:
    """Let a device's compiler make no copies of what runs seldom."""
    for op in block.walk():
        if isinstance(op, ForOp) and op.unroll is None:
            op.limit_unrolling(1)


def _if_op(conditions: Sequence[IndexSum], body: Block) -> IfOp:
    """The op that tests conditions, each over its own values."""
    values = values_of(conditions)
    forms = [condition.form(values) for condition in conditions]
    return IfOp(forms, values, Region(body))


def _is_value(type: Attribute | None) -> TypeGuard[Attribute]:
    """Whether what a window shows is a number or a vector that OpenCL C has."""
    if not isinstance(type, VectorType):
        return type is not None
    return type.get_shape()[0] in VECTOR_LENGTHS


def _number_for(op: BlockOp, number: int | float, element: Attribute) -> int | float:
    """An initial value as the constant of an element type."""
    if kind(element) is Kind.FLOAT or isinstance(number, int):
        return number
    if not number.is_integer():
        raise error_at(op, f"expected an integer to initialize {element}, got {number}")
    return int(number)
