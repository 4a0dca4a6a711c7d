"""Products of matrices, and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

from .. import op
from ..edsl.specials import gradients
from ..edsl.tensors import Tensor
from .rows import Call, NotLowered, row, sizes_of


@row("aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def matmul(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The product of two matrices, of each of a stack, or of vectors."""
    return op.matmul(x, y)


@row("aten.addmm.default")
def add_product(
    call: Call, bias: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """A product of two matrices, and something added."""
    product = op.matmul(x, y)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (bias if beta == 1 else bias * beta)


@row("aten.baddbmm.default")
def add_products(
    call: Call, bias: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Products of stacks of matrices, and something added."""
    return add_product(call, bias, x, y, beta=beta, alpha=alpha)


@row("aten.convolution.default")
def convolution(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution over one spatial axis or more, or its transpose."""
    if transposed:
        return op.conv_transpose(
            x,
            weight,
            bias,
            _each(x, stride),
            _each(x, padding),
            _each(x, output_padding),
            groups,
            _each(x, dilation),
        )
    return op.conv(
        x,
        weight,
        bias,
        _each(x, stride),
        _each(x, padding),
        _each(x, dilation),
        groups,
    )


def _each(x: Tensor, numbers: Sequence[int]) -> list[int]:
    """A number for each spatial axis, where one stands for all."""
    rank = x.ndim - 2
    return [*numbers] * rank if len(numbers) == 1 else [*numbers]


@row("aten.convolution_backward.default")
def convolution_backward(
    call: Call,
    change: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of a convolution by its image, its weight and its bias."""
    options = (stride, padding, dilation, transposed, output_padding, groups)
    result = convolution(call, x, weight, None, *options)
    if sizes_of(result) != sizes_of(change):
        raise NotLowered("a gradient of another shape than the result")
    wanted = [*compress((x, weight), output_mask)]
    found = iter(gradients(result * change, wanted) if wanted else [])
    by_image, by_weight = (next(found) if each else None for each in output_mask[:2])
    spatial = [0, *range(2, change.ndim)]
    by_bias = op.sum(change, spatial) if output_mask[2] else None
    return by_image, by_weight, by_bias
