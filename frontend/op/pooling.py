"""Pools: the largest element, the mean or the norm of each window of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.functions import abs, select
from ..edsl.functions import pow as power
from ..edsl.tensors import Tensor
from .axes import Axes, indices, known_size, per_axis, product
from .contractions import MAX, MIN, SUM, contract
from .creation import places
from .operation import TensorLike, as_tensor, operation
from .reductions import max, mean, norm, reduced
from .windows import Padding, Window, image, image_sizes, windows

__all__ = [
    "avg_pool",
    "global_avg_pool",
    "global_lp_pool",
    "global_max_pool",
    "lp_pool",
    "max_pool",
    "max_pool_with_indices",
]


@operation
def max_pool(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    channels_last: bool = False,
) -> Tensor:
    """The largest element of each window, as torch's max_pool1d to 3d.

    Padding never counts. The stride is by default the size of a window; `ceil_mode`
    also takes a last window that reaches beyond the padding. x has shape [N, C,
    spatial..], or channels last; `padding` is as of `conv`.
    """
    x = as_tensor(x)
    moves = _moves(x, kernel_size, stride, padding, dilation, ceil_mode, channels_last)
    return _pooled(x, MAX, moves, channels_last)


def _moves(
    x: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: Padding,
    dilation: int | Sequence[int],
    ceil_mode: bool,
    channels_last: bool,
) -> list[Window]:
    _, _, sizes = image_sizes(x, channels_last)
    kernel = per_axis(kernel_size, len(sizes), "the sizes of windows", 1)
    step = kernel if stride is None else stride
    return windows(sizes, kernel, step, padding, dilation, ceil_mode)


def _pooled(
    x: Tensor, aggregation: Aggregation, moves: Sequence[Window], channels_last: bool
) -> Tensor:
    batch, channels, _ = image_sizes(x, channels_last)
    n, channel = indices(2)
    at, taps = indices(len(moves)), indices(len(moves))
    reads = [m.element(i, k) for m, i, k in zip(moves, at, taps, strict=True)]
    return contract(
        aggregation,
        image(batch, channels, [move.count for move in moves], channels_last),
        image(n, channel, at, channels_last),
        x[tuple(image(n, channel, reads, channels_last))],
        [tap < move.kernel for tap, move in zip(taps, moves, strict=True)],
    )


@operation
def max_pool_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    channels_last: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest elements, and where they stand among all of their channel: si32.

    As torch's max_pool2d with return_indices: places are counted in row-major order of
    the spatial axes. Of equal elements it is the first. The arguments are those of
    `max_pool`.
    """
    x = as_tensor(x)
    moves = _moves(x, kernel_size, stride, padding, dilation, ceil_mode, channels_last)
    largest = _pooled(x, MAX, moves, channels_last)
    batch, channels, sizes = image_sizes(x, channels_last)
    rank, total = len(sizes), product(sizes)
    n, channel = indices(2)
    at, taps = indices(rank), indices(rank)
    reads = [m.element(i, k) for m, i, k in zip(moves, at, taps, strict=True)]
    # Whether each element of each window is the largest: the windows side by side.
    shape = image(batch, channels, [m.count for m in moves], channels_last)
    kernel = [move.kernel for move in moves]
    target = image(n, channel, at, channels_last)
    source = tuple(image(n, channel, reads, channels_last))
    bounds = [tap < size for tap, size in zip(taps, kernel, strict=True)]
    is_largest = contract(
        Aggregation.ASSIGN,
        [*shape, *kernel],
        [*target, *taps],
        x[source] == largest[tuple(target)],
        bounds,
    )
    place: Any = 0
    for axis, move in enumerate(moves):
        spatial = axis + (1 if channels_last else 2)
        element = move.element(
            places(2 * rank + 2, spatial, move.count),
            places(2 * rank + 2, rank + 2 + axis, move.kernel),
        )
        place = place * move.size + element
    first = reduced(
        select(is_largest, place, total), MIN, range(rank + 2, 2 * rank + 2), False
    )
    return largest, first


@operation
def avg_pool(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    divisor_override: int | None = None,
    dilation: int | Sequence[int] = 1,
    *,
    channels_last: bool = False,
) -> Tensor:
    """The mean of each window, as ONNX's AveragePool and torch's avg_pool1d to 3d.

    Zeros of the padding count with `count_include_pad`, which torch has by default and
    ONNX has not; what lies beyond the padding never does. With `divisor_override` sums
    are divided by that number. The other arguments are those of `max_pool`.
    """
    x = as_tensor(x)
    moves = _moves(x, kernel_size, stride, padding, dilation, ceil_mode, channels_last)
    total = _pooled(x, SUM, moves, channels_last) * 1.0
    if divisor_override is not None:
        return total / divisor_override
    counts: Any = 1
    for axis, move in enumerate(moves):
        counts = counts * _count(x.ndim, axis, move, count_include_pad, channels_last)
    return total / counts


def _count(
    rank: int, axis: int, move: Window, include_pad: bool, channels_last: bool
) -> Any:
    """How many elements of each window count; a size where it is the same for all."""
    has_padding = known_size(move.before) != 0 or known_size(move.behind) != 0
    if not move.ceil and (include_pad or not has_padding):
        return move.kernel
    place = axis + (1 if channels_last else 2)
    return move.elements_inside(rank, place, include_pad)


@operation
def lp_pool(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    p: float = 2,
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    channels_last: bool = False,
) -> Tensor:
    """The p-norm of each window, as ONNX's LpPool and torch's lp_pool1d to 3d."""
    x = as_tensor(x)
    moves = _moves(x, kernel_size, stride, padding, dilation, ceil_mode, channels_last)
    powers = x * x if p == 2 else power(abs(x), float(p))
    return power(_pooled(powers, SUM, moves, channels_last), 1.0 / p)


def _spatial(x: Tensor, channels_last: bool) -> Axes:
    image_sizes(x, channels_last)
    return range(1, x.ndim - 1) if channels_last else range(2, x.ndim)


@operation
def global_avg_pool(x: TensorLike, *, channels_last: bool = False) -> Tensor:
    """The mean of each image and channel, as ONNX's GlobalAveragePool.

    Spatial axes stay, with size 1.
    """
    x = as_tensor(x)
    return mean(x, _spatial(x, channels_last), keepdims=True)


@operation
def global_max_pool(x: TensorLike, *, channels_last: bool = False) -> Tensor:
    """The largest element of each image and channel, as ONNX's GlobalMaxPool."""
    x = as_tensor(x)
    return max(x, _spatial(x, channels_last), keepdims=True)


@operation
def global_lp_pool(
    x: TensorLike, p: float = 2, *, channels_last: bool = False
) -> Tensor:
    """The p-norm of each image and channel, as ONNX's GlobalLpPool."""
    x = as_tensor(x)
    return norm(x, p, _spatial(x, channels_last), keepdims=True)
