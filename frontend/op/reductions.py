"""Sums, extremes and their like along axes."""

from __future__ import annotations

from typing import Any

from ...dialects.aggregation import Aggregation
from ..edsl.float_functions import isfinite
from ..edsl.functions import abs, exp, log, logical_or, select, sqrt
from ..edsl.functions import pow as power
from ..edsl.locations import error
from ..edsl.tensors import Tensor, cast
from .axes import Axes, Size, axes_of, axis_of, indices, product, sizes_of
from .contractions import MAX, MIN, PRODUCT, SUM, contract
from .creation import places
from .operation import TensorLike, as_tensor, operation
from .shapes import flatten

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "l1_norm",
    "l2_norm",
    "logsumexp",
    "max",
    "mean",
    "min",
    "norm",
    "prod",
    "std",
    "sum",
    "sum_of_squares",
    "var",
]


def reduced(x: Tensor, aggregation: Aggregation, axes: Axes, keepdims: bool) -> Tensor:
    """The aggregation of the elements along axes, which are gone or of size 1."""
    gone = axes_of(x, axes)
    source, sizes = indices(x.ndim), sizes_of(x)
    kept: list[tuple[Size, Any]] = []
    for axis, pair in enumerate(zip(sizes, source, strict=True)):
        if axis not in gone:
            kept.append(pair)
        elif keepdims:
            kept.append((1, 0))
    return contract(
        aggregation,
        [size for size, _ in kept],
        [index for _, index in kept],
        x[tuple(source)],
    )


def count_along(x: Tensor, axes: Axes) -> Size:
    """How many elements each result of a reduction along axes is made of."""
    sizes = sizes_of(x)
    return product(sizes[axis] for axis in axes_of(x, axes))


@operation
def sum(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum along one axis, several or all, as NumPy's sum.

    Truth values are counted. Integers are added in their own type, and wrap around.
    """
    return reduced(as_tensor(x), SUM, axis, keepdims)


@operation
def prod(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The product along one axis, several or all, as NumPy's prod."""
    return reduced(as_tensor(x), PRODUCT, axis, keepdims)


@operation
def max(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element along one axis, several or all, as NumPy's max.

    The gradient is shared by equal ones, as that of torch.amax.
    """
    return reduced(as_tensor(x), MAX, axis, keepdims)


@operation
def min(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The least element along one axis, several or all, as NumPy's min."""
    return reduced(as_tensor(x), MIN, axis, keepdims)


@operation
def any(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether an element along the axes is other than zero, as NumPy's any."""
    return reduced(as_tensor(x) != 0, MAX, axis, keepdims)


@operation
def all(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along the axes are other than zero, as NumPy's all."""
    return reduced(as_tensor(x) != 0, MIN, axis, keepdims)


@operation
def count_nonzero(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements along the axes are other than zero, as NumPy's: si32."""
    return reduced(cast(as_tensor(x) != 0, "int32"), SUM, axis, keepdims)


@operation
def mean(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean along one axis, several or all, as NumPy's mean; of integers f32."""
    x = as_tensor(x)
    # The product makes floats of integers, and is none of floats.
    return reduced(x, SUM, axis, keepdims) * 1.0 / count_along(x, axis)


@operation
def var(
    x: TensorLike, axis: Axes = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """The mean of squared distances from the mean, as NumPy's var.

    The sum is divided by the number of elements less `ddof`, which torch calls
    correction and has as 1 by default.
    """
    x = as_tensor(x)
    distance = x - mean(x, axis, keepdims=True)
    total = reduced(distance * distance, SUM, axis, keepdims)
    return total / (count_along(x, axis) - ddof)


@operation
def std(
    x: TensorLike, axis: Axes = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """The square root of the variance, as NumPy's std; `ddof` is as of `var`."""
    return sqrt(var(x, axis, ddof, keepdims))


@operation
def logsumexp(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """`log(sum(exp(x)))` without overflow, as torch.logsumexp and ONNX's."""
    x = as_tensor(x)
    greatest = reduced(x, MAX, axis, True)
    # Infinite ones would be subtracted from themselves.
    shift = select(isfinite(greatest), greatest, 0.0)
    total = log(reduced(exp(x - shift), SUM, axis, keepdims))
    # A sum over axes of size 1 fuses, where a reshape would not.
    return total + (shift if keepdims else reduced(shift, SUM, axis, False))


@operation
def l1_norm(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum of magnitudes along axes, as ONNX's ReduceL1."""
    return reduced(abs(as_tensor(x)), SUM, axis, keepdims)


@operation
def l2_norm(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The square root of the sum of squares along axes, as ONNX's ReduceL2."""
    return sqrt(sum_of_squares(x, axis, keepdims))


@operation
def sum_of_squares(x: TensorLike, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The sum of squares along axes, as ONNX's ReduceSumSquare."""
    x = as_tensor(x)
    return reduced(x * x, SUM, axis, keepdims)


@operation
def norm(
    x: TensorLike, ord: float = 2, axis: Axes = None, keepdims: bool = False
) -> Tensor:
    """The norm of the elements along axes as a vector, as torch's vector_norm.

    `ord` is the power: 1, 2, infinity or minus infinity, 0 for the number of elements
    other than zero, or any other.
    """
    x = as_tensor(x)
    if isinstance(ord, str):
        raise error(f"expected ord to be a number, got '{ord}'")
    if ord == 0:
        return cast(count_nonzero(x, axis, keepdims), "float32")
    if ord == 1:
        return l1_norm(x, axis, keepdims)
    if ord == 2:
        return l2_norm(x, axis, keepdims)
    if abs(ord) == float("inf"):
        return reduced(abs(x), MAX if ord > 0 else MIN, axis, keepdims)
    total = reduced(power(abs(x), float(ord)), SUM, axis, keepdims)
    return power(total, 1.0 / ord)


@operation
def argmax(
    x: TensorLike,
    axis: int | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
) -> Tensor:
    """Where the largest element along an axis stands, as NumPy's argmax: si32.

    Without an axis the place is that in all elements in row-major order. Of equal ones
    it is the first, or the last with `select_last_index`, as of ONNX's ArgMax. NaN is
    larger than all numbers.
    """
    return _place(x, MAX, axis, keepdims, select_last_index)


@operation
def argmin(
    x: TensorLike,
    axis: int | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
) -> Tensor:
    """Where the least element along an axis stands, as NumPy's argmin: si32.

    The rest is as of `argmax`; NaN is less than all numbers.
    """
    return _place(x, MIN, axis, keepdims, select_last_index)


def _place(
    x: TensorLike,
    aggregation: Aggregation,
    axis: int | None,
    keepdims: bool,
    is_last: bool,
) -> Tensor:
    x = as_tensor(x)
    if axis is None and x.ndim != 1:
        place = _place(flatten(x), aggregation, 0, False, is_last)
        return place.reshape(*[1] * x.ndim) if keepdims else place
    along = axis_of(x, axis or 0)
    size = sizes_of(x)[along]
    extreme = reduced(x, aggregation, along, True)
    # An extreme that is NaN equals nothing, but is not equal to itself either.
    found = logical_or(x == extreme, x != x)
    position = places(x.ndim, along, size)
    if is_last:
        return reduced(select(found, position, -1), MAX, along, keepdims)
    return reduced(select(found, position, size), MIN, along, keepdims)
