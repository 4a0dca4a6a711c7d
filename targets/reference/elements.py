"""Element types as NumPy types, and the conversions between them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import bf16, i1
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import Kind, computation_type, kind
from ...dialects.eltwise.numpy_types import numpy_dtype

Array: TypeAlias = npt.NDArray[Any]


def literal(number: int | float, element: Attribute) -> Array:
    """A number as an array of rank 0: integers wrap around, floats are rounded."""
    dtype = numpy_dtype(element)
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
    dtype = numpy_dtype(target)
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
