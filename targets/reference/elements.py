"""Element types as NumPy types, and the conversions between them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    bf16,
    f16,
    f32,
    i1,
)
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import Kind, bit_width, kind

Array: TypeAlias = npt.NDArray[Any]


def dtype_of(element: Attribute) -> np.dtype[Any]:
    """The NumPy type that holds an element type; sizes (`index`) are int64.

    Raises ValueError for what is not an element type.
    """
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if isinstance(element, BFloat16Type):
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    if isinstance(element, Float16Type | Float32Type | Float64Type):
        return np.dtype(f"f{element.bitwidth // 8}")
    if element == i1:
        return np.dtype(np.bool_)
    letter = "u" if kind(element) is Kind.UNSIGNED else "i"
    return np.dtype(f"{letter}{bit_width(element) // 8}")


def computation_type(element: Attribute) -> Attribute:
    """The type that functions of this type are computed in: f32 for f16 and bf16."""
    return f32 if element in (f16, bf16) else element


def literal(number: int | float, element: Attribute) -> Array:
    """A number as an array of rank 0: integers wrap around, floats are rounded."""
    dtype = dtype_of(element)
    if dtype.kind in "iu":
        bits = dtype.itemsize * 8
        unsigned = np.array(int(number) % 2**bits, f"u{dtype.itemsize}")
        return unsigned.view(dtype)
    with np.errstate(all="ignore"):
        return np.array(_as_float(number)).astype(dtype)


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def cast(array: Array, source: Attribute, target: Attribute) -> Array:
    """The array converted by C's rules, with those cases defined that C leaves open.

    A float becomes an integer by truncation toward zero; outside the integer's range it
    becomes the nearest integer of the type, and NaN becomes 0. Integers wrap around.
    Anything becomes an i1 by comparison with zero. Rounding is to nearest, ties to
    even; what becomes f16 or bf16 is rounded to f32 first, except f64 to f16.
    """
    dtype = dtype_of(target)
    if source == target:
        return array
    with np.errstate(all="ignore"):
        if target == i1:
            return np.asarray(array != 0)
        if kind(source) is not Kind.FLOAT:
            if computation_type(target) != target:
                array = array.astype(np.float32)
            return array.astype(dtype)
        if kind(target) is Kind.FLOAT:
            if target == bf16:
                array = array.astype(np.float32)
            return array.astype(dtype)
        return _saturated(array.astype(np.float64), dtype)


def _saturated(array: Array, dtype: np.dtype[Any]) -> Array:
    """Floats of double precision as the nearest integers of a type, toward zero."""
    whole = np.trunc(np.where(np.isnan(array), 0, array))
    limits = np.iinfo(dtype)
    # The upper limit of a 64-bit type rounds up to a power of two, hence `>=`.
    below, above = whole <= float(limits.min), whole >= float(limits.max)
    inside = np.where(below | above, 0, whole).astype(dtype)
    upper = np.where(above, np.array(limits.max, dtype), inside)
    return np.where(below, np.array(limits.min, dtype), upper)
