"""x to the power y in f32, by way of f64.

The logarithm of x is needed to as many digits beyond f32 as y * log(x) has before the
point: f64 has them, and makes the rest simple.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import f32, f64

from .exponential import LOG2_E, MAGIC, exp_of_parts
from .number import Number

_HALF_ROOT = 0x3FE6A09E667F3BCD
"""The bits of the root of 1/2, from which the mantissa runs to twice of it."""
_ONE = 0x3FF0000000000000
_MANTISSA = 0x000FFFFFFFFFFFFF
_INTEGER = 0x4330000000000000
"""The bits of 2**52: with an integer in the lowest bits, that integer added."""
_SIGN = 0x80000000


def power(x: Number, y: Number) -> Number:
    """`x` to the power `y`, with the special cases of C99 (F.9.4.4)."""
    size = abs(x).named("size")
    exponent = (y.to(f64) * _log(size.to(f64))).named("exponent")
    # 1 has every power; beyond these limits the result is 0 or infinity.
    exponent = size.equals(1.0).select(exponent.like(0.0), exponent)
    exponent = exponent.clipped(-104.0, 89.0)
    shifted = (exponent.to(f32) * (LOG2_E / 2) + MAGIC).named("shifted")
    half = (shifted - MAGIC).to(f64).named("halved")
    rest = (exponent - half * (2 * math.log(2))).to(f32).named("rest")
    result = exp_of_parts(rest, shifted).named("result")
    # Numbers from 2**24 on are even, so that their halves are integers.
    is_integer = y.apply("floor").equals(y)
    half_y = (y * 0.5).named("half_y")
    is_odd = is_integer.both(half_y.apply("floor").differs(half_y))
    sign = is_odd.select(x.bits() & _SIGN, 0).named("sign")
    result = (result.bits() | sign).as_bits_of(f32)
    is_root = (x < 0.0).both(is_integer.apply("logical_not"))
    is_root = is_root.both(size.differs(math.inf))
    result = is_root.select(math.nan, result)
    is_one = y.equals(0.0).apply("logical_or", x.equals(1.0))
    return is_one.select(1.0, result)


def _log(x: Number) -> Number:
    """The natural logarithm in f64 of what is no denormal, within 2e-12 of it.

    `log(m) = 2 artanh(s)` with `s = (m - 1) / (m + 1)`, whose series ends soon.
    """
    bits = (x.bits() + (_ONE - _HALF_ROOT)).named("bits")
    mantissa = ((bits & _MANTISSA) + _HALF_ROOT).as_bits_of(f64).named("mantissa")
    exponent = ((bits >> 52) | _INTEGER).as_bits_of(f64) - (2.0**52 + 1023)
    s = ((mantissa - 1.0) / (mantissa + 1.0)).named("s")
    square = (s * s).named("square")
    series = square.polynomial(*(2 / n for n in range(1, 14, 2)))
    result = exponent * math.log(2) + (s * series).named("log_of_mantissa")
    result = x.equals(math.inf).select(x, result)
    result = x.differs(x).select(x, result)
    return x.equals(0.0).select(-math.inf, result)
