"""Normalizations, of batches, layers and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import op
from ..edsl.float_functions import rsqrt
from ..edsl.tensors import Tensor
from .reductions import variance_of
from .rows import Call, row, sizes_of


@row(
    "aten._native_batch_norm_legit_no_training.default",
    "aten._native_batch_norm_legit_functional.default",
)
def batch_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_variance: Tensor,
    *options: Any,
) -> tuple[Tensor | None, ...]:
    """Each channel with mean 0 and variance 1, those of the batch or those kept."""
    *is_training, momentum, epsilon = options
    if not (is_training and is_training[0]):
        scale = rsqrt(running_variance + epsilon)
        result = _channelwise(x, running_mean, scale, weight, bias)
        return result, None, None
    mean, variance, scale = _statistics(x, epsilon)
    count = float(_product(sizes_of(x)[axis] for axis in _but_channels(x)))
    unbiased = variance * (count / max(count - 1, 1.0))
    return (
        _channelwise(x, mean, scale, weight, bias),
        mean,
        scale,
        running_mean * (1 - momentum) + mean * momentum,
        running_variance * (1 - momentum) + unbiased * momentum,
    )


@row("aten._native_batch_norm_legit.no_stats")
def batch_norm_of_batch(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    is_training: bool,
    momentum: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `batch_norm`, always with the mean and variance of the batch."""
    mean, _, scale = _statistics(x, epsilon)
    return _channelwise(x, mean, scale, weight, bias), mean, scale


def _statistics(x: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """The mean and variance of each channel, and one over its root."""
    axes = _but_channels(x)
    variance = variance_of(x, axes, 0, False)
    return op.mean(x, axes), variance, rsqrt(variance + epsilon)


def _but_channels(x: Tensor) -> list[int]:
    return [0, *range(2, x.ndim)]


def _channelwise(
    x: Tensor,
    mean: Tensor,
    scale: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
) -> Tensor:
    """`(x - mean) * scale * weight + bias`, by channels."""
    factor = scale if weight is None else scale * weight
    shift = -mean * factor if bias is None else bias - mean * factor
    return x * _by_channel(factor, x) + _by_channel(shift, x)


def _by_channel(values: Tensor, x: Tensor) -> Tensor:
    return values.reshape(sizes_of(values)[0], *[1] * (x.ndim - 2))


def _product(sizes: Any) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


@row("aten.native_layer_norm.default")
def layer_norm(
    call: Call,
    x: Tensor,
    shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The last axes with mean 0 and variance 1, times a weight, and a bias added."""
    axes = [*range(x.ndim - len(shape), x.ndim)]
    mean = op.mean(x, axes, keepdims=True)
    distance = x - mean
    variance = op.mean(distance * distance, axes, keepdims=True)
    scale = rsqrt(variance + epsilon)
    result = distance * scale
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result, mean, scale


@row("aten.native_group_norm.default")
def group_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    count: int,
    channels: int,
    area: int,
    groups: int,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Each group of channels with mean 0 and variance 1, times a weight, and a bias."""
    sizes = sizes_of(x)
    grouped = x.reshape(count, groups, channels // groups, area)
    mean = op.mean(grouped, [2, 3], keepdims=True)
    distance = grouped - mean
    variance = op.mean(distance * distance, [2, 3], keepdims=True)
    scale = rsqrt(variance + epsilon)
    result = (distance * scale).reshape(*sizes)
    if weight is not None:
        result = result * _by_channel(weight, x)
    if bias is not None:
        result = result + _by_channel(bias, x)
    return result, mean.reshape(count, groups), scale.reshape(count, groups)
