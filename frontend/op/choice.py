"""Elements chosen by conditions: masks, triangles, limits."""

from __future__ import annotations

from typing import Any

from ..edsl.functions import select
from ..edsl.locations import error
from ..edsl.tensors import Tensor, apply
from .axes import sizes_of
from .creation import places
from .operation import TensorLike, as_tensor, operation

__all__ = ["clip", "masked_fill", "maximum", "minimum", "tril", "triu", "where"]


@operation
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """`x` where the condition holds, else y, as NumPy's where with three arguments."""
    return select(as_tensor(condition), x, y)


@operation
def masked_fill(x: TensorLike, mask: TensorLike, value: TensorLike) -> Tensor:
    """x, with a value where the mask holds, as torch's masked_fill."""
    return select(as_tensor(mask), value, x)


@operation
def maximum(x: TensorLike, *others: TensorLike) -> Tensor:
    """The largest of each element, as NumPy's maximum and ONNX's Max; NaN of NaN."""
    return _folded("max", x, others)


@operation
def minimum(x: TensorLike, *others: TensorLike) -> Tensor:
    """The least of each element, as NumPy's minimum and ONNX's Min; NaN of NaN."""
    return _folded("min", x, others)


def _folded(function: str, x: TensorLike, others: tuple[Any, ...]) -> Tensor:
    result = as_tensor(x)
    for other in others:
        result = apply(function, result, other)
    return result


@operation
def clip(x: TensorLike, min: TensorLike = None, max: TensorLike = None) -> Tensor:
    """`x` within limits, of which one may be missing, as NumPy's and torch's."""
    x = as_tensor(x)
    if min is not None and max is not None:
        return apply("clamp", x, min, max)
    if min is not None:
        return maximum(x, min)
    return x if max is None else minimum(x, max)


@operation
def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Zeros above a diagonal of the last two axes, as NumPy's tril.

    The diagonal is the main one, or k places to the right of it.
    """
    x, row, column = _triangle(x)
    # Of the type of x, as truth values are the lowest one.
    return select(row + k >= column, x, False)


@operation
def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Zeros below a diagonal of the last two axes, as NumPy's triu.

    The diagonal is the main one, or k places to the right of it.
    """
    x, row, column = _triangle(x)
    return select(row + k <= column, x, False)


def _triangle(x: TensorLike) -> tuple[Tensor, Tensor, Tensor]:
    x = as_tensor(x)
    if x.ndim < 2:
        raise error(f"expected matrices, got a tensor of {x.ndim} axes")
    rows, columns = sizes_of(x)[-2:]
    return x, places(2, 0, rows), places(2, 1, columns)
