"""Indices as numbers of the data, in OpenCL C."""

from __future__ import annotations

from ....dialects.eltwise.element_types import Kind
from ...printer.expressions import Expression
from ...printer.types import CType, scalar_literal


def number_of_index(form: str, type: CType, step: int | None) -> Expression:
    """A form of indices converted to an integer type; with a step, one for each lane.

    `form` is the C expression of the form, an int or a long. Conversions wrap around.
    """
    if type.lanes is None or step is None:
        return Expression(f"({type.name})({form})", type)
    # Sums of unsigned numbers wrap around in C.
    is_signed = type.kind is Kind.SIGNED
    unsigned = f"u{type.name}" if is_signed else type.name
    numbers = [step * number for number in range(type.lanes)]
    steps = ", ".join(scalar_literal(number, type.element) for number in numbers)
    start = f"({unsigned})(({type.scalar})({form}))"
    text = f"{start} + ({unsigned})({steps})"
    if is_signed:
        return Expression(f"as_{type.name}({text})", type, is_atom=True)
    return Expression(text, type)
