"""Numbers as small integers with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Sequence

from ... import op
from ...edsl.functions import round
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator
from .networks import padding_of

_BOUNDS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
}


def _along(node: Node, position: int) -> Tensor:
    """A scale or zero point, which is one number, or one for each place of an axis."""
    if not node.rank(position) or node.shape(position) == (1,):
        return node[position].reshape()
    if node.rank(position) > 1 or node.attribute("block_size", 0):
        raise Unsupported("a scale of each block")
    axis = node.attribute("axis", 1) % node.rank(0)
    behind = node.rank(0) - axis - 1
    return node[position].reshape(*node.shape(position), *[1] * behind)


@operator("QuantizeLinear")
def quantize(node: Node) -> Tensor:
    """The nearest small integers."""
    wanted = node.output().dtype.name
    if wanted not in _BOUNDS:
        raise Unsupported(f"elements of type {wanted}")
    low, high = _BOUNDS[wanted]
    steps = round(cast(node[0], "float32") / cast(_along(node, 1), "float32"))
    if node.has(2):
        steps = steps + cast(_along(node, 2), "float32")
    return cast(op.clip(steps, float(low), float(high)), wanted)


@operator("DequantizeLinear")
def dequantize(node: Node) -> Tensor:
    """The numbers that small integers mean."""
    if node.dtype(0).name not in (*_BOUNDS, "int32"):
        raise Unsupported(f"elements of type {node.dtype(0).name}")
    steps = cast(node[0], "int32")
    if node.has(2):
        steps = steps - cast(_along(node, 2), "int32")
    scale = _along(node, 1)
    return cast(steps, node.dtype(1)) * scale


def _centred(node: Node, position: int, zero_point: int) -> Tensor:
    """Small integers less their zero point, as integers of 32 bits."""
    wide = cast(node[position], "int32")
    if not node.has(zero_point):
        return wide
    if node.shape(zero_point) not in ((), (1,)):
        raise Unsupported("a zero point of each row")
    return wide - cast(node[zero_point].reshape(), "int32")


def _requantized(node: Node, total: Tensor, scales: Sequence[int], zero: int) -> Tensor:
    """A sum of products as small integers of the scale of the result."""
    wanted = node.output().dtype.name
    if any(node.shape(scale) not in ((), (1,)) for scale in scales):
        raise Unsupported("a scale of each row")
    left, right, own = (cast(node[n].reshape(), "float32") for n in scales)
    steps = round(cast(total, "float32") * (left * right / own))
    low, high = _BOUNDS[wanted]
    steps = steps + cast(node[zero].reshape(), "float32")
    return cast(op.clip(steps, float(low), float(high)), wanted)


@operator("QLinearMatMul")
def quantized_product(node: Node) -> Tensor:
    """The product of matrices of small integers, as such again."""
    total = op.matmul(_centred(node, 0, 2), _centred(node, 3, 5))
    return _requantized(node, total, (1, 4, 6), 7)


@operator("QLinearConv")
def quantized_convolution(node: Node) -> Tensor:
    """A convolution of small integers, as such again."""
    total = _convolved(node, _centred(node, 0, 2), _centred(node, 3, 5))
    if node.has(8):
        total = total + node[8].reshape(1, -1, *[1] * (node.rank(0) - 2))
    return _requantized(node, total, (1, 4, 6), 7)


@operator("ConvInteger")
def integer_convolution(node: Node) -> Tensor:
    """A convolution of small integers less their zero points."""
    return _convolved(node, _centred(node, 0, 2), _centred(node, 1, 3))


def _convolved(node: Node, image: Tensor, weights: Tensor) -> Tensor:
    return op.conv(
        image,
        weights,
        stride=node.attribute("strides") or 1,
        padding=padding_of(node, node.rank(0) - 2),
        dilation=node.attribute("dilations") or 1,
        groups=node.attribute("group", 1),
    )
