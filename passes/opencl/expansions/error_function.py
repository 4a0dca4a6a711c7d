"""The error function in f32.

Near zero it is a polynomial; elsewhere `1 - exp(q)`, where `q`, the logarithm of the
complement, is a polynomial too. Both are minimax fits with f32 coefficients.
"""

from __future__ import annotations

from .exponential import with_sign_of
from .number import Number

_BORDER = 0.925
_LAST = 4.0
"""From here on the result is 1."""

# erf(x) / x - 1 in x**2, for abs(x) < 0.93; within 9e-10 of erf(x).
_NEAR = (
    0.12837917,
    -0.3761263,
    0.11283626,
    -0.026855731,
    0.005192405,
    -0.000804977,
    7.99665e-05,
)

# log(erfc(x)) / x + 1 for x from 0.92 to 4; erf(x) within 3e-9.
_FAR = (
    -0.12851436,
    -0.63571829,
    -0.10526191,
    0.022890039,
    -0.003214991,
    0.00021399117,
)


def erf(x: Number) -> Number:
    """The error function."""
    size = abs(x)
    size = (size > _LAST).select(_LAST, size).named("size")
    near = x * (x * x).named("square").polynomial(*_NEAR) + x
    logarithm = (size * size.polynomial(*_FAR) - size).named("logarithm")
    far = with_sign_of(x, 1.0 - logarithm.apply("exp"))
    return (size > _BORDER).select(far.named("far"), near.named("near"))
