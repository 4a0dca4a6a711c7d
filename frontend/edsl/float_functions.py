"""The functions of floats that have their names from OpenCL C."""

from __future__ import annotations

from typing import Any

from .functions import abs, mod, of_sizes_too, round
from .tensors import Tensor, apply

fabs, fmod, rint = abs, mod, round


def clamp(x: Any, low: Any, high: Any) -> Any:
    """`x`, or the nearer end of the range from `low` to `high`; of sizes a size."""
    return of_sizes_too("clamp", x, low, high)


def trunc(x: Any) -> Any:
    """The nearest integer that is not farther from 0."""
    return of_sizes_too("trunc", x)


def atan2(y: Any, x: Any) -> Tensor:
    """The angle of the point (x, y), from -pi to pi."""
    return apply("atan2", y, x)


def atan2pi(y: Any, x: Any) -> Tensor:
    """`atan2` in half turns, from -1 to 1."""
    return apply("atan2pi", y, x)


def acospi(x: Any) -> Tensor:
    """`acos` in half turns."""
    return apply("acospi", x)


def asinpi(x: Any) -> Tensor:
    """`asin` in half turns."""
    return apply("asinpi", x)


def atanpi(x: Any) -> Tensor:
    """`atan` in half turns."""
    return apply("atanpi", x)


def cbrt(x: Any) -> Tensor:
    """The cube root."""
    return apply("cbrt", x)


def copysign(x: Any, y: Any) -> Tensor:
    """`x` with the sign of `y`."""
    return apply("copysign", x, y)


def cospi(x: Any) -> Tensor:
    """The cosine of `x` half turns."""
    return apply("cospi", x)


def degrees(x: Any) -> Tensor:
    """An angle in radians as degrees."""
    return apply("degrees", x)


def erfc(x: Any) -> Tensor:
    """`1 - erf(x)`, exact where that is small."""
    return apply("erfc", x)


def exp10(x: Any) -> Tensor:
    """10 to the power `x`."""
    return apply("exp10", x)


def exp2(x: Any) -> Tensor:
    """2 to the power `x`."""
    return apply("exp2", x)


def expm1(x: Any) -> Tensor:
    """`exp(x) - 1`, exact near 0."""
    return apply("expm1", x)


def fdim(x: Any, y: Any) -> Tensor:
    """`x - y` where that is positive, else 0."""
    return apply("fdim", x, y)


def fma(x: Any, y: Any, z: Any) -> Tensor:
    """`x * y + z`, rounded once."""
    return apply("fma", x, y, z)


def fmax(x: Any, y: Any) -> Tensor:
    """The larger; of a number and NaN the number."""
    return apply("fmax", x, y)


def fmin(x: Any, y: Any) -> Tensor:
    """The smaller; of a number and NaN the number."""
    return apply("fmin", x, y)


def hypot(x: Any, y: Any) -> Tensor:
    """The square root of `x * x + y * y`, without overflow between."""
    return apply("hypot", x, y)


def isfinite(x: Any) -> Tensor:
    """Whether it is neither infinite nor NaN."""
    return apply("isfinite", x)


def isinf(x: Any) -> Tensor:
    """Whether it is infinite."""
    return apply("isinf", x)


def isnan(x: Any) -> Tensor:
    """Whether it is NaN."""
    return apply("isnan", x)


def ldexp(x: Any, y: Any) -> Tensor:
    """`x` times 2 to the power `y`, which loses its fraction."""
    return apply("ldexp", x, y)


def log10(x: Any) -> Tensor:
    """The logarithm to base 10."""
    return apply("log10", x)


def log1p(x: Any) -> Tensor:
    """`log(1 + x)`, exact near 0."""
    return apply("log1p", x)


def log2(x: Any) -> Tensor:
    """The logarithm to base 2."""
    return apply("log2", x)


def logb(x: Any) -> Tensor:
    """The exponent of 2 in `x`, an integer."""
    return apply("logb", x)


def mix(x: Any, y: Any, a: Any) -> Tensor:
    """From `x` to `y` for `a` from 0 to 1: `fma(y - x, a, x)`."""
    return apply("mix", x, y, a)


def radians(x: Any) -> Tensor:
    """An angle in degrees as radians."""
    return apply("radians", x)


def remainder(x: Any, y: Any) -> Tensor:
    """`x - n * y`, exactly, with `n` the integer nearest to `x / y`."""
    return apply("remainder", x, y)


def rsqrt(x: Any) -> Tensor:
    """The reciprocal of the square root."""
    return apply("rsqrt", x)


def signbit(x: Any) -> Tensor:
    """Whether its sign is negative, as that of -0.0 is."""
    return apply("signbit", x)


def sinpi(x: Any) -> Tensor:
    """The sine of `x` half turns."""
    return apply("sinpi", x)


def smoothstep(low: Any, high: Any, x: Any) -> Tensor:
    """From 0 to 1 for `x` from `low` to `high`, smooth at both ends."""
    return apply("smoothstep", low, high, x)


def step(edge: Any, x: Any) -> Tensor:
    """Whether `x` is at least `edge`, as 0 or 1."""
    return apply("step", edge, x)


def tanpi(x: Any) -> Tensor:
    """The tangent of `x` half turns."""
    return apply("tanpi", x)
