"""Pools, and images of other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import op
from ..edsl.functions import cond
from ..edsl.specials import gradients
from ..edsl.tensors import Tensor, cast
from ..op.axes import indices
from ..op.contractions import SUM, contract
from .rows import Call, NotLowered, row, sizes_of


@row("aten.max_pool2d_with_indices.default", "aten.max_pool3d_with_indices.default")
def max_pool(
    call: Call,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The largest element of each window, and where it stands."""
    rank = 3 if "3d" in call.operator else 2
    size, step = _each(kernel, rank), _each(stride or kernel, rank)
    steps = (size, step, _each(padding, rank), _each(dilation, rank), ceil_mode)
    batch = _batched(x, rank)
    if call.results[1] is None:
        return op.max_pool(batch, *steps).reshape(*call.sizes), None
    largest, places = op.max_pool_with_indices(batch, *steps)
    return largest.reshape(*call.sizes), places.reshape(*call.sizes)


def _each(numbers: Sequence[int], rank: int) -> list[int]:
    return [*numbers] * rank if len(numbers) == 1 else [*numbers]


def _batched(x: Tensor, rank: int) -> Tensor:
    """Images with an axis that counts them, where there is only one without it."""
    return x if x.ndim == rank + 2 else x.reshape(1, *sizes_of(x))


@row("aten.max_pool2d_with_indices_backward.default")
def max_pool_backward(
    call: Call,
    change: Tensor,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    places: Tensor,
) -> Tensor:
    """The gradient of a maximum pool: it goes to the elements that were chosen."""
    batch = _batched(x, 2)
    count, channels, height, width = sizes_of(batch)
    change, places = _batched(change, 2), _batched(places, 2)
    numbers = cast(op.arange(height * width), places.dtype).reshape(height, width)
    n, c, *rest = indices(6)
    outputs, taps = rest[:2], rest[2:]
    at = [
        o * s + t * d - p
        for o, t, s, p, d in zip(
            outputs,
            taps,
            _each(stride or kernel, 2),
            _each(padding, 2),
            _each(dilation, 2),
            strict=True,
        )
    ]
    bounds = [tap < size for tap, size in zip(taps, _each(kernel, 2), strict=True)]
    by_image = contract(
        SUM,
        [count, channels, height, width],
        [n, c, *at],
        cond(places[(n, c, *outputs)], numbers[tuple(at)], change[(n, c, *outputs)]),
        bounds,
    )
    return by_image.reshape(*call.sizes)


@row("aten.avg_pool2d.default", "aten.avg_pool3d.default", "aten.avg_pool1d.default")
def avg_pool(
    call: Call,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window."""
    rank = int(call.operator[call.operator.index("d.") - 1])
    pooled = op.avg_pool(
        _batched(x, rank),
        *(_each(numbers, rank) for numbers in (kernel, stride or kernel, padding)),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )
    return pooled.reshape(*call.sizes)


@row("aten.avg_pool2d_backward.default")
def avg_pool_backward(call: Call, change: Tensor, x: Tensor, *options: Any) -> Tensor:
    """The gradient of a mean pool."""
    forward = Call("aten.avg_pool2d.default", (_like(change, call),))
    (by_image,) = gradients(avg_pool(forward, x, *options) * change, [x])
    return by_image


def _like(x: Tensor, call: Call) -> Any:
    return type(call.result)(call.dtype, tuple(sizes_of(x)))


@row("aten._adaptive_avg_pool2d.default")
def adaptive_avg_pool(call: Call, x: Tensor, sizes: Sequence[int]) -> Tensor:
    """The mean of each of so many windows, which are about equal."""
    return op.adaptive_avg_pool(_batched(x, 2), list(sizes)).reshape(*call.sizes)


@row("aten._adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool_backward(call: Call, change: Tensor, x: Tensor) -> Tensor:
    """The gradient of an adaptive mean pool."""
    sizes = sizes_of(change)[-2:]
    pooled = op.adaptive_avg_pool(_batched(x, 2), sizes).reshape(*sizes_of(change))
    (by_image,) = gradients(pooled * change, [x])
    return by_image


@row("aten.upsample_nearest2d.vec", "aten.upsample_nearest2d.default")
def upsample_nearest(call: Call, x: Tensor, *arguments: Any) -> Tensor:
    """Images of another size, each element that of the nearest to its left."""
    height, width = call.sizes[-2:]
    rows, columns = sizes_of(x)[-2:]
    if height % rows or width % columns:
        raise NotLowered("sizes that are no multiple of those before")
    tall = op.repeat(x, height // rows, x.ndim - 2)
    return op.repeat(tall, width // columns, x.ndim - 1)


@row("aten.upsample_bilinear2d.vec", "aten.upsample_bilinear2d.default")
def upsample_bilinear(
    call: Call, x: Tensor, sizes: Any, align_corners: bool, *scales: Any
) -> Tensor:
    """Images of another size, with elements between those that there are."""
    for axis in (x.ndim - 2, x.ndim - 1):
        x = _interpolated(x, axis, call.sizes[axis], align_corners)
    return x


def _interpolated(x: Tensor, axis: int, size: int, align_corners: bool) -> Tensor:
    """A matrix with the two weights of each new element, times the axis."""
    import numpy as np

    before = sizes_of(x)[axis]
    if align_corners:
        place = np.arange(size) * ((before - 1) / max(size - 1, 1))
    else:
        place = np.maximum((np.arange(size) + 0.5) * (before / size) - 0.5, 0)
    first = np.minimum(np.floor(place).astype(np.int64), before - 1)
    share = place - first
    weights = np.zeros((size, before), np.float32)
    weights[np.arange(size), first] += 1 - share
    weights[np.arange(size), np.minimum(first + 1, before - 1)] += share
    moved = op.moveaxis(x, axis, -1)
    return op.moveaxis(op.linear(moved, weights), -1, axis)
