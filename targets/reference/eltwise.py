"""The `eltwise` dialect: functions of the table, constants, casts, broadcasts.

Values are tensors (broadcast by NumPy), or scalars and vectors of many points at once;
the functions need not know which. f16 and bf16 are computed in f32 and rounded after
each op; integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import computation_type
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import (
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.eltwise.shuffle import ShuffleOp
from ...dialects.eltwise.table import Function
from .dispatch import Step, prepare
from .elements import Array, cast, literal
from .frame import Frame


def meaning(
    function: Function, elements: Sequence[Attribute], result: Attribute
) -> Callable[[Sequence[Array]], Array]:
    """A function of the table as a function of arrays of these element types."""
    wide = [numpy_dtype(computation_type(element)) for element in elements]
    dtype = numpy_dtype(result)

    def apply(operands: Sequence[Array]) -> Array:
        with np.errstate(all="ignore"):
            values = [
                operand.astype(wider, copy=False)
                for operand, wider in zip(operands, wide, strict=True)
            ]
            return np.asarray(function.evaluate(np, *values)).astype(dtype, copy=False)

    return apply


@prepare.register(ElementwiseOp)
def _prepare_function(op: ElementwiseOp) -> Step:
    arguments, result = tuple(op.arguments), op.result
    elements = [element_of(argument.type) for argument in arguments]
    apply = meaning(op.function, elements, element_of(result.type))

    def step(frame: Frame) -> None:
        frame[result] = apply([frame.array(argument) for argument in arguments])

    return step


@prepare.register(ConstantOp)
def _prepare_constant(op: ConstantOp) -> Step:
    result = op.result
    declared = result.type
    value = literal(op.number, element_of(declared))
    if isinstance(declared, TensorType):
        tensor = np.full(declared.get_shape(), value)

        def step_of_tensor(frame: Frame) -> None:
            frame[result] = tensor

        return step_of_tensor
    lanes = declared.get_shape() if isinstance(declared, VectorType) else ()

    def step(frame: Frame) -> None:
        frame[result] = np.full((frame.count, *lanes), value)

    return step


@prepare.register(CastOp)
def _prepare_cast(op: CastOp) -> Step:
    argument, result = op.argument, op.result
    source, target = element_of(argument.type), element_of(result.type)
    # A size, a scalar of the one point of a function, may become a tensor.
    tensor = result.type.get_shape() if isinstance(result.type, TensorType) else None

    def step(frame: Frame) -> None:
        value = cast(frame.array(argument), source, target)
        frame[result] = value if tensor is None else value.reshape(tensor)

    return step


@prepare.register(BroadcastOp)
def _prepare_broadcast(op: BroadcastOp) -> Step:
    argument, result = op.argument, op.result
    (lanes,) = result.type.get_shape()

    def step(frame: Frame) -> None:
        frame[result] = np.repeat(frame[argument][:, None], lanes, axis=1)

    return step


@prepare.register(BitcastOp)
def _prepare_bitcast(op: BitcastOp) -> Step:
    argument, result = op.argument, op.result
    dtype = numpy_dtype(element_of(result.type))

    def step(frame: Frame) -> None:
        frame[result] = np.ascontiguousarray(frame.array(argument)).view(dtype)

    return step


@prepare.register(ShuffleOp)
def _prepare_shuffle(op: ShuffleOp) -> Step:
    arguments, result = tuple(op.arguments), op.result
    lanes = np.array(op.lanes)
    is_scalar = not isinstance(result.type, VectorType)

    def step(frame: Frame) -> None:
        operands = [frame[argument] for argument in arguments]
        rows = [o if o.ndim == 2 else o[:, None] for o in operands]
        value = np.concatenate(rows, axis=1)[:, lanes]
        frame[result] = value[:, 0] if is_scalar else value

    return step
