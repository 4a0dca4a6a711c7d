"""Pools whose windows are as large as the size of the result asks for."""

from __future__ import annotations

from collections.abc import Sequence

from ..edsl.functions import logical_and, select
from ..edsl.tensors import Tensor, cast
from .axes import Size, indices, per_axis, replaced, sizes_of
from .contractions import MAX, SUM, contract
from .creation import places
from .operation import TensorLike, as_tensor, in_type_of, operation
from .reductions import max, mean, reduced
from .shapes import unsqueeze
from .windows import image_sizes

__all__ = ["adaptive_avg_pool", "adaptive_max_pool"]


@operation
def adaptive_avg_pool(
    x: TensorLike, output_size: int | Sequence[int], *, channels_last: bool = False
) -> Tensor:
    """The means of so many windows of nearly one size, as torch's adaptive pools.

    Window i of n goes from `i * size / n`, rounded down, to `(i + 1) * size / n`,
    rounded up. x has shape [N, C, spatial..], or channels last.
    """
    x = as_tensor(x)
    for axis, count in _counts(x, output_size, channels_last):
        x = mean(x, axis, keepdims=True) if count == 1 else _means(x, axis, count)
    return x


def _counts(
    x: Tensor, output_size: int | Sequence[int], channels_last: bool
) -> list[tuple[int, int]]:
    """The spatial axes, each with the size that it gets."""
    _, _, sizes = image_sizes(x, channels_last)
    counts = per_axis(output_size, len(sizes), "the sizes of the result", 1)
    return list(enumerate(counts, start=1 if channels_last else 2))


def _means(x: Tensor, axis: int, count: int) -> Tensor:
    """By a matrix that says which elements belong to which window."""
    sizes, source = sizes_of(x), indices(x.ndim)
    (window,) = indices(1)
    inside = cast(_windows(sizes[axis], count), "float32")
    total = contract(
        SUM,
        replaced(sizes, axis, count),
        replaced(source, axis, window),
        x[tuple(source)] * inside[window, source[axis]],
    )
    members = reduced(inside, SUM, 1, False)
    shape = replaced([1] * x.ndim, axis, count)
    return in_type_of(x, total / members.reshape(*shape))


def _windows(size: Size, count: int) -> Tensor:
    """Whether each element of an axis belongs to each of so many windows."""
    window, element = places(2, 0, count), places(2, 1, size)
    begin = window * size / count
    end = ((window + 1) * size + (count - 1)) / count
    return logical_and(element >= begin, element < end)


@operation
def adaptive_max_pool(
    x: TensorLike, output_size: int | Sequence[int], *, channels_last: bool = False
) -> Tensor:
    """The largest elements of windows as of `adaptive_avg_pool`, as torch's pools."""
    x = as_tensor(x)
    for axis, count in _counts(x, output_size, channels_last):
        x = max(x, axis, keepdims=True) if count == 1 else _largest(x, axis, count)
    return x


def _largest(x: Tensor, axis: int, count: int) -> Tensor:
    size = sizes_of(x)[axis]
    inside = _windows(size, count)
    shape: list[Size] = [1] * (x.ndim + 1)
    shape[axis : axis + 2] = [count, size]
    every = select(inside.reshape(*shape), unsqueeze(x, axis), -float("inf"))
    return reduced(every, MAX, axis + 1, False)
