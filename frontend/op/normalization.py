"""Normalization: by means and variances of layers, batches, groups, neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from ..edsl.float_functions import rsqrt
from ..edsl.functions import pow as power
from ..edsl.functions import sqrt
from ..edsl.indices import Constraint
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import (
    Axes,
    axes_of,
    axis_of,
    indices,
    known_size,
    replaced,
    require_rank,
    require_size,
    sizes_of,
)
from .choice import maximum
from .contractions import SUM, contract
from .operation import TensorLike, as_tensor, operation
from .reductions import mean, norm, sum_of_squares

__all__ = [
    "batch_norm",
    "batch_norm_training",
    "group_norm",
    "instance_norm",
    "l2_normalize",
    "layer_norm",
    "local_response_norm",
    "mean_variance_normalization",
    "normalize",
    "rms_norm",
]


def _standardized(x: Tensor, axes: Axes, epsilon: float) -> Tensor:
    """`x` with mean 0 and variance 1 along axes."""
    distance = x - mean(x, axes, keepdims=True)
    variance = mean(distance * distance, axes, keepdims=True)
    return distance * rsqrt(variance + epsilon)


def _scaled(x: Tensor, weight: TensorLike, bias: TensorLike) -> Tensor:
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


@operation
def layer_norm(
    x: TensorLike,
    weight: TensorLike = None,
    bias: TensorLike = None,
    axis: int = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 along the last axes, from `axis` on, as ONNX's.

    torch's layer_norm says the sizes of these axes instead. Weight and bias broadcast
    to x.
    """
    x = as_tensor(x)
    axes = range(axis_of(x, axis), x.ndim)
    return _scaled(_standardized(x, axes, epsilon), weight, bias)


@operation
def rms_norm(
    x: TensorLike, weight: TensorLike = None, axis: int = -1, epsilon: float = 1e-5
) -> Tensor:
    """`x` over the root of its mean square along the last axes, as torch's rms_norm.

    The axes are those from `axis` on; the weight broadcasts to x.
    """
    x = as_tensor(x)
    axes = range(axis_of(x, axis), x.ndim)
    return _scaled(x * rsqrt(mean(x * x, axes, keepdims=True) + epsilon), weight, None)


def _per_channel(x: Tensor, value: TensorLike, axis: int, what: str) -> TensorLike:
    """What each channel has, in a shape that broadcasts to x."""
    if value is None:
        return None
    value = as_tensor(value)
    require_rank(value, 1, what)
    channels = sizes_of(x)[axis]
    require_size(value, 0, channels, "the channels of x")
    return value.reshape(*replaced([1] * x.ndim, axis, channels))


@operation
def batch_norm(
    x: TensorLike,
    running_mean: TensorLike,
    running_var: TensorLike,
    weight: TensorLike = None,
    bias: TensorLike = None,
    epsilon: float = 1e-5,
    axis: int = 1,
) -> Tensor:
    """`(x - mean) / sqrt(var + epsilon) * weight + bias` for each channel.

    As torch's batch_norm and ONNX's BatchNormalization do outside of training. All four
    have shape [C]; `axis` is that of the channels.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    scale: Tensor = rsqrt(as_tensor(running_var) + epsilon)
    if weight is not None:
        scale = scale * weight
    scale = as_tensor(_per_channel(x, scale, place, "the variance"))
    centre = as_tensor(_per_channel(x, running_mean, place, "the mean"))
    return _scaled((x - centre) * scale, None, _per_channel(x, bias, place, "the bias"))


@operation
def batch_norm_training(
    x: TensorLike,
    weight: TensorLike = None,
    bias: TensorLike = None,
    epsilon: float = 1e-5,
    axis: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean 0 and variance 1 of each channel, and the mean and variance themselves.

    As torch's batch_norm does in training; the variance is that of all elements, not
    of a sample, and both have shape [C]. `axis` is that of the channels.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    others = [each for each in range(x.ndim) if each != place]
    centre = mean(x, others, keepdims=True)
    distance = x - centre
    variance = mean(distance * distance, others, keepdims=True)
    weight = _per_channel(x, weight, place, "the weight")
    bias = _per_channel(x, bias, place, "the bias")
    result = _scaled(distance * rsqrt(variance + epsilon), weight, bias)
    channels = sizes_of(x)[place]
    return result, centre.reshape(channels), variance.reshape(channels)


@operation
def instance_norm(
    x: TensorLike,
    weight: TensorLike = None,
    bias: TensorLike = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 of each channel of each image, as ONNX's and torch's.

    x has shape [N, C, spatial..], weight and bias [C].
    """
    x = as_tensor(x)
    if x.ndim < 3:
        raise error(f"expected images of at least 3 axes, got {x.ndim}")
    weight = _per_channel(x, weight, 1, "the weight")
    bias = _per_channel(x, bias, 1, "the bias")
    return _scaled(_standardized(x, range(2, x.ndim), epsilon), weight, bias)


@operation
def group_norm(
    x: TensorLike,
    num_groups: int,
    weight: TensorLike = None,
    bias: TensorLike = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 of groups of channels of each image, as torch's group_norm.

    x has shape [N, C, spatial..], weight and bias [C].
    """
    x = as_tensor(x)
    if x.ndim < 2:
        raise error(f"expected at least 2 axes, got {x.ndim}")
    sizes = sizes_of(x)
    number = known_size(sizes[1])
    if num_groups < 1 or (number is not None and number % num_groups):
        raise error(f"{number} channels cannot be divided into {num_groups} groups")
    groups = x.reshape(sizes[0], num_groups, sizes[1] // num_groups, *sizes[2:])
    result = _standardized(groups, range(2, groups.ndim), epsilon).reshape(*sizes)
    weight = _per_channel(x, weight, 1, "the weight")
    return _scaled(result, weight, _per_channel(x, bias, 1, "the bias"))


@operation
def mean_variance_normalization(
    x: TensorLike, axes: Axes = (0, 2, 3), epsilon: float = 1e-9
) -> Tensor:
    """Mean 0 and variance 1 along axes, as ONNX's MeanVarianceNormalization.

    `(x - mean) / (sqrt(variance) + epsilon)`; PlaidML calls it mvn.
    """
    x = as_tensor(x)
    chosen = axes_of(x, axes)
    distance = x - mean(x, chosen, keepdims=True)
    deviation = sqrt(mean(distance * distance, chosen, keepdims=True))
    return distance / (deviation + epsilon)


@operation
def normalize(
    x: TensorLike, p: float = 2.0, axis: int = 1, epsilon: float = 1e-12
) -> Tensor:
    """`x` over its p-norm along an axis, at least epsilon, as torch's normalize."""
    x = as_tensor(x)
    return x / maximum(norm(x, p, axis_of(x, axis), keepdims=True), epsilon)


@operation
def l2_normalize(x: TensorLike, axis: int = -1, epsilon: float = 1e-12) -> Tensor:
    """`x` over its 2-norm along an axis, as Keras's l2_normalize.

    The sum of squares is at least epsilon.
    """
    x = as_tensor(x)
    squares = sum_of_squares(x, axis_of(x, axis), keepdims=True)
    return x * rsqrt(maximum(squares, epsilon))


@operation
def local_response_norm(
    x: TensorLike,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
    axes: int | Sequence[int] = 1,
) -> Tensor:
    """`x / (bias + alpha * s) ** beta`, s the mean square of neighbouring channels.

    As ONNX's LRN and torch's local_response_norm. There are `size` neighbours, the
    channel itself among them, and those beyond the first and last are zeros. `axes` may
    name others than the channels, or several, as in PlaidML's lrn.
    """
    x = as_tensor(x)
    chosen, sizes, target = axes_of(x, axes), sizes_of(x), indices(x.ndim)
    if size < 1:
        raise error(f"expected at least one neighbour, got {size}")
    before = (size - 1) // 2
    taps = indices(len(chosen))
    source = list(target)
    constraints = list[Constraint]()
    for axis, tap in zip(chosen, taps, strict=True):
        source = replaced(source, axis, target[axis] + tap - before)
        constraints.append(tap < size)
    squares = contract(SUM, sizes, target, (x * x)[tuple(source)], constraints)
    scale = squares * (alpha / size ** len(chosen)) + bias
    return x / power(scale, beta)
