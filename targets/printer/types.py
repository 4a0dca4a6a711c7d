"""Types and numbers of languages like C, by the names of OpenCL C."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    IndexType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import (
    Kind,
    bit_width,
    is_storage_type,
    kind,
    si8,
    si16,
    si32,
    si64,
    ui8,
    ui16,
    ui32,
    ui64,
)
from ...dialects.eltwise.ops import element_of
from ...dialects.opencl.attributes import VECTOR_LENGTHS
from ...errors import GinghamError

_SCALARS: dict[Attribute, str] = {
    # A truth value is computed as an int that is 0 or 1.
    i1: "int",
    si8: "char",
    ui8: "uchar",
    si16: "short",
    ui16: "ushort",
    si32: "int",
    ui32: "uint",
    si64: "long",
    ui64: "ulong",
    # Types of memory, held as their bits.
    f16: "ushort",
    bf16: "ushort",
    f32: "float",
    f64: "double",
    IndexType(): "long",
}

_SIGNED_BY_WIDTH = {8: "char", 16: "short", 32: "int", 64: "long"}


@dataclass(frozen=True)
class CType:
    """A scalar or vector type by its name in OpenCL C, as `eltwise` values have it.

    `mask_bits` is the width of the lanes of a vector of truth values, which are 0 or
    -1; in all other cases None.
    """

    element: Attribute
    lanes: int | None = None
    mask_bits: int | None = None

    @property
    def scalar(self) -> str:
        """The type of one lane."""
        if self.mask_bits is not None:
            return _SIGNED_BY_WIDTH[self.mask_bits]
        return scalar_name(self.element)

    @property
    def name(self) -> str:
        """The type as it is written: `float16`."""
        return f"{self.scalar}{self.lanes or ''}"

    @property
    def bits(self) -> int:
        """The width of one lane."""
        if self.mask_bits is not None:
            return self.mask_bits
        if isinstance(self.element, IndexType):
            return 64
        # The int that holds a truth value.
        return 32 if self.element == i1 else bit_width(self.element)

    @property
    def kind(self) -> Kind:
        """Whether its elements are truth values, integers or floats."""
        return kind(self.element)

    def with_element(self, element: Attribute) -> CType:
        """The type of as many lanes of another element type; not of truth values."""
        return CType(element, self.lanes)


def c_type(type: Attribute) -> CType:
    """The C type of a scalar or vector; a vector of truth values has lanes of 8 bits.

    Raises GinghamError for what a kernel does not have.
    """
    element = element_of(type)
    scalar_name(element)
    if not isinstance(type, VectorType):
        return CType(element)
    shape = type.get_shape()
    if len(shape) != 1 or shape[0] not in VECTOR_LENGTHS:
        lengths = ", ".join(str(length) for length in VECTOR_LENGTHS)
        raise GinghamError(
            f"a kernel has no vector like {type}",
            hint=f"vectors have one axis of {lengths} elements",
        )
    return CType(element, shape[0], 8 if element == i1 else None)


def scalar_name(element: Attribute) -> str:
    """The C type of a scalar value. Raises GinghamError where there is none."""
    name = _SCALARS.get(element)
    if name is None:
        raise GinghamError(f"a kernel has no type for {element}")
    return name


def memory_name(type: Attribute) -> str:
    """The C type of an element in memory, where a truth value is a byte."""
    ctype = c_type(type)
    if ctype.element == i1:
        return f"uchar{ctype.lanes or ''}"
    return ctype.name


def scalar_literal(number: float, element: Attribute) -> str:
    """A number rounded to a scalar type; never ambiguous.

    Integers outside of the type wrap around.
    """
    if element == i1:
        return "1" if number else "0"
    if is_storage_type(element):
        return str(_storage_bits(number, element))
    if kind(element) is Kind.FLOAT:
        return _float_literal(number, element)
    if isinstance(element, IndexType):
        return integer_literal(int(number))
    wrapped = int(number) % 2 ** bit_width(element)
    if kind(element) is Kind.UNSIGNED:
        return f"{wrapped}{'UL' if element == ui64 else 'u' if element == ui32 else ''}"
    if wrapped >= 2 ** (bit_width(element) - 1):
        wrapped -= 2 ** bit_width(element)
    return integer_literal(wrapped, is_long=element == si64)


def integer_literal(number: int, is_long: bool = False) -> str:
    """A signed number, a long one where it must be or where an int can not hold it."""
    suffix = "L" if is_long or not -(2**31) <= number < 2**31 else ""
    if number in (-(2**31), -(2**63)):
        # The smallest number is the negative of one that the type does not have.
        return f"({number + 1}{suffix} - 1)"
    return f"({number}{suffix})" if number < 0 else f"{number}{suffix}"


def _storage_bits(number: int | float, element: Attribute) -> int:
    """A number as the bits of f16 or bf16, rounded to nearest, ties to even."""
    if element == f16:
        (bits,) = struct.unpack("H", struct.pack("e", _rounded(number, "e")))
        return bits
    rounded = _rounded(number, "f")
    (bits,) = struct.unpack("I", struct.pack("f", rounded))
    if math.isnan(rounded):
        return bits >> 16
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _float_literal(number: int | float, element: Attribute) -> str:
    rounded = _rounded(number, "d" if element == f64 else "f")
    if math.isnan(rounded):
        text = "NAN"
    elif math.isinf(rounded):
        text = "INFINITY" if rounded > 0 else "-INFINITY"
    elif element == f64:
        text = repr(rounded)
    else:
        text = f"{_shortest_float(rounded)}f"
    if element == f32 or math.isfinite(rounded):
        return f"({text})" if text.startswith("-") else text
    # NAN and INFINITY are floats.
    return f"((double)({text}))"


def _rounded(number: int | float, format: str) -> float:
    """A number rounded to half ('e'), float ('f') or double ('d') precision."""
    try:
        (result,) = struct.unpack(format, struct.pack(format, float(number)))
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return result


def _shortest_float(number: float) -> str:
    """The shortest decimal that names a float (of 32 bits) exactly."""
    for digits in range(1, 10):
        text = f"{number:.{digits}g}"
        if _rounded(float(text), "f") == number:
            break
    else:
        text = repr(number)
    has_point = any(letter in text for letter in ".e")
    return text if has_point else f"{text}.0"
