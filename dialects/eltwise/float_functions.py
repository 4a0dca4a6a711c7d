"""Further functions of floats, by the names that OpenCL C has for them.

Rows of the table of functions (`table`). Where NumPy has no such function, or only one
of fewer digits, its meaning is computed here in a wider type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .function import DIVISION, POLYNOMIAL, Function, Meaning, TypeRule


def _wide(np: Any, x: Any) -> Any:
    """The same floats in a type with digits to spare."""
    x = np.asarray(x)
    return x.astype(np.float64 if x.dtype.itemsize < 8 else np.longdouble)


def _in_wide(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """A meaning that is computed in a wider type, and rounded once."""

    def rounded(np: Any, *operands: Any) -> Any:
        dtype = np.asarray(operands[0]).dtype
        result = meaning(np, *[_wide(np, operand) for operand in operands])
        return np.asarray(result).astype(dtype)

    return rounded


def _in_python(function: Callable[..., float]) -> Callable[..., Any]:
    """A meaning by a function of Python's floats."""

    def meaning(np: Any, *operands: Any) -> Any:
        wide = [np.asarray(operand).astype(np.float64) for operand in operands]
        values = np.vectorize(function, otypes=[np.float64])(*wide)
        return values.astype(np.asarray(operands[0]).dtype)

    return meaning


def _sine_of_pi(np: Any, x: Any) -> Any:
    """Of x in half turns, brought to -1/2 to 1/2 exactly."""
    turned = x - 2 * np.rint(x / 2)
    folded = np.where(
        np.abs(turned) > 0.5, np.copysign(1 - np.abs(turned), turned), turned
    )
    return np.copysign(np.sin(_pi(np) * folded), x * (folded == 0) + folded)


def _cosine_of_pi(np: Any, x: Any) -> Any:
    turned = np.abs(x - 2 * np.rint(x / 2))
    return np.sin(_pi(np) * (0.5 - turned))


def _tangent_of_pi(np: Any, x: Any) -> Any:
    return _sine_of_pi(np, x) / _cosine_of_pi(np, x)


def _pi(np: Any) -> Any:
    return np.longdouble("3.14159265358979323846")


def _half_turns(name: str) -> Callable[..., Any]:
    """An inverse function of angles, which gives them as parts of half a turn."""

    def meaning(np: Any, *operands: Any) -> Any:
        return getattr(np, name)(*operands) / _pi(np)

    return _in_wide(meaning)


def _degrees(np: Any, x: Any) -> Any:
    return x * (180 / _pi(np))


def _radians(np: Any, x: Any) -> Any:
    return x * (_pi(np) / 180)


def _ten_to_the_power(np: Any, x: Any) -> Any:
    return np.power(x.dtype.type(10), x)


def _reciprocal_root(np: Any, x: Any) -> Any:
    return 1 / np.sqrt(x)


def _positive_difference(np: Any, x: Any, y: Any) -> Any:
    unordered = np.isnan(x) | np.isnan(y)
    rest = np.where(unordered, x + y, np.zeros_like(x))
    return np.where(x > y, x - y, rest)


def _nearest_remainder(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.remainder(x, y)


def _exponent(np: Any, x: Any) -> Any:
    x = np.asarray(x)
    special = np.where(x == 0, -np.inf, np.abs(x))
    is_usual = np.isfinite(x) & (x != 0)
    return np.where(is_usual, np.frexp(x)[1] - 1, special).astype(x.dtype)


def _scaled(np: Any, x: Any, exponent: Any) -> Any:
    # Beyond that nothing is left of any number, or it is infinite.
    steps = np.clip(np.nan_to_num(np.trunc(exponent)), -5000, 5000)
    return np.ldexp(x, steps.astype(np.int32))


def _step(np: Any, edge: Any, x: Any) -> Any:
    return np.where(x < edge, np.zeros_like(x), np.ones_like(x))


def _smooth_step(np: Any, low: Any, high: Any, x: Any) -> Any:
    part = (x - low) / (high - low)
    part = np.where(part < 0, np.zeros_like(part), np.where(part > 1, 1.0, part))
    return part * part * (3 - 2 * part)


def _fused(np: Any, x: Any, y: Any, z: Any) -> Any:
    dtype = np.asarray(x).dtype
    exact = np.vectorize(_fused_number, otypes=[np.float64])
    if dtype.itemsize == 8:
        return exact(x, y, z)
    # The product of two f32 is exact in f64. A sum that is not is made odd, so that it
    # is on the right side of what f32 rounds between.
    product = np.asarray(x, np.float64) * np.asarray(y, np.float64)
    addend = np.asarray(z, np.float64)
    total = product + addend
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    is_even = total.view(np.int64) % 2 == 0
    other = np.nextafter(total, np.where(lost > 0, np.inf, -np.inf))
    moved = np.where((lost != 0) & is_even, other, total)
    return np.where(np.isfinite(total), moved, total).astype(dtype)


def _mix(np: Any, x: Any, y: Any, weight: Any) -> Any:
    return _fused(np, y - x, weight, x)


def _fused_number(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if not exact:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def _row(
    name: str,
    summary: str,
    meaning: Meaning | None = None,
    arity: int = 1,
    opencl: str | None = None,
    rule: TypeRule = TypeRule.FLOAT,
    helper: str | None = None,
    weight: float = POLYNOMIAL,
    law: tuple[str, str] | None = None,
) -> Function:
    """A function of floats, which NumPy and OpenCL C call as it is unless told."""
    operands = ", ".join(f"{{{number}}}" for number in range(arity))
    spelling = opencl or f"{name}({operands})"
    meaning = name if meaning is None else meaning
    return Function(
        name,
        arity,
        rule,
        meaning,
        spelling,
        summary,
        helper=helper,
        weight=weight,
        law=law,
    )


_SMOOTH_STEP_HELPER = (
    "{T} smooth_step_{N}({T} low, {T} high, {T} x) {{\n"
    "  const {T} part = (x - low) / (high - low);\n"
    "  const {T} t = part < ({T})0 ? ({T})0 : part > ({T})1 ? ({T})1 : part;\n"
    "  return t * t * (({T})3 - ({T})2 * t);\n"
    "}}"
)

FLOAT_FUNCTIONS: tuple[Function, ...] = (
    # Roots and powers.
    _row("rsqrt", "The reciprocal of the square root.", _in_wide(_reciprocal_root),
         weight=DIVISION),
    _row("cbrt", "The cube root."),
    _row("hypot", "The square root of `x * x + y * y`, without overflow between.",
         arity=2),
    _row("exp2", "2 to the power x.", law=("add", "mul")),
    _row("exp10", "10 to the power x.", _in_wide(_ten_to_the_power),
         law=("add", "mul")),
    _row("expm1", "`exp(x) - 1`, exact near 0."),
    _row("log2", "The logarithm to base 2."),
    _row("log10", "The logarithm to base 10."),
    _row("log1p", "`log(1 + x)`, exact near 0."),
    _row("logb", "The exponent of 2 in x, an integer.", _exponent, weight=4),
    _row("ldexp", "x times 2 to the power y, which loses its fraction.", _scaled, 2,
         "ldexp({0}, convert_{I}_sat({1}))", weight=4),
    # Angles.
    _row("atan2", "The angle of a point by its ordinate x and its abscissa y.",
         "arctan2", 2),
    _row("atan2pi", "`atan2` in half turns.", _half_turns("arctan2"), 2),
    _row("sinpi", "The sine of x half turns.", _in_wide(_sine_of_pi)),
    _row("cospi", "The cosine of x half turns.", _in_wide(_cosine_of_pi)),
    _row("tanpi", "The tangent of x half turns.", _in_wide(_tangent_of_pi)),
    _row("asinpi", "`asin` in half turns.", _half_turns("arcsin")),
    _row("acospi", "`acos` in half turns.", _half_turns("arccos")),
    _row("atanpi", "`atan` in half turns.", _half_turns("arctan")),
    _row("degrees", "An angle in radians as degrees.", _in_wide(_degrees), weight=1),
    _row("radians", "An angle in degrees as radians.", _in_wide(_radians), weight=1),
    # Parts of numbers, and choices.
    _row("erfc", "`1 - erf(x)`, exact where that is small.", _in_python(math.erfc)),
    _row("copysign", "x with the sign of y.", arity=2, weight=2),
    _row("fdim", "`x - y` where that is positive, else 0; NaN when either is NaN.",
         _positive_difference, 2,
         "({0} > {1} ? {0} - {1} : ({0} != {0} || {1} != {1}) ? ({T})NAN : ({T})0)",
         weight=4),
    _row("remainder", "`x - n * y`, exactly, with n the integer nearest to `x / y`.",
         _in_python(_nearest_remainder), 2),
    _row("fmax", "The larger; of a number and NaN the number.", arity=2, weight=2),
    _row("fmin", "The smaller; of a number and NaN the number.", arity=2, weight=2),
    _row("step", "Whether y is at least x, as 0 or 1: `step(edge, x)`.", _step, 2,
         "({1} < {0} ? ({T})0 : ({T})1)", weight=1),
    _row("smoothstep", "From 0 to 1 for z from x to y, smooth at both ends.",
         _smooth_step, 3, "smooth_step_{N}({0}, {1}, {2})",
         helper=_SMOOTH_STEP_HELPER, weight=DIVISION + 6),
    _row("mix", "`fma(y - x, z, x)`: from x to y for z from 0 to 1.", _mix, 3,
         "fma({1} - {0}, {2}, {0})", weight=2),
    _row("fma", "`x * y + z`, rounded once.", _fused, 3, weight=1),
    # Tests.
    _row("isnan", "Whether it is NaN.", rule=TypeRule.TEST, opencl="({0} != {0})",
         weight=1),
    _row("isinf", "Whether it is infinite.", rule=TypeRule.TEST,
         opencl="(fabs({0}) == ({T})INFINITY)", weight=1),
    _row("isfinite", "Whether it is neither infinite nor NaN.", rule=TypeRule.TEST,
         opencl="(fabs({0}) < ({T})INFINITY)", weight=1),
    _row("signbit", "Whether its sign is negative, as that of -0.0 is.",
         rule=TypeRule.TEST, weight=1),
)  # fmt: skip
"""Functions of floats beside those that `table` spells out itself."""
