"""Softmax and its relatives, along an axis."""

from __future__ import annotations

from ..edsl.functions import exp, log, select
from ..edsl.tensors import Tensor
from .axes import axis_of, sizes_of
from .contractions import MAX, SUM
from .creation import places
from .operation import TensorLike, as_tensor, operation
from .reductions import argmax, reduced

__all__ = ["hardmax", "log_softmax", "softmax"]


@operation
def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """`exp(x)` over its sum along an axis, as ONNX's and torch's softmax.

    The greatest of each row is subtracted first, so that nothing overflows.
    """
    x = as_tensor(x)
    axis_of(x, axis)
    power = exp(x - reduced(x, MAX, axis, True))
    return power / reduced(power, SUM, axis, True)


@operation
def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`, finite where that is 0, as ONNX's and torch's."""
    x = as_tensor(x)
    axis_of(x, axis)
    shifted = x - reduced(x, MAX, axis, True)
    return shifted - log(reduced(exp(shifted), SUM, axis, True))


@operation
def hardmax(x: TensorLike, axis: int = -1) -> Tensor:
    """1 where the first largest element along an axis stands, else 0, as ONNX's."""
    x = as_tensor(x)
    place = axis_of(x, axis)
    size = sizes_of(x)[place]
    largest = argmax(x, place, keepdims=True)
    return select(places(x.ndim, place, size) == largest, 1.0, 0.0)
