"""The natural logarithm in f32 (Cody and Waite 1980, chapter 5; Cephes, logf)."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f32

from .exponential import LN2_HIGH, LN2_LOW
from .number import Number

# log(1 + f) - f + f**2 / 2 for f from -0.293 to 0.4143, over f**3; within 5.9e-9 of
# log(1 + f).
_LOG = (
    0.3333333,
    -0.25000823,
    0.2000125,
    -0.16623315,
    0.14201273,
    -0.1316019,
    0.12764764,
    -0.076381892,
)

_HALF_ROOT = 0x3F3504F3
"""The bits of the root of 1/2, from which the mantissa runs to twice of it."""
_ONE = 0x3F800000
_MANTISSA = 0x007FFFFF
_INTEGER = 0x4B000000
"""The bits of 2**23: with an integer in the lowest bits, that integer added."""


def log(x: Number) -> Number:
    """The natural logarithm; -inf of 0, NaN of negative numbers."""
    is_tiny = x < 2.0**-126
    normal = is_tiny.select(x * 2.0**23, x).named("normal")
    bits = (normal.bits() + (_ONE - _HALF_ROOT)).named("bits")
    mantissa = ((bits & _MANTISSA) + _HALF_ROOT).as_bits_of(f32)
    exponent = ((bits >> 23) | _INTEGER).as_bits_of(f32)
    bias = is_tiny.select(x.like(2.0**23 + 127 + 23), 2.0**23 + 127)
    exponent = (exponent - bias).named("exponent")
    f = (mantissa - 1.0).named("f")
    square = (f * f).named("square")
    low = f.polynomial(*_LOG) * (f * square).named("cube") + exponent * LN2_LOW
    low = (low - square * 0.5).named("low")
    result = exponent * LN2_HIGH + (f + low).named("high")
    result = x.equals(math.inf).select(x, result)
    outside = x.equals(0.0).select(x.like(-math.inf), math.nan)
    return (x > 0.0).select(result, outside)
