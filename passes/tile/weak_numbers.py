"""Weak numbers: literals, sizes, and element-wise functions of only those.

A weak number has a value and no type. It takes the type of what it meets: in `X * 0.5`
that of X, when X is a float. So it is computed in 64 bits, as Python computes, and
becomes a constant where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import (
    Kind,
    f32,
    fits,
    i1,
    kind,
    si32,
    si64,
)
from ...dialects.eltwise.table import Function

Number: TypeAlias = bool | int | float


def default_element(number: Number) -> Attribute:
    """The element type of a weak number that meets no other type.

    i1, f32 or si32; si64 for an integer that si32 does not hold.
    """
    if isinstance(number, bool):
        return i1
    if isinstance(number, float):
        return f32
    return si32 if fits(number, si32) else si64


def as_constant(number: Number, element: Attribute) -> int | float:
    """The value of a constant of a type that the number fits."""
    if kind(element) is Kind.FLOAT:
        return float(number)
    if kind(element) is Kind.BOOLEAN:
        return int(number != 0)
    return int(number)


def evaluate(function: Function, operands: Sequence[Number]) -> Number:
    """An element-wise function of weak numbers, computed in 64 bits.

    Raises TypeError when the function does not take such numbers.
    """
    import numpy as np

    types: dict[Kind, Any] = {
        Kind.BOOLEAN: np.bool_,
        Kind.SIGNED: np.int64,
        Kind.FLOAT: np.float64,
    }
    casts, result = function.signature([default_element(n) for n in operands])
    arguments = [
        np.asarray(number, dtype=types[kind(cast)])
        for number, cast in zip(operands, casts, strict=True)
    ]
    with np.errstate(all="ignore"):
        value = function.evaluate(np, *arguments).item()
    if kind(result) is Kind.FLOAT:
        return float(value)
    return bool(value) if kind(result) is Kind.BOOLEAN else int(value)


def format_number(number: Number) -> str:
    """The number as a user writes it."""
    if isinstance(number, float) and math.isfinite(number):
        return f"{number:g}"
    return str(number).lower()
