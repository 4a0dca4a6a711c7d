"""Special operations of the `tile` level: shape, coordinate, order, random number."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

from ...dialects.eltwise.element_types import Kind, computation_type, kind
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import element_of
from ...dialects.locations import error_at
from ...dialects.tile.argsort import ArgsortOp
from ...dialects.tile.special import (
    AssertOp,
    IndexOp,
    PrngOp,
    ReshapeOp,
    ShapeOp,
    SimpleReduceOp,
)
from .budget import LEAST
from .dispatch import Step, prepare
from .elements import Array
from .frame import Frame
from .indexed import along

Lanes = npt.NDArray[np.uint32]


@prepare.register(ReshapeOp)
def _prepare_reshape(op: ReshapeOp) -> Step:
    shape = op.result.type.get_shape()

    def step(frame: Frame) -> None:
        frame[op.result] = frame[op.tensor].reshape(shape)

    return step


@prepare.register(SimpleReduceOp)
def _prepare_simple_reduce(op: SimpleReduceOp) -> Step:
    target = op.result.type.get_shape()
    wide = numpy_dtype(computation_type(op.result.type.element_type))

    def step(frame: Frame) -> None:
        values = frame[op.tensor]
        missing = values.ndim - len(target)
        summed = [
            axis
            for axis, size in enumerate(values.shape)
            if axis < missing or (target[axis - missing] == 1 and size != 1)
        ]
        total = np.sum(values, axis=tuple(summed), dtype=wide, keepdims=True)
        frame[op.result] = total.reshape(target).astype(values.dtype)

    return step


@prepare.register(ShapeOp)
def _prepare_shape(op: ShapeOp) -> Step:
    def step(frame: Frame) -> None:
        frame[op.result] = np.array(frame[op.tensor].shape, np.int32)

    return step


@prepare.register(IndexOp)
def _prepare_index(op: IndexOp) -> Step:
    type = op.result.type
    shape = type.get_shape() if isinstance(type, TensorType) else ()
    rank = len(shape)
    axis = op.axis.value.data % rank

    def step(frame: Frame) -> None:
        numbers = along(axis, shape[axis], rank).astype(np.int32)
        frame[op.result] = np.broadcast_to(numbers, shape)

    return step


@prepare.register(AssertOp)
def _prepare_assert(op: AssertOp) -> Step:
    def step(frame: Frame) -> None:
        if not int(frame.array(op.condition)[0]):
            raise error_at(op, f"assertion failure: {op.message.data}")

    return step


@prepare.register(ArgsortOp)
def _prepare_argsort(op: ArgsortOp) -> Step:
    wide = numpy_dtype(computation_type(element_of(op.tensor.type)))
    is_float = kind(element_of(op.tensor.type)) is Kind.FLOAT
    axis = op.options.axis

    def step(frame: Frame) -> None:
        values = frame[op.tensor].astype(wide)
        order = _order(values, axis, op.is_descending)
        if is_float and op.is_descending:
            # Reversed, the NaNs came first.
            chosen = np.take_along_axis(values, order, axis)
            last = np.argsort(np.isnan(chosen), axis, kind="stable")
            order = np.take_along_axis(order, last, axis)
        frame[op.result] = order.astype(np.int32)

    return step


def _order(values: Array, axis: int, descending: bool) -> Array:
    """The stable order along an axis."""
    if not descending:
        return np.argsort(values, axis, kind="stable")
    # Sorting from behind and then reversing keeps equal elements in their order.
    behind = np.argsort(np.flip(values, axis), axis, kind="stable")
    return values.shape[axis] - 1 - np.flip(behind, axis)


@prepare.register(PrngOp)
def _prepare_prng(op: PrngOp) -> Step:
    shape = op.result.type.get_shape()

    def step(frame: Frame) -> None:
        state = frame[op.state]
        lanes = state if len(state) == 3 else state.T
        frame.budget.spend(op, prod(shape) // max(1, lanes.shape[1]) * LEAST)
        numbers, after = random_numbers(lanes, int(np.prod(shape, dtype=np.int64)))
        frame[op.result] = numbers.reshape(shape)
        frame[op.new_state] = after if len(state) == 3 else after.T

    return step


def random_numbers(state: Lanes, count: int) -> tuple[Array, Lanes]:
    """`count` numbers from lanes in turn, and the state of the lanes afterwards.

    The state has shape [3, lanes].
    """
    after = state.copy()
    lanes = state.shape[1]
    drawn: list[Lanes] = []
    for start in range(0, count, lanes):
        active = after[:, : count - start]
        drawn.append(active[0] ^ active[1] ^ active[2])
        active[:] = _next(active)
    integers = np.concatenate([np.zeros(0, np.uint32), *drawn])
    return integers.astype(np.float32) * np.float32(2.0**-32), after


def _next(state: Lanes) -> Lanes:
    """One step of each lane."""
    a, b, c = state
    return np.stack(
        [
            ((a & 4294967294) << 12) ^ (((a << 13) ^ a) >> 19),
            ((b & 4294967288) << 4) ^ (((b << 2) ^ b) >> 25),
            ((c & 4294967280) << 17) ^ (((c << 3) ^ c) >> 11),
        ]
    )
