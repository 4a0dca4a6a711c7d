"""Indices as numbers of the data, and numbers of the data as indices, in OpenCL C."""

from __future__ import annotations

from ....dialects.eltwise.element_types import Kind, si32, si64
from .expressions import Expression
from .types import CType, literal

_PROMOTED_BITS = 16
"""Up to this width C computes with a number as with an int."""


def number_of_index(form: str, type: CType, step: int | None) -> Expression:
    """A form of indices converted to an integer type; with a step, one for each lane.

    `form` is the C expression of the form, an int or a long. Conversions wrap around.
    """
    if type.lanes is None or step is None:
        return Expression(f"({type.name})({form})", type)
    # Sums of unsigned numbers wrap around in C.
    is_signed = type.kind is Kind.SIGNED
    unsigned = f"u{type.name}" if is_signed else type.name
    lane = CType(type.element)
    steps = ", ".join(literal(step * number, lane) for number in range(type.lanes))
    start = f"({unsigned})(({type.scalar})({form}))"
    text = f"{start} + ({unsigned})({steps})"
    if is_signed:
        return Expression(f"as_{type.name}({text})", type, is_atom=True)
    return Expression(text, type)


def index_of_number(number: Expression, is_long: bool) -> str:
    """A number that is known to lie in a range of indices, as an int or a long."""
    element = number.type.element
    if element == (si64 if is_long else si32):
        return number.atom
    if not is_long and number.type.bits <= _PROMOTED_BITS:
        return number.atom
    return f"({'long' if is_long else 'int'}){number.atom}"
