"""Element types: their order, the one promotion rule, and what each kind can do.

Result type = the higher of `i1 < si8 < ui8 < si16 < ui16 < si32 < ui32 < si64 < ui64 <
f16 < bf16 < f32 < f64`, except that f16 with bf16 is f32. A literal is weak: it takes
the other operand's type when it fits that type's kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.str_enum import StrEnum

si8, si16, si32, si64 = (IntegerType(w, Signedness.SIGNED) for w in (8, 16, 32, 64))
ui8, ui16, ui32, ui64 = (IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64))

ELEMENT_TYPES: dict[str, Attribute] = {
    "i1": i1,
    "si8": si8,
    "ui8": ui8,
    "si16": si16,
    "ui16": ui16,
    "si32": si32,
    "ui32": ui32,
    "si64": si64,
    "ui64": ui64,
    "f16": f16,
    "bf16": bf16,
    "f32": f32,
    "f64": f64,
}
"""Every element type by name, in ascending order of promotion."""

_RANK = {element: rank for rank, element in enumerate(ELEMENT_TYPES.values())}


class Kind(StrEnum):
    """What sort of number an element type holds."""

    BOOLEAN = "boolean"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@lru_cache(maxsize=256)
def vector_of(element: Attribute, lanes: int) -> VectorType:
    """The type of a vector; always the same object, as making one takes long."""
    return VectorType(element, [lanes])


def is_element_type(element: Attribute) -> bool:
    """Whether tensors of this element type exist."""
    return element in _RANK


def is_integer_type(element: Attribute) -> bool:
    """Whether an element type is an integer of 8 to 64 bits: not i1, no float."""
    return is_element_type(element) and kind(element) in (Kind.SIGNED, Kind.UNSIGNED)


def kind(element: Attribute) -> Kind:
    """The kind of an element type; index counts as signed."""
    if isinstance(element, Float16Type | BFloat16Type | Float32Type | Float64Type):
        return Kind.FLOAT
    if isinstance(element, IndexType):
        return Kind.SIGNED
    if element == i1:
        return Kind.BOOLEAN
    if isinstance(element, IntegerType):
        signed = element.signedness.data != Signedness.UNSIGNED
        return Kind.SIGNED if signed else Kind.UNSIGNED
    raise ValueError(f"{element} is not an element type")


def bit_width(element: Attribute) -> int:
    """Bits of a value of this type; an i1 is stored in 8."""
    if element == i1:
        return 8
    if isinstance(element, IntegerType):
        return element.width.data
    if isinstance(element, Float16Type | BFloat16Type | Float32Type | Float64Type):
        return element.bitwidth
    raise ValueError(f"{element} has no width")


def is_storage_type(element: Attribute) -> bool:
    """Whether numbers of this type are stored but never computed with: f16, bf16."""
    return element in (f16, bf16)


def computation_type(element: Attribute) -> Attribute:
    """The type that functions of this type are computed in: f32 for f16 and bf16."""
    return f32 if is_storage_type(element) else element


def name_of(element: Attribute) -> str:
    """The short name of an element type, as in a tensor type: `f32`, `si8`, `i1`."""
    return str(element)


def promote(elements: Iterable[Attribute]) -> Attribute:
    """The type that holds the result of combining values of these types."""
    distinct = set(elements)
    if {f16, bf16} <= distinct:
        distinct = (distinct - {f16, bf16}) | {f32}
    return max(distinct, key=lambda element: _RANK[element])


def promote_weak(strong: Iterable[Attribute], weak: Iterable[Attribute]) -> Attribute:
    """The promotion of `strong` types with literals of the `weak` default types.

    A weak type counts only when its kind is above that of all strong types: an integer
    literal never changes a float or integer type, a float literal makes integers f32.
    """
    strong_types = set(strong)
    weak_types = set(weak)
    if not strong_types:
        return promote(weak_types)
    result = promote(strong_types)
    order = {Kind.BOOLEAN: 0, Kind.SIGNED: 1, Kind.UNSIGNED: 1, Kind.FLOAT: 2}
    raising = {w for w in weak_types if order[kind(w)] > order[kind(result)]}
    return promote(raising) if raising else result


def integer_limits(element: Attribute) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    bits = bit_width(element)
    if kind(element) is Kind.UNSIGNED:
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def fits(number: float, element: Attribute) -> bool:
    """Whether a constant of this type can stand for the number.

    A float type takes every number (rounded), i1 too (tested against zero); an integer
    type takes the integers within its limits.
    """
    if kind(element) in (Kind.FLOAT, Kind.BOOLEAN):
        return True
    if isinstance(number, float):
        return False
    low, high = integer_limits(element)
    return low <= number <= high
