"""Sine, cosine and tangent of all of f32, by way of f64.

The argument is reduced to the nearest multiple of a right angle by as many digits of
2/pi as the largest numbers need (Payne and Hanek, SIGNUM Newsletter 18, 1983). The
digits come in pieces so short that their products with an f32 are exact in f64; of each
product only the part modulo 4 right angles is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, f64

from ....dialects.eltwise.element_types import ui32
from .exponential import MAGIC
from .number import Number

_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561
_DIGITS = 256
"""2/pi in units of 2**-256."""
_PIECE = 29
"""f32 has 24 bits and f64 53."""
_PIECES = 7
"""Enough for 2**128 times 2/pi, modulo 4, to have 75 bits behind the point."""

# Added to a number of f64, they leave an integer, or an even one; runtimes take long to
# find the nearest one.
_TO_INTEGER = 1.5 * 2.0**52
"""For numbers below 2**51."""
_TO_EVEN = 3 * 2.0**52
"""For numbers below 2**52."""

# sin(r) / r - 1 and (cos(r) - 1) / r**2 in r**2, for abs(r) <= pi / 4; within 2e-10.
_SINE = (-0.16666667, 0.008333379, -0.00019853069, 2.8326294e-06)
_COSINE = (-0.5, 0.041666646, -0.0013887309, 2.4432327e-05)


@dataclass(frozen=True)
class _Reduced:
    """An angle as a number of right angles, and sine and cosine of the rest."""

    quarters: Number
    """In the lowest two bits."""
    sine: Number
    cosine: Number

    @property
    def is_odd(self) -> Number:
        """Whether sine and cosine change places."""
        return (self.quarters & 1).differs(0)


def sin(x: Number) -> Number:
    """The sine."""
    angle = _reduce(x)
    result = angle.is_odd.select(angle.cosine, angle.sine)
    return _near_zero(x, _negative_if(angle.quarters & 2, result))


def cos(x: Number) -> Number:
    """The cosine."""
    angle = _reduce(x)
    result = angle.is_odd.select(angle.sine, angle.cosine)
    return _negative_if((angle.quarters + 1) & 2, result)


def tan(x: Number) -> Number:
    """The tangent."""
    angle = _reduce(x)
    swapped = angle.is_odd
    above = swapped.select(angle.cosine, angle.sine)
    below = swapped.select(angle.sine, angle.cosine)
    return _near_zero(x, _negative_if((angle.quarters & 1) << 1, above / below))


def _reduce(x: Number) -> _Reduced:
    wide = x.to(f64).named("wide")
    # NaN of what is not finite.
    rest = (wide * 0.0).named("rest")
    quarters = wide.like(0.0)
    for number in range(_PIECES):
        turn = (wide * _piece(number)).named("turn")
        # A product of 53 digits is a multiple of 4 there.
        turn = (abs(turn) < 2.0**54).select(turn, 0.0).named("turn")
        turn = turn - _rounded(turn * 0.25, _TO_EVEN) * 4.0
        rest = (rest + turn).named("rest")
        whole = _rounded(rest, _TO_INTEGER).named("whole")
        rest = (rest - whole).named("rest")
        quarters = (quarters + whole).named("quarters")
    r = (rest * (math.pi / 2)).to(f32).named("r")
    square = (r * r).named("square")
    sine = (square * r) * square.polynomial(*_SINE) + r
    cosine = square * square.polynomial(*_COSINE) + 1.0
    return _Reduced(
        (quarters.to(f32) + MAGIC).as_bits_of(ui32).named("quarters"),
        sine.named("sine"),
        cosine.named("cosine"),
    )


def _rounded(x: Number, magic: float) -> Number:
    """An integer close to x, by adding a number that leaves no other digits."""
    return x + magic - magic


def _piece(number: int) -> float:
    """A piece of 2/pi; all of them add up to it."""
    shift = _DIGITS - _PIECE * (number + 1)
    digits = (_TWO_OVER_PI >> shift) % 2**_PIECE
    return math.ldexp(digits, shift - _DIGITS)


def _negative_if(bit: Number, result: Number) -> Number:
    """The number with its sign changed where bit 1 of an integer is set."""
    return (result.bits() ^ (bit << 30)).as_bits_of(f32)


def _near_zero(x: Number, result: Number) -> Number:
    """`x` itself where it is so small that it is its own sine and tangent."""
    return (abs(x) < 2.0**-13).select(x, result)
