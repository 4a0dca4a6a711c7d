"""The `eltwise` dialect: functions of the table, constants, casts, broadcasts.

Values are tensors (broadcast by NumPy), or scalars and vectors of many points at once;
the functions need not know which. f16 and bf16 are computed in f32 and rounded after
each op; integers wrap around.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute

from ...dialects.eltwise.ops import (
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.eltwise.table import Function
from .dispatch import execute
from .elements import Array, cast, computation_type, dtype_of, literal
from .frame import Frame


def apply(
    function: Function,
    operands: Sequence[Array],
    elements: Sequence[Attribute],
    result: Attribute,
) -> Array:
    """A function of the table applied to arrays of these element types."""
    wide = [
        cast(operand, element, computation_type(element))
        for operand, element in zip(operands, elements, strict=True)
    ]
    with np.errstate(all="ignore"):
        value = np.asarray(function.evaluate(np, *wide))
        return value.astype(dtype_of(result), copy=False)


@execute.register(ElementwiseOp)
def execute_function(op: ElementwiseOp, frame: Frame) -> None:
    frame[op.result] = apply(
        op.function,
        [frame[argument] for argument in op.arguments],
        [element_of(argument.type) for argument in op.arguments],
        element_of(op.result.type),
    )


@execute.register(ConstantOp)
def execute_constant(op: ConstantOp, frame: Frame) -> None:
    type = op.result.type
    shape: tuple[int, ...] = (frame.count,)
    if isinstance(type, TensorType):
        shape = type.get_shape()
    elif isinstance(type, VectorType):
        shape = (frame.count, *type.get_shape())
    frame[op.result] = np.broadcast_to(literal(op.number, element_of(type)), shape)


@execute.register(CastOp)
def execute_cast(op: CastOp, frame: Frame) -> None:
    source, target = op.argument.type, op.result.type
    value = cast(frame[op.argument], element_of(source), element_of(target))
    if isinstance(target, TensorType):
        # A size, which is a scalar of the one point of a function, becomes a tensor.
        value = value.reshape(target.get_shape())
    frame[op.result] = value


@execute.register(BroadcastOp)
def execute_broadcast(op: BroadcastOp, frame: Frame) -> None:
    (lanes,) = op.result.type.get_shape()
    value = frame[op.argument]
    frame[op.result] = np.broadcast_to(value[:, None], (frame.count, lanes))
