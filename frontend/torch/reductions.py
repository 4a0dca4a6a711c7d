"""Operators that aggregate along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import op
from ..edsl.functions import sqrt
from ..edsl.tensors import Tensor
from .rows import Call, as_type, axes_of, row, sizes_of


@row("aten.sum.default", "aten.sum.dim_IntList")
def sum(
    call: Call,
    x: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    **options: Any,
) -> Tensor:
    """The sum along axes."""
    return op.sum(as_type(x, call.dtype), axes_of(x.ndim, dim), keepdim)


@row("aten.mean.default", "aten.mean.dim")
def mean(
    call: Call,
    x: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    **options: Any,
) -> Tensor:
    """The mean along axes."""
    return op.mean(as_type(x, call.dtype), axes_of(x.ndim, dim), keepdim)


@row("aten.prod.default")
def product(call: Call, x: Tensor, **options: Any) -> Tensor:
    """The product of all elements."""
    return op.prod(as_type(x, call.dtype))


@row("aten.prod.dim_int")
def product_along(
    call: Call, x: Tensor, dim: int, keepdim: bool = False, **options: Any
) -> Tensor:
    """The product along an axis."""
    return op.prod(as_type(x, call.dtype), dim, keepdim)


@row("aten.amax.default")
def amax(
    call: Call, x: Tensor, dim: Sequence[int] = (), keepdim: bool = False
) -> Tensor:
    """The largest along axes."""
    return op.max(x, axes_of(x.ndim, dim), keepdim)


@row("aten.amin.default")
def amin(
    call: Call, x: Tensor, dim: Sequence[int] = (), keepdim: bool = False
) -> Tensor:
    """The least along axes."""
    return op.min(x, axes_of(x.ndim, dim), keepdim)


@row("aten.max.default")
def largest(call: Call, x: Tensor) -> Tensor:
    """The largest of all."""
    return op.max(x)


@row("aten.min.default")
def least(call: Call, x: Tensor) -> Tensor:
    """The least of all."""
    return op.min(x)


@row("aten.max.dim")
def largest_along(
    call: Call, x: Tensor, dim: int, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest along an axis, and where it stands first."""
    return op.max(x, dim, keepdim), op.argmax(x, dim, keepdim)


@row("aten.min.dim")
def least_along(
    call: Call, x: Tensor, dim: int, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The least along an axis, and where it stands first."""
    return op.min(x, dim, keepdim), op.argmin(x, dim, keepdim)


@row("aten.argmax.default")
def argmax(
    call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """Where the largest stands first."""
    if dim is None:
        return op.argmax(op.flatten(x), 0).reshape(*call.sizes)
    return op.argmax(x, dim, keepdim)


@row("aten.argmin.default")
def argmin(
    call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """Where the least stands first."""
    if dim is None:
        return op.argmin(op.flatten(x), 0).reshape(*call.sizes)
    return op.argmin(x, dim, keepdim)


@row("aten.any.default", "aten.any.dim", "aten.any.dims")
def any(call: Call, x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether an element along axes is other than zero."""
    return op.any(x, axes_of(x.ndim, dim), keepdim)


@row("aten.all.default", "aten.all.dim", "aten.all.dims")
def all(call: Call, x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements along axes are other than zero."""
    return op.all(x, axes_of(x.ndim, dim), keepdim)


@row("aten.var.correction", "aten.var.dim")
def variance(
    call: Call,
    x: Tensor,
    dim: Sequence[int] | None = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: float | None = 1,
) -> Tensor:
    """The mean of squared distances from the mean."""
    if unbiased is not None:
        correction = int(unbiased)
    return variance_of(x, axes_of(x.ndim, dim), correction, keepdim)


@row("aten.var_mean.correction")
def variance_and_mean(
    call: Call,
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = 1,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    """The variance along axes, and the mean."""
    axes = axes_of(x.ndim, dim)
    return variance_of(x, axes, correction, keepdim), op.mean(x, axes, keepdim)


@row("aten.std.correction")
def deviation(
    call: Call,
    x: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = 1,
    keepdim: bool = False,
) -> Tensor:
    """The square root of the variance."""
    return sqrt(variance_of(x, axes_of(x.ndim, dim), correction, keepdim))


def variance_of(
    x: Tensor, axes: Sequence[int], correction: float | None, keepdim: bool
) -> Tensor:
    """The variance, the sum divided by the number of elements less a correction."""
    sizes, count = sizes_of(x), 1
    for axis in axes:
        count *= sizes[axis]
    distance = x - op.mean(x, axes, keepdims=True)
    total = op.sum(distance * distance, axes, keepdim)
    return total / float(max(count - (1 if correction is None else correction), 0))


@row("aten.cumsum.default")
def cumsum(call: Call, x: Tensor, dim: int, **options: Any) -> Tensor:
    """The sums of the elements up to each."""
    return op.cumsum(as_type(x, call.dtype), dim) if x.ndim else x


@row("aten.cumprod.default")
def cumprod(call: Call, x: Tensor, dim: int, **options: Any) -> Tensor:
    """The products of the elements up to each."""
    return op.cumprod(as_type(x, call.dtype), dim) if x.ndim else x


@row("aten._softmax.default")
def softmax(call: Call, x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """The share of each power along an axis."""
    return op.softmax(as_type(x, call.dtype), dim)


@row("aten._log_softmax.default")
def log_softmax(call: Call, x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """The logarithm of the share of each power along an axis."""
    return op.log_softmax(as_type(x, call.dtype), dim)


@row("aten.logsumexp.default")
def logsumexp(
    call: Call, x: Tensor, dim: Sequence[int], keepdim: bool = False
) -> Tensor:
    """The logarithm of the sum of powers along axes."""
    return op.logsumexp(x, axes_of(x.ndim, dim), keepdim)


@row("aten.sort.default")
def sort(
    call: Call, x: Tensor, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """The elements in order along an axis, and where they stood."""
    order = op.argsort(x, dim, descending=descending)
    return op.take_along_axis(x, order, dim), order


@row("aten.topk.default")
def topk(
    call: Call,
    x: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> tuple[Tensor, Tensor]:
    """The largest or least elements along an axis, and where they stand."""
    values, places = op.topk(x, k, dim, largest)
    return values, places
