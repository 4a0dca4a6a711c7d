"""Numbers as small integers with a scale and a zero point."""

from __future__ import annotations

from ... import op
from ...edsl.functions import round
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator

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
