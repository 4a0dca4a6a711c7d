"""Activations: functions of each element that networks put behind their products."""

from __future__ import annotations

import math

from ..edsl.float_functions import clamp, expm1, log1p
from ..edsl.functions import (
    abs,
    erf,
    exp,
    max,
    min,
    relu,
    select,
    sigmoid,
    tanh,
)
from ..edsl.tensors import Tensor
from .axes import axis_of, require_choice, sizes_of
from .joining import split
from .operation import TensorLike, as_tensor, operation

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hardshrink",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_sigmoid",
    "mish",
    "prelu",
    "quick_gelu",
    "relu",
    "relu6",
    "selu",
    "shrink",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanh",
    "tanhshrink",
    "thresholded_relu",
]

_SELU_ALPHA, _SELU_GAMMA = 1.6732632423543772, 1.0507009873554805


@operation
def leaky_relu(x: TensorLike, alpha: float = 0.01) -> Tensor:
    """`x`, or `alpha * x` where it is negative, as ONNX's LeakyRelu.

    torch calls alpha negative_slope.
    """
    x = as_tensor(x)
    return select(x < 0, x * alpha, x)


@operation
def prelu(x: TensorLike, slope: TensorLike) -> Tensor:
    """`x`, or `slope * x` where it is negative, as ONNX's PRelu.

    The slope broadcasts to x. torch has one for each channel: give it as [C, 1, 1].
    """
    x = as_tensor(x)
    return select(x < 0, x * slope, x)


@operation
def relu6(x: TensorLike) -> Tensor:
    """`x` limited to the range from 0 to 6, as torch's relu6."""
    return clamp(as_tensor(x), 0, 6)


@operation
def thresholded_relu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """`x` where it is more than alpha, else 0, as ONNX's ThresholdedRelu."""
    x = as_tensor(x)
    return select(x > alpha, x, 0)


@operation
def hardtanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`x` limited to a range, as torch's hardtanh."""
    return clamp(as_tensor(x), min_val, max_val)


@operation
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x, or `alpha * (exp(x) - 1)` where it is not positive, as ONNX's and torch's."""
    x = as_tensor(x)
    return select(x > 0, x, expm1(min(x, 0.0)) * alpha)


@operation
def selu(
    x: TensorLike, alpha: float = _SELU_ALPHA, gamma: float = _SELU_GAMMA
) -> Tensor:
    """`gamma * elu(x, alpha)`, as ONNX's and torch's selu."""
    return elu(x, alpha) * gamma


@operation
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """x, or `alpha * (exp(x / alpha) - 1)` where it is not positive, as torch's."""
    x = as_tensor(x)
    return select(x > 0, x, expm1(min(x, 0.0) / alpha) * alpha)


@operation
def gelu(x: TensorLike, approximate: str = "none") -> Tensor:
    """`x * P(X < x)` for a normal X, as torch's gelu.

    By the error function, or with `approximate="tanh"` by the hyperbolic tangent.
    """
    x = as_tensor(x)
    require_choice(approximate, ("none", "tanh"), "approximate")
    if approximate == "none":
        return x * 0.5 * (erf(x * math.sqrt(0.5)) + 1.0)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (tanh(inner) + 1.0)


@operation
def quick_gelu(x: TensorLike, alpha: float = 1.702) -> Tensor:
    """`x * sigmoid(alpha * x)`, as in CLIP and ONNX Runtime's QuickGelu."""
    x = as_tensor(x)
    return x * sigmoid(x * alpha)


@operation
def silu(x: TensorLike) -> Tensor:
    """`x * sigmoid(x)`, as torch's silu; also called swish."""
    x = as_tensor(x)
    return x * sigmoid(x)


@operation
def swish(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """`x * sigmoid(alpha * x)`, as ONNX's Swish."""
    return quick_gelu(x, alpha)


@operation
def mish(x: TensorLike) -> Tensor:
    """`x * tanh(softplus(x))`, as ONNX's and torch's mish."""
    x = as_tensor(x)
    return x * tanh(softplus(x))


@operation
def hard_sigmoid(x: TensorLike, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """`alpha * x + beta` limited to the range from 0 to 1, as ONNX's HardSigmoid.

    torch's hardsigmoid has alpha 1/6.
    """
    return clamp(as_tensor(x) * alpha + beta, 0.0, 1.0)


@operation
def hardswish(x: TensorLike) -> Tensor:
    """`x * hard_sigmoid(x, 1/6)`, as ONNX's HardSwish and torch's hardswish."""
    x = as_tensor(x)
    return x * hard_sigmoid(x, 1 / 6)


@operation
def softplus(x: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`, as torch's softplus.

    Where `beta * x` is more than the threshold, x itself.
    """
    x = as_tensor(x)
    scaled = x if beta == 1.0 else x * beta
    # Of -abs(x), as the power of a large number would overflow.
    smooth = max(scaled, 0.0) + log1p(exp(-abs(scaled)))
    return select(scaled > threshold, x, smooth if beta == 1.0 else smooth / beta)


@operation
def softsign(x: TensorLike) -> Tensor:
    """`x / (1 + abs(x))`, as ONNX's and torch's softsign."""
    x = as_tensor(x)
    return x / (abs(x) + 1.0)


@operation
def log_sigmoid(x: TensorLike) -> Tensor:
    """`log(sigmoid(x))`, also where that is small, as torch's logsigmoid."""
    x = as_tensor(x)
    return min(x, 0.0) - log1p(exp(-abs(x)))


@operation
def hardshrink(x: TensorLike, lambd: float = 0.5) -> Tensor:
    """0 within a distance of 0, else x, as torch's hardshrink."""
    x = as_tensor(x)
    return select(abs(x) > lambd, x, 0)


@operation
def softshrink(x: TensorLike, lambd: float = 0.5) -> Tensor:
    """`x` nearer to 0 by a distance, or 0, as torch's softshrink."""
    return shrink(x, lambd, lambd)


@operation
def shrink(x: TensorLike, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """`x` nearer to 0 by the bias where it is farther than lambd, else 0, as ONNX's."""
    x = as_tensor(x)
    return select(x > lambd, x - bias, select(x < -lambd, x + bias, 0))


@operation
def tanhshrink(x: TensorLike) -> Tensor:
    """`x - tanh(x)`, as torch's tanhshrink."""
    x = as_tensor(x)
    return x - tanh(x)


@operation
def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second, as torch's glu."""
    x = as_tensor(x)
    size = sizes_of(x)[axis_of(x, axis)]
    first, second = split(x, [size // 2, size // 2], axis)
    return first * sigmoid(second)
