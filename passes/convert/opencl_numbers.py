"""Whether what a work-item has in private memory are numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.ops import FUNCTION_OPS, ConstantOp, element_of
from ...dialects.eltwise.shuffle import ShuffleOp, lane_count
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.memory import ArrayOp, LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace
from ...dialects.stripe.block import BlockOp
from .opencl_scope import Cursor, KernelScope


def any_nan(
    array: ArrayOp, scope: KernelScope, cursor: Cursor, origin: BlockOp
) -> SSAValue:
    """Whether a cell of an array of floats is NaN or infinite, of type i1.

    A cell times 0 is 0 but for these, and so is the sum of all.
    """
    type = array.pointer.type.element_type
    total = ArrayOp(1, PointerType.of(type, MemorySpace.PRIVATE))
    total.pointer.name_hint = "total"
    zero = ConstantOp(0.0, type)
    for op in (total, zero, StoreOp(zero.result, total.pointer, *IndexSum().as_form())):
        cursor.emit(op, origin)
    length = array.length.value.data
    step, index = scope.open_for(origin, "cell", length, True, cursor)
    cell = _load(array, IndexSum.value(index), step, origin)
    product = _apply("mul", cell, zero.result, type, step, origin)
    sum = _load(total, IndexSum(), step, origin)
    sum = _apply("add", sum, product, type, step, origin)
    step.emit(StoreOp(sum, total.pointer, *IndexSum().as_form()), origin)
    sum = _load(total, IndexSum(), cursor, origin)
    lanes = [sum]
    if lane_count(sum) > 1:
        shuffles = [ShuffleOp([sum], [lane]) for lane in range(lane_count(sum))]
        for shuffle in shuffles:
            cursor.emit(shuffle, origin)
        lanes = [shuffle.result for shuffle in shuffles]
    first, *others = lanes
    for lane in others:
        first = _apply("add", first, lane, element_of(type), cursor, origin)
    return _apply("cmp_ne", first, first, i1, cursor, origin)


def _load(array: ArrayOp, place: IndexSum, cursor: Cursor, origin: BlockOp) -> SSAValue:
    load = LoadOp(array.pointer, *place.as_form(), array.pointer.type.element_type)
    cursor.emit(load, origin)
    return load.result


def _apply(
    function: str,
    left: SSAValue,
    right: SSAValue,
    type: Attribute,
    cursor: Cursor,
    origin: BlockOp,
) -> SSAValue:
    op = FUNCTION_OPS[function].build_typed([left, right], type)
    cursor.emit(op, origin)
    return op.result
