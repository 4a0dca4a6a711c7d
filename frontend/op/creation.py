"""Tensors that are made of sizes and numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.functions import select
from ..edsl.locations import error
from ..edsl.specials import index
from ..edsl.tensors import Tensor, cast
from .axes import Size, axis_of, indices, known_size, replaced, size_list, sizes_of
from .contractions import moved
from .operation import TensorLike, as_tensor, operation
from .shapes import unsqueeze

__all__ = [
    "arange",
    "eye",
    "full",
    "full_like",
    "one_hot",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


@operation
def full(shape: Size | Sequence[Size], value: TensorLike, dtype: Any = None) -> Tensor:
    """A tensor of one number, as NumPy's full.

    Its type is that of the number: f32, or si32 of an integer, or `dtype`.
    """
    sizes = size_list(shape)
    number = as_tensor(value) if dtype is None else cast(value, dtype)
    return moved(number, sizes, indices(len(sizes)), ())


@operation
def zeros(shape: Size | Sequence[Size], dtype: Any = "float32") -> Tensor:
    """A tensor of zeros, as NumPy's zeros; f32 by default."""
    return full(shape, 0, dtype)


@operation
def ones(shape: Size | Sequence[Size], dtype: Any = "float32") -> Tensor:
    """A tensor of ones, as NumPy's ones; f32 by default."""
    return full(shape, 1, dtype)


@operation
def full_like(x: TensorLike, value: TensorLike, dtype: Any = None) -> Tensor:
    """A tensor of one number in the shape of x, as NumPy's full_like.

    Its type is that of the number, where `dtype` does not say it.
    """
    return full(sizes_of(as_tensor(x)), value, dtype)


@operation
def zeros_like(x: TensorLike, dtype: Any = "float32") -> Tensor:
    """Zeros in the shape of x, as NumPy's zeros_like; f32 by default."""
    return full_like(x, 0, dtype)


@operation
def ones_like(x: TensorLike, dtype: Any = "float32") -> Tensor:
    """Ones in the shape of x, as NumPy's ones_like; f32 by default."""
    return full_like(x, 1, dtype)


@operation
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """Numbers from start, 0 by default, to before stop, as NumPy's arange.

    Of integers and sizes it is of type si32, of floats f32, where `dtype` does not say
    it. Raises GinghamError where there are no such numbers.
    """
    first, last = (0, start) if stop is None else (start, stop)
    count = _count(first, last, step)
    if known_size(count) is not None and int(count) <= 0:
        raise error(f"there are no numbers from {first} to {last} in steps of {step}")
    numbers = index([count], 0)
    if not (isinstance(step, int) and step == 1):
        numbers = numbers * step
    if not (isinstance(first, int) and first == 0):
        numbers = numbers + first
    return numbers if dtype is None else cast(numbers, dtype)


def _count(first: Any, last: Any, step: Any) -> Size:
    if step == 0:
        raise error("the step of arange is 0")
    if any(isinstance(number, float) for number in (first, last, step)):
        return int(-((first - last) // step))
    if isinstance(step, int) and step < 0:
        return (first - last - step - 1) // -step
    return (last - first + step - 1) // step


@operation
def eye(
    rows: Size, columns: Size | None = None, k: int = 0, dtype: Any = "float32"
) -> Tensor:
    """Ones on a diagonal, k places to the right of the main one, as NumPy's eye."""
    width = rows if columns is None else columns
    return cast(places(2, 0, rows) + k == places(2, 1, width), dtype)


def places(rank: int, axis: int, size: Size) -> Tensor:
    """The coordinates of an axis, along it, with size 1 along all others."""
    return index(replaced([1] * rank, axis, size), axis)


@operation
def one_hot(
    indices: TensorLike,
    depth: Size,
    on_value: TensorLike = 1.0,
    off_value: TensorLike = 0.0,
    axis: int = -1,
) -> Tensor:
    """A new axis with one value at the index and another elsewhere, as ONNX's OneHot.

    Negative indices are counted from the end of the depth; of those beyond it, all is
    the other value. torch.nn.functional.one_hot has integers: give 1 and 0.
    """
    x = as_tensor(indices)
    place = axis_of(x, axis, 1)
    wanted = unsqueeze(select(x < 0, x + depth, x), place)
    is_on = wanted == places(x.ndim + 1, place, depth)
    return select(is_on, on_value, off_value)
