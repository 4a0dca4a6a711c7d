"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

from ... import op
from ...edsl.einsum import einsum
from ...edsl.tensors import Tensor, cast
from ..node import Node
from ..table import operator


@operator("MatMul")
def product(node: Node) -> Tensor:
    """The product of matrices, or of stacks of them."""
    return op.matmul(node[0], node[1])


@operator("Gemm")
def scaled_product(node: Node) -> Tensor:
    """`alpha * A @ B + beta * C`."""
    bias: Any = node.optional(2)
    if bias is not None and node.opset < 7:
        bias = op.broadcast_to(bias, node.output().shape) if node.rank(2) else bias
    return op.gemm(
        node[0],
        node[1],
        bias,
        node.attribute("alpha", 1.0),
        node.attribute("beta", 1.0),
        bool(node.attribute("transA", 0)),
        bool(node.attribute("transB", 0)),
    )


@operator("Einsum")
def summed(node: Node) -> Tensor:
    """A product of several tensors by an equation."""
    return einsum(node.attribute("equation"), *node.tensors)


@operator("MatMulInteger")
def integer_product(node: Node) -> Tensor:
    """The product of matrices of small integers, less their zero points."""
    return op.matmul(_shifted(node, 0, 2, -1), _shifted(node, 1, 3, -2))


def _shifted(node: Node, position: int, zero_point: int, axis: int) -> Tensor:
    """An input as integers of 32 bits, less its zero point."""
    wide = cast(node[position], "int32")
    if not node.has(zero_point):
        return wide
    zero = cast(node[zero_point], "int32")
    if node.rank(zero_point) == 1 and node.rank(position) > 1 and axis == -1:
        zero = zero.reshape(*node.shape(zero_point), 1)
    return wide - zero
