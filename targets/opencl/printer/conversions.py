"""The functions that conversions call, in OpenCL C.

For f16 that takes what every device has, `vload_half` and `vstore_half_rte`, on the
address of a variable; compilers make the one instruction of it that converts registers.
"""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Attribute

from ...printer.types import CType

_FROM_HALF = """\
float{N} half_to_float{N}(ushort{N} x) {{
  return vload_half{N}(0, (const __private half *)&x);
}}
"""

_TO_HALF = """\
ushort{N} half_from_{T}{N}({T}{N} x) {{
  ushort{N} bits;
  vstore_half{N}_rte(x, 0, (__private half *)&bits);
  return bits;
}}
"""

# Rounded to nearest, ties to even, by a carry into the upper half. A NaN could become
# infinity so, and is therefore made quiet instead, which sets an upper bit.
_TO_BFLOAT = """\
ushort{N} bfloat_from_float{N}(float{N} x) {{
  const uint{N} bits = as_uint{N}(x);
  const uint{N} rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return {convert}((x == x ? rounded : bits | 0x400000u) >> 16);
}}
"""


def cast_helper(source: CType, target: Attribute) -> str | None:
    """The definition of the function that a conversion calls, if it calls one."""
    lanes = source.lanes or ""
    if (source.element, target) == (f16, f32):
        return _FROM_HALF.format(N=lanes)
    if source.element in (f32, f64) and target == f16:
        return _TO_HALF.format(N=lanes, T=source.scalar)
    if (source.element, target) == (f32, bf16):
        convert = f"convert_ushort{lanes}" if lanes else "(ushort)"
        return _TO_BFLOAT.format(N=lanes, convert=convert)
    return None
