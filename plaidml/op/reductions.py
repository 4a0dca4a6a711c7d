"""Aggregations over axes: sums, means, extremes, and running sums.

`axes` are those aggregated over, None for all; they are left out of the result, or with
`keepdims` kept with the size 1. Sums and products of truth values are of type `floatx`.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterable

from ...frontend.edsl.dtypes import DType
from ..aggregation import compute_aggregation_axes
from ..operations import Operation, Shape
from ..values import Value
from .elementwise import cast

__all__ = [
    "All",
    "Any",
    "ArgMax",
    "CumulativeProd",
    "CumulativeSum",
    "IsMax",
    "MaxReduce",
    "Mean",
    "MinReduce",
    "Prod",
    "Summation",
    "Variance",
    "all",
    "any",
    "argmax",
    "cumulative_prod",
    "cumulative_sum",
    "ismax",
    "max_reduce",
    "mean",
    "min_reduce",
    "prod",
    "summation",
    "variance",
]

Axes: typing.TypeAlias = "Iterable[int] | int | None"


def _aggregated(
    value: Value, axes: Axes, keepdims: bool
) -> tuple[tuple[typing.Any, ...], list[int], dict[str, str]]:
    """As `compute_aggregation_axes`, where None is all axes."""
    chosen = range(value.ndims) if axes is None else axes
    return compute_aggregation_axes(value.dims, chosen, keepdims)


def _aggregation(pieces: dict[str, str], output: str, sign: str, of: str) -> str:
    """The statement that aggregates a tensor."""
    target = "{dest_indices}{dest_sep}{dest_ranges}".format(**pieces)
    return f"{output}[{target}] = {sign}({of}[{pieces['src_indices']}]);"


class _Aggregation(Operation):
    """One of the aggregations of Tile."""

    sign = ""

    def __init__(
        self,
        value: Value,
        axes: Axes = None,
        keepdims: bool = False,
        floatx: DType = DType.FLOAT32,
    ) -> None:
        if value.shape.dtype is DType.BOOLEAN and self.sign in "+*":
            value = cast(value, floatx)
        dims, _, pieces = _aggregated(value, axes, keepdims)
        body = _aggregation(pieces, "O", self.sign, "I")
        super().__init__(
            f"function (I[{pieces['src_ranges']}]) -> (O) {{ {body} }}",
            [("I", value)],
            [("O", Shape(value.shape.dtype, dims))],
        )


class Summation(_Aggregation):
    """The sum."""

    sign = "+"


class Prod(_Aggregation):
    """The product."""

    sign = "*"


class MaxReduce(_Aggregation):
    """The largest element."""

    sign = ">"

    def __init__(self, x: Value, axes: Axes = None, keepdims: bool = False) -> None:
        super().__init__(x, axes, keepdims)


class MinReduce(_Aggregation):
    """The smallest element."""

    sign = "<"

    def __init__(self, x: Value, axes: Axes = None, keepdims: bool = False) -> None:
        super().__init__(x, axes, keepdims)


class _Truth(Operation):
    """Whether elements are other than 0, as 0 or 1 of 8 bits."""

    sign = ""

    def __init__(self, x: Value, axis: Axes = None, keepdims: bool = False) -> None:
        dims, _, pieces = _aggregated(x, axis, keepdims)
        body = _aggregation(pieces, "M", self.sign, "T")
        super().__init__(
            f"function (I[{pieces['src_ranges']}]) -> (O) "
            f"{{ T = as_uint(I == 0 ? 0 : 1, 8); {body} O = M; }}",
            [("I", x)],
            [("O", Shape(DType.UINT8, dims))],
        )


class All(_Truth):
    """Whether all elements are other than 0: 0 or 1."""

    sign = "<"


class Any(_Truth):
    """Whether an element is other than 0: 0 or 1."""

    sign = ">"


class ArgMax(Operation):
    """The index of the largest element; of several the last."""

    def __init__(self, value: Value, axis: int = -1) -> None:
        self.axis, self.value = axis, value
        dims, (chosen,), pieces = compute_aggregation_axes(value.dims, [axis])
        body = "\n  ".join(
            [
                _aggregation(pieces, "M", ">", "I"),
                f"Index = index(I, {chosen});",
                "A[{dest_indices}{dest_sep}{dest_ranges}] = >(I[{src_indices}] == "
                "M[{dest_indices}] ? Index[{src_indices}]);".format(**pieces),
                "O = as_uint(A, 32);",
            ]
        )
        super().__init__(
            f"function (I[{pieces['src_ranges']}]) -> (O) {{\n  {body}\n}}",
            [("I", value)],
            [("O", Shape(DType.UINT32, dims))],
        )


class IsMax(Operation):
    """Whether an element is the largest along some axes."""

    def __init__(self, value: Value, axes: Axes) -> None:
        _, _, pieces = compute_aggregation_axes(value.dims, axes, True)
        body = _aggregation(pieces, "M", ">", "I")
        super().__init__(
            f"function (I[{pieces['src_ranges']}]) -> (O) {{ {body} O = M == I; }}",
            [("I", value)],
            [("O", Shape(DType.BOOLEAN, value.dims))],
        )


class Mean(Operation):
    """The mean."""

    def __init__(
        self,
        x: Value,
        axes: Axes = None,
        keepdims: bool = False,
        floatx: DType = DType.FLOAT32,
    ) -> None:
        if x.shape.dtype is DType.BOOLEAN:
            x = cast(x, floatx)
        dims, chosen, pieces = _aggregated(x, axes, keepdims)
        count = "*".join(f"X{axis}" for axis in chosen) or "1"
        body = _aggregation(pieces, "S", "+", "I")
        super().__init__(
            f"function (I[{pieces['src_ranges']}]) -> (O) "
            f"{{ {body} O = S / ({count}); }}",
            [("I", x)],
            [("O", Shape(x.shape.dtype, dims))],
        )


class Variance(Operation):
    """The mean of the squares of the distances from the mean."""

    def __init__(
        self,
        x: Value,
        axes: Axes = None,
        keepdims: bool = False,
        floatx: DType = DType.FLOAT32,
    ) -> None:
        if x.shape.dtype is DType.BOOLEAN:
            x = cast(x, floatx)
        dims, chosen, pieces = _aggregated(x, axes, keepdims)
        count = "*".join(f"X{axis}" for axis in chosen) or "1"
        body = _aggregation(pieces, "S", "+", "D")
        super().__init__(
            f"function (I[{pieces['src_ranges']}], M) -> (O) "
            f"{{ D = (I - M) * (I - M); {body} O = S / ({count}); }}",
            [("I", x), ("M", mean(x, chosen, True))],
            [("O", Shape(x.shape.dtype, dims))],
        )


class _Cumulative(Operation):
    """An aggregation of each element and those before it."""

    sign = ""

    def __init__(self, x: Value, axis: int = 0) -> None:
        (chosen,) = compute_aggregation_axes(x.dims, [axis])[1]
        sizes = ", ".join(f"N{number}" for number in range(x.ndims))
        indices = [f"i{number}" for number in range(x.ndims)]
        target = ", ".join(indices)
        indices[chosen] += " - k"
        super().__init__(
            f"function (I[{sizes}]) -> (O) {{ O[{target} : {sizes}] = "
            f"{self.sign}(I[{', '.join(indices)}]), k < N{chosen}; }}",
            [("I", x)],
            [("O", x.shape)],
        )


class CumulativeSum(_Cumulative):
    """The sum of each element and those before it on an axis."""

    sign = "+"


class CumulativeProd(_Cumulative):
    """The product of each element and those before it on an axis."""

    sign = "*"


all = All.function
any = Any.function
argmax = ArgMax.function
cumulative_prod = CumulativeProd.function
cumulative_sum = CumulativeSum.function
ismax = IsMax.function


def _has_axes(value: Value, axes: Axes) -> bool:
    """Whether there is anything to aggregate over."""
    is_empty = isinstance(axes, list | tuple) and not axes
    return value.ndims > 0 and not is_empty


def max_reduce(x: Value, axes: Axes = None, keepdims: bool = False) -> typing.Any:
    """The largest element along some axes."""
    return MaxReduce.function(x, axes, keepdims) if _has_axes(x, axes) else x


def min_reduce(x: Value, axes: Axes = None, keepdims: bool = False) -> typing.Any:
    """The smallest element along some axes."""
    return MinReduce.function(x, axes, keepdims) if _has_axes(x, axes) else x


def mean(
    x: Value, axes: Axes = None, keepdims: bool = False, floatx: DType = DType.FLOAT32
) -> typing.Any:
    """The mean along some axes."""
    return Mean.function(x, axes, keepdims, floatx) if _has_axes(x, axes) else x


def variance(
    x: Value, axes: Axes = None, keepdims: bool = False, floatx: DType = DType.FLOAT32
) -> typing.Any:
    """The variance along some axes; of a single element 0."""
    return Variance.function(x, axes, keepdims, floatx)


def prod(
    value: typing.Any,
    axes: Axes = None,
    keepdims: bool = False,
    floatx: DType = DType.FLOAT32,
) -> typing.Any:
    """The product along some axes; of a list or tuple, of what is in it."""
    if not isinstance(value, Value):
        return math.prod(value)
    if not _has_axes(value, axes):
        return value
    return Prod.function(value, axes, keepdims, floatx)


def summation(
    value: Value,
    axes: Axes = None,
    keepdims: bool = False,
    floatx: DType = DType.FLOAT32,
) -> typing.Any:
    """The sum along some axes."""
    if not _has_axes(value, axes):
        return value
    return Summation.function(value, axes, keepdims, floatx)
