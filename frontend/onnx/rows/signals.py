"""Fourier transforms."""

from __future__ import annotations

from ... import op
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator

_LONGEST = 2048
"""What is transformed by a product with a matrix; the host knows a faster way."""


def _check_length(length: int) -> None:
    if length > _LONGEST:
        raise Unsupported(f"a transform of more than {_LONGEST} elements")


@operator("DFT", known=(1, 2))
def fourier(node: Node) -> Tensor:
    """The discrete Fourier transform along an axis, and its inverse."""
    axis = node.attribute("axis", 1) if node.opset < 20 else -2
    if node.has(2):
        axis = node.integers(2)[0]
    axis %= node.rank(0)
    size = node.shape(0)[axis]
    length = node.integers(1)[0] if node.has(1) else None
    _check_length(2 * size if length is None else length)
    inverse, onesided = node.attribute("inverse", 0), node.attribute("onesided", 0)
    signal = cast(node[0], "float64")  # sums cancel, as in the reference
    result = op.dft(signal, length, axis, bool(inverse), bool(onesided))
    return cast(result, node.dtype(0))


@operator("STFT", known=(1, 3))
def fourier_of_frames(node: Node) -> Tensor:
    """The discrete Fourier transforms of the frames of signals."""
    length = node.integers(3)[0] if node.has(3) else None
    if node.has(2):
        length = node.shape(2)[0]
    _check_length(node.shape(0)[1] if length is None else length)
    onesided = bool(node.attribute("onesided", 1))
    signals, step = cast(node[0], "float64"), node.integers(1)[0]
    result = op.stft(signals, step, node.optional(2), length, onesided)
    return cast(result, node.dtype(0))
