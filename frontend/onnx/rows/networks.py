"""Convolutions, pooling, normalisations and activations of neural networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ....errors import GinghamError
from ... import op
from ...edsl.functions import ident, select
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator
from .shapes import positions


def padding_of(node: Node, count: int) -> Any:
    """What lies around an image with so many spatial axes."""
    name = node.attribute("auto_pad", "NOTSET")
    if name in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        return name
    if name != "NOTSET":
        raise GinghamError(f"there is no auto_pad '{name}'")
    pads = node.attribute("pads") or [0] * (2 * count)
    return [*zip(pads[:count], pads[count:], strict=True)]


@operator("Conv")
def convolution(node: Node) -> Tensor:
    """A convolution."""
    count = node.rank(0) - 2
    return op.conv(
        node[0],
        node[1],
        node.optional(2),
        stride=node.attribute("strides") or 1,
        padding=padding_of(node, count),
        dilation=node.attribute("dilations") or 1,
        groups=node.attribute("group", 1),
    )


@operator("ConvTranspose")
def transposed_convolution(node: Node) -> Tensor:
    """The transpose of a convolution."""
    count = node.rank(0) - 2
    return op.conv_transpose(
        node[0],
        node[1],
        node.optional(2),
        stride=node.attribute("strides") or 1,
        padding=padding_of(node, count),
        output_padding=node.attribute("output_padding") or 0,
        dilation=node.attribute("dilations") or 1,
        groups=node.attribute("group", 1),
        output_shape=node.attribute("output_shape"),
    )


@operator("DeformConv")
def deformed_convolution(node: Node) -> Tensor:
    """A convolution whose elements are read beside their places."""
    if node.rank(0) != 4:
        raise Unsupported("a number of spatial axes other than 2")
    return op.deform_conv(
        node[0],
        node[1],
        node[2],
        node.optional(3),
        node.optional(4),
        node.attribute("strides") or 1,
        padding_of(node, 2),
        node.attribute("dilations") or 1,
        node.attribute("group", 1),
        node.attribute("offset_group", 1),
    )


def _windows(node: Node) -> dict[str, Any]:
    count = node.rank(0) - 2
    return {
        "kernel_size": node.attribute("kernel_shape"),
        "stride": node.attribute("strides") or 1,
        "padding": padding_of(node, count),
        "dilation": node.attribute("dilations") or 1,
        "ceil_mode": bool(node.attribute("ceil_mode", 0)),
    }


@operator("MaxPool")
def max_pool(node: Node) -> Tensor | Sequence[Tensor]:
    """The largest element of each window, and where it stands."""
    if not node.wants(1):
        return op.max_pool(node[0], **_windows(node))
    if node.attribute("storage_order", 0):
        raise Unsupported("positions in the order of columns")
    largest, places = op.max_pool_with_indices(node[0], **_windows(node))
    batch, channels, *sizes = node.shape(0)
    each = 1
    for size in sizes:
        each *= size
    planes = op.arange(batch * channels, dtype="int64").reshape(
        batch, channels, *[1] * len(sizes)
    )
    return largest, cast(places, "int64") + planes * each


@operator("MaxUnpool", known=(2,))
def max_unpool(node: Node) -> Tensor:
    """The largest element of each window where it stood, among zeros."""
    *outer, rank = *node.shape(0)[:2], node.rank(0) - 2
    kernel: Sequence[int] = node.attribute("kernel_shape")
    strides: Sequence[int] = node.attribute("strides") or [1] * rank
    pads: Sequence[int] = node.attribute("pads") or [0] * (2 * rank)
    sizes = [
        (size - 1) * stride + length - before - behind
        for size, stride, length, before, behind in zip(
            node.shape(0)[2:], strides, kernel, pads[:rank], pads[rank:], strict=True
        )
    ]
    flat = op.scatter_elements(
        op.zeros(prod([*outer, *sizes]), node.dtype(0)),
        op.flatten(positions(node, 1)),
        op.flatten(node[0]),
    )
    result = flat.reshape(*outer, *sizes)
    wanted = node.integers(2)[2:] if node.has(2) else sizes
    behind = [(0, more - size) for more, size in zip(wanted, sizes, strict=True)]
    return op.pad(result, [(0, 0), (0, 0), *behind])


@operator("AveragePool")
def average_pool(node: Node) -> Tensor:
    """The mean of each window."""
    counted = bool(node.attribute("count_include_pad", 0))
    return op.avg_pool(node[0], count_include_pad=counted, **_windows(node))


@operator("LpPool")
def norm_pool(node: Node) -> Tensor:
    """The p-norm of each window."""
    return op.lp_pool(node[0], p=node.attribute("p", 2), **_windows(node))


@operator("GlobalAveragePool")
def global_average(node: Node) -> Tensor:
    """The mean of each image."""
    return op.global_avg_pool(node[0])


@operator("GlobalMaxPool")
def global_max(node: Node) -> Tensor:
    """The largest element of each image."""
    return op.global_max_pool(node[0])


@operator("GlobalLpPool")
def global_norm(node: Node) -> Tensor:
    """The p-norm of each image."""
    return op.global_lp_pool(node[0], node.attribute("p", 2))


# Normalisations


@operator("BatchNormalization")
def batch_norm(node: Node) -> Tensor | Sequence[Tensor]:
    """Each channel with the mean and variance that are given, or its own."""
    epsilon = node.attribute("epsilon", 1e-5)
    x, scale, bias, mean, variance = (node[n] for n in range(5))
    if not node.attribute("training_mode", 0):
        return op.batch_norm(x, mean, variance, scale, bias, epsilon)
    momentum = node.attribute("momentum", 0.9)
    y, own_mean, own_variance = op.batch_norm_training(x, scale, bias, epsilon)
    return (
        y,
        mean * momentum + own_mean * (1 - momentum),
        variance * momentum + own_variance * (1 - momentum),
    )


@operator("InstanceNormalization")
def instance_norm(node: Node) -> Tensor:
    """Mean 0 and variance 1 of each channel of each image."""
    epsilon = node.attribute("epsilon", 1e-5)
    return op.instance_norm(node[0], node[1], node[2], epsilon)


@operator("GroupNormalization")
def group_norm(node: Node) -> Tensor:
    """Mean 0 and variance 1 of groups of channels of each image."""
    if node.opset < 21:
        raise Unsupported("weights of groups")
    groups, epsilon = node.attribute("num_groups"), node.attribute("epsilon", 1e-5)
    return op.group_norm(node[0], groups, node[1], node[2], epsilon)


@operator("LayerNormalization")
def layer_norm(node: Node) -> Tensor:
    """Mean 0 and variance 1 along the last axes."""
    if node.wants(1) or node.wants(2):
        raise Unsupported("mean and variance as outputs")
    axis, epsilon = node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    return op.layer_norm(node[0], node[1], node.optional(2), axis, epsilon)


@operator("RMSNormalization")
def rms_norm(node: Node) -> Tensor:
    """A mean square of 1 along the last axes."""
    axis, epsilon = node.attribute("axis", -1), node.attribute("epsilon", 1e-5)
    return op.rms_norm(node[0], node[1], axis, epsilon)


@operator("LRN")
def response_norm(node: Node) -> Tensor:
    """Elements over the mean square of neighbouring channels."""
    return op.local_response_norm(
        node[0],
        node.attribute("size"),
        node.attribute("alpha", 1e-4),
        node.attribute("beta", 0.75),
        node.attribute("bias", 1.0),
    )


@operator("LpNormalization")
def norm(node: Node) -> Tensor:
    """Elements over the p-norm along an axis; 0 where that is 0."""
    p, axis = node.attribute("p", 2), node.attribute("axis", -1)
    length = op.norm(node[0], p, axis, keepdims=True)
    return select(length == 0, length * 0, node[0] / length)


@operator("MeanVarianceNormalization")
def mean_variance_norm(node: Node) -> Tensor:
    """Mean 0 and variance 1 along axes."""
    return op.mean_variance_normalization(node[0], node.attribute("axes") or [0, 2, 3])


# Activations

_PLAIN: dict[str, Callable[..., Tensor]] = {
    "HardSwish": op.hardswish,
    "Mish": op.mish,
    "Softplus": op.softplus,
    "Softsign": op.softsign,
}

_WITH_ALPHA: dict[str, tuple[Callable[..., Tensor], float]] = {
    "Celu": (op.celu, 1.0),
    "Elu": (op.elu, 1.0),
    "LeakyRelu": (op.leaky_relu, 0.01),
    "Swish": (op.swish, 1.0),
    "ThresholdedRelu": (op.thresholded_relu, 1.0),
}


@operator(*_PLAIN)
def activation(node: Node) -> Tensor:
    """An activation without parameters."""
    return _PLAIN[node.op_type](node[0])


@operator(*_WITH_ALPHA)
def activation_with_alpha(node: Node) -> Tensor:
    """An activation with one parameter."""
    function, alpha = _WITH_ALPHA[node.op_type]
    return function(node[0], node.attribute("alpha", alpha))


@operator("Selu")
def selu(node: Node) -> Tensor:
    """A scaled exponential linear unit."""
    alpha = node.attribute("alpha", 1.67326319217681884765625)
    return op.selu(node[0], alpha, node.attribute("gamma", 1.05070102214813232421875))


@operator("HardSigmoid")
def hard_sigmoid(node: Node) -> Tensor:
    """A line between 0 and 1."""
    return op.hard_sigmoid(
        node[0], node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    )


@operator("Gelu")
def gelu(node: Node) -> Tensor:
    """Elements times the probability that a normal variable is less."""
    return op.gelu(node[0], node.attribute("approximate", "none"))


@operator("PRelu")
def prelu(node: Node) -> Tensor:
    """Negative elements times slopes."""
    slope = node[1]
    if node.opset < 7 and node.rank(1) == 1 and node.rank(0) > 2:
        slope = slope.reshape(*node.shape(1), *[1] * (node.rank(0) - 2))
    return select(node[0] < 0, slope * node[0], node[0])


@operator("Shrink")
def shrink(node: Node) -> Tensor:
    """Elements nearer to zero, small ones at zero."""
    return op.shrink(node[0], node.attribute("lambd", 0.5), node.attribute("bias", 0.0))


_ROWS_OF_SOFTMAX = {
    "Softmax": op.softmax,
    "LogSoftmax": op.log_softmax,
    "Hardmax": op.hardmax,
}


@operator(*_ROWS_OF_SOFTMAX)
def softmax(node: Node) -> Tensor:
    """What of a whole each element of an axis is; before version 13 of several axes."""
    function = _ROWS_OF_SOFTMAX[node.op_type]
    if node.opset >= 13:
        return function(node[0], node.attribute("axis", -1))
    axis, own = node.attribute("axis", 1) % max(node.rank(0), 1), node.shape(0)
    if axis == len(own) - 1:
        return function(node[0], axis)
    rows = 1
    for size in own[:axis]:
        rows *= size
    flat = node[0].reshape(rows, -(-_count(own) // rows))
    return function(flat, 1).reshape(*own)


def _count(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


@operator("Dropout", known=(1, 2))
def dropout(node: Node) -> Sequence[Tensor | None]:
    """The elements themselves: nothing is dropped but in training."""
    is_training = node.has(2) and bool(node.array(2))
    ratio = float(node.array(1)) if node.has(1) else node.attribute("ratio", 0.5)
    if is_training and ratio:
        raise Unsupported("elements are dropped at random")
    kept = node[0] == node[0] if node.wants(1) else None
    return ident(node[0]), None if kept is None else op.full_like(kept, 1, "bool")
