"""e to the power x and what is made of it, in f32.

The argument is split into a multiple of `ln 2`, which becomes bits of the exponent, and
a small rest, of which a polynomial is taken (Cody and Waite, Software Manual for the
Elementary Functions, 1980, chapter 6). The polynomials are minimax fits with f32
coefficients.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32

from ....dialects.eltwise.element_types import ui32
from .number import Number

MAGIC = 1.5 * 2.0**23
"""Added to a number below 2**22, it leaves the nearest integer in the lowest bits."""

# ln 2 as a number of ten bits, whose product with a small integer is exact, and a rest.
LN2_HIGH = 0.693359375
LN2_LOW = -2.12194440e-4
LOG2_E = 1.4426950408889634

_ONE = 0x3F800000
_SIGN = 0x80000000

# exp(r) - 1 - r for abs(r) < 0.6967, over r**2; within 1.5e-8 of exp(r).
_EXP = (
    0.50000036,
    0.16666614,
    0.041661166,
    0.0083361184,
    0.0014106446,
    0.000196133,
)

# The same, within 1.5e-8 of exp(r) - 1, for abs(r) < 0.3501.
_EXP_MINUS_ONE = (
    0.49999997,
    0.16666542,
    0.04166743,
    0.008366877,
    0.001387187,
)


def exp(x: Number) -> Number:
    """The exponential function: e to the power `x`."""
    # Beyond these limits the result is 0 or infinity.
    x = x.clipped(-104.0, 89.0).named("clipped")
    shifted = (x * (LOG2_E / 2) + MAGIC).named("shifted")
    half = (shifted - MAGIC).named("halved")
    rest = (x - half * (2 * LN2_HIGH) - half * (2 * LN2_LOW)).named("rest")
    return exp_of_parts(rest, shifted)


def exp_of_parts(rest: Number, shifted: Number) -> Number:
    """exp(rest) * 4**n, where `shifted` is MAGIC + n.

    The power of two is multiplied in two steps, as it may lie outside of f32 where the
    result does not.
    """
    power = rest.polynomial(*_EXP) * (rest * rest).named("square") + rest + 1.0
    scale = _power_of_two(shifted).named("scale")
    return power.named("power") * scale * scale


def sigmoid(x: Number) -> Number:
    """1 / (1 + exp(-x)), by powers that do not overflow."""
    power = (-abs(x)).apply("exp").named("power")
    return (x < 0.0).select(power, 1.0) / (power + 1.0)


def tanh(x: Number) -> Number:
    """The hyperbolic tangent, `p / (p + 2)` with `p = exp(2 abs(x)) - 1`.

    `p` is `2**n * (exp(r) - 1) + (2**n - 1)`: nothing cancels.
    """
    size = abs(x)
    # From here on the result is 1.
    size = (size > 9.1).select(9.1, size).named("size")
    shifted = (size * (2 * LOG2_E) + MAGIC).named("shifted")
    exponent = (shifted - MAGIC).named("exponent")
    rest = (size * 2.0 - exponent * LN2_HIGH - exponent * LN2_LOW).named("rest")
    less_one = rest.polynomial(*_EXP_MINUS_ONE) * (rest * rest).named("square") + rest
    scale = _power_of_two(shifted).named("scale")
    power = (less_one * scale + (scale - 1.0)).named("power_less_one")
    return with_sign_of(x, power / (power + 2.0))


def with_sign_of(x: Number, size: Number) -> Number:
    """A number that is not negative, with the sign of another one."""
    return (size.bits() | (x.bits() & _SIGN)).as_bits_of(size.element)


def _power_of_two(shifted: Number) -> Number:
    """2**n in f32, where `shifted` is MAGIC + n."""
    return ((shifted.as_bits_of(ui32) << 23) + _ONE).as_bits_of(f32)
