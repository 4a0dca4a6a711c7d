"""The statements of a block's points as ops of a kernel."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.eltwise.shuffle import ShuffleOp
from ...dialects.eltwise.table import TypeRule
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.data_ops import IndexOp as KernelIndexOp
from ...dialects.opencl.data_ops import PositionOp, WhenOp
from ...dialects.opencl.functions import CallOp, FunctionOp
from ...dialects.opencl.memory import ArrayOp
from ...dialects.opencl.memory import LoadOp as KernelLoadOp
from ...dialects.opencl.memory import StoreOp as KernelStoreOp
from ...dialects.stripe.attributes import MemorySpace, ViewType
from ...dialects.stripe.ops import AllocOp, IndexOp, LoadOp, StoreOp
from ...dialects.stripe.subscripts import Subscript
from ..locations import error_at, located, not_lowered
from .opencl_scope import Cursor, KernelScope, nested
from .opencl_view import KernelView
from .private_parts import private_part


class StatementLowering:
    """Lowers all statements but nested blocks."""

    def __init__(self, scope: KernelScope) -> None:
        self._scope = scope

    def lower(self, op: Operation, cursor: Cursor) -> None:
        """Add what a statement becomes at the cursor."""
        match op:
            case AllocOp():
                self._allocate(op, cursor)
            case IndexOp():
                self._number(op, cursor)
            case LoadOp():
                view = self._place(op, op.result.type, cursor)
                load = self.load(view, op.result.type, cursor, op)
                self._scope.values[op.result] = load
                load.name_hint = op.result.name_hint
            case StoreOp():
                self._aggregate(op, cursor)
            case (
                ElementwiseOp()
                | ConstantOp()
                | CastOp()
                | BroadcastOp()
                | ShuffleOp()
                | CallOp()
            ):
                self._compute(op, cursor)
            case _:
                message = "{} has no form in the opencl dialect"
                raise not_lowered(op, message, ("eltwise", "stripe"))

    def load(
        self, view: KernelView, type: Attribute, cursor: Cursor, op: Operation
    ) -> SSAValue:
        """Load what is at the start of a window."""
        load = KernelLoadOp(view.pointer, *view.position.as_form(), type)
        cursor.emit(load, op)
        return load.result

    def store(
        self, value: SSAValue, view: KernelView, cursor: Cursor, op: Operation
    ) -> None:
        """Store a value at the start of a window, whatever the view's aggregation."""
        store = KernelStoreOp(value, view.pointer, *view.position.as_form())
        cursor.emit(store, op)

    def _allocate(self, op: AllocOp, cursor: Cursor) -> None:
        type = op.view.type
        space = type.space.data
        if space is MemorySpace.GLOBAL:
            raise error_at(
                op,
                "a block allocates global memory",
                "kernels have private and local memory; move it to the function",
            )
        is_shared = self._scope.is_uniform
        if space is MemorySpace.LOCAL and (self._scope.in_subgroup or not is_shared):
            self._check_alone(op)
        is_divided = space is MemorySpace.PRIVATE and is_shared
        part = private_part(op) if is_divided else None
        sizes = type.sizes if part is None else part.sizes
        pointer = PointerType.of(type.element_type, space)
        array = located(ArrayOp(prod(sizes), pointer), op)
        array.pointer.name_hint = op.view.name_hint
        entry = self._scope.entry
        if space is MemorySpace.LOCAL and entry.first_op is not None:
            # A kernel declares local arrays outside of all loops.
            entry.insert_op_before(array, entry.first_op)
        else:
            cursor.block.add_op(array)
        view = KernelView.whole(array.pointer, type)
        self._scope.views[op.view] = replace(view, shape=sizes, part=part)

    def _check_alone(self, op: AllocOp) -> None:
        """Refuse local memory of a point that is one of several work-items."""
        if prod(self._scope.group_size) > 1:
            raise error_at(
                op,
                "each point has its own allocation, but the work-items of a group "
                "share local memory",
                "allocate private memory, or allocate it outside of the blocks with "
                "indices bound to work-items",
            )

    def _number(self, op: IndexOp, cursor: Cursor) -> None:
        form, values = op.sum.substitute(self._scope.indices).as_form()
        number = KernelIndexOp(form, values, op.result.type, op.lane_step)
        number.result.name_hint = op.result.name_hint
        cursor.emit(number, op)
        self._scope.values[op.result] = number.result

    def _place(
        self, op: LoadOp | StoreOp, value: Attribute, cursor: Cursor
    ) -> KernelView:
        """The window of what is accessed, in the window that the op names."""
        view = self._scope.views[op.view]
        if op.subscripts is None:
            return view
        window = op.view.type
        sizes = list(window.sizes) if isinstance(window, ViewType) else []
        if isinstance(value, VectorType) and value != view.element:
            sizes[-1] -= value.get_shape()[0] - 1
        offsets = [
            self._offset(op, subscript, count, cursor)
            for subscript, count in zip(op.subscripts, sizes, strict=True)
        ]
        return view.moved(offsets, view.aggregation)

    def _offset(
        self, op: LoadOp | StoreOp, subscript: Subscript, count: int, cursor: Cursor
    ) -> IndexSum:
        """A subscript, which has one of `count` values."""
        if isinstance(subscript, int):
            return IndexSum((), subscript)
        if count == 1:
            return IndexSum()
        number = self._scope.operand(subscript, op, cursor)
        position = PositionOp(number, count)
        position.result.name_hint = subscript.name_hint
        cursor.emit(position, op)
        self._scope.extents[position.result] = count
        return IndexSum.value(position.result)

    def _aggregate(self, op: StoreOp, cursor: Cursor) -> None:
        if self._scope.is_uniform:
            raise error_at(
                op,
                "all work-items of a group would run this store",
                "store in a block with indices bound to 'group'",
            )
        if op.condition is not None:
            condition = self._scope.operand(op.condition, op, cursor)
            region, inner = nested(cursor)
            cursor.emit(WhenOp(condition, region), op)
            cursor = inner
        value = self._scope.operand(op.value, op, cursor)
        view = self._place(op, value.type, cursor)
        function = view.aggregation.function
        if function is not None:
            before = self.load(view, value.type, cursor, op)
            before.name_hint = view.pointer.name_hint
            call = value.owner
            if isinstance(call, CallOp) and _accumulates(call, op, view.aggregation):
                # It does that itself: it is handed what was there.
                _hand_on(before, call)
            else:
                operands = [before, value]
                if FUNCTION_OPS[function].FUNCTION.rule is TypeRule.SAME:
                    # A selection is written so that it waits for the second only.
                    operands.reverse()
                combine = FUNCTION_OPS[function].build_typed(operands, value.type)
                cursor.emit(combine, op)
                value = combine.result
        self.store(value, view, cursor, op)

    def _compute(self, op: Operation, cursor: Cursor) -> None:
        operands = {
            operand: self._scope.operand(operand, op, cursor) for operand in op.operands
        }
        copy = op.clone(operands)
        copy.location = op.location
        cursor.block.add_op(copy)
        self._scope.values[op.results[0]] = copy.results[0]


def _hand_on(before: SSAValue, call: CallOp) -> None:
    """Let a call aggregate into what was there, which is loaded by now."""
    identity = call.arguments[-1].owner
    block = call.parent
    if block is not None:
        call.detach()
        call.operands[len(call.operands) - 1] = before
        block.add_op(call)
    if isinstance(identity, ConstantOp) and identity.result.first_use is None:
        identity.detach()


def _accumulates(call: CallOp, store: StoreOp, aggregation: Aggregation) -> bool:
    """Whether what is called aggregates as a store does, into nothing so far."""
    function = SymbolTable.lookup_symbol(store, call.callee)
    if not isinstance(function, FunctionOp) or function.accumulates is None:
        return False
    if function.accumulates.data is not aggregation or not store.value.has_one_use():
        return False
    before = call.arguments[-1].owner
    identity = aggregation.identity(element_of(call.result.type))
    return isinstance(before, ConstantOp) and before.number == identity
