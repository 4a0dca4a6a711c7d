"""Division of a vector by one number, in OpenCL C.

With `r = 1 / y` rounded to the nearest number, `q = x * r` is at most 1.5 units in the
last place off, and one correction by the remainder, `q + (x - q * y) * r` with two
fused multiply-adds, is the quotient rounded to the nearest (Markstein, Computation of
elementary functions on the IBM RISC System/6000 processor, 1990; Brisebarre, Muller and
Raina, Accelerating correctly rounded floating-point division when the divisor is known
in advance, 2004). That holds as long as nothing overflows and no remainder is too small
for f32: for divisors of 2**-24 to 2**24 and magnitudes of 2**-100 to 2**102, which give
quotients of 2**-124 to 2**126. The remainder is taken with the signs that keep -0.0.

What is rounded last is at most 3 * 2**-48 of the quotient's binade off, as a remainder
may need one bit more than there is. So only quotients that close to the middle of two
numbers could be rounded to the wrong one. Of these there are few for each divisor: all
of them, of all divisors, were tried.

One comparison of the bits finds vectors of positive numbers in that range. Others are
looked at again, and are mostly negative numbers or zeros, which are right as well. What
is left is divided.
"""

from __future__ import annotations

from ...printer.types import CType

_DIVIDE = """\
{T} divide_{T}(const {T} x, const float y) {{
#ifndef __FAST_RELAXED_MATH__
  if (y >= 0x1p-24f && y <= 0x1p24f) {{
    const float r = 1.0f / y;
    const {T} rough = x * ({T})(r);
    const {T} excess = fma(rough, ({T})(y), -x);
    const {T} quotient = fma(-excess, ({T})(r), rough);
    const {U} above = as_{U}(x) - ({U})(0x0D800000u);
    if (!any(above > ({U})(0x65000000u)))
      return quotient;
    const {T} size = fabs(x);
    const {I} inside = size >= ({T})(0x1p-100f) & size <= ({T})(0x1p102f);
    if (!any((x != ({T})(0.0f)) & !inside))
      return quotient;
  }}
#endif
  return x / ({T})(y);
}}
"""


def divide_helper(type: CType) -> str:
    """The definition of the function that divides a vector of f32 by a number."""
    return _DIVIDE.format(T=type.name, U=f"uint{type.lanes}", I=f"int{type.lanes}")
