"""Vectors and their truth values in OpenCL C.

Most functions mean the same lane by lane. Truth values do not: a comparison of vectors
gives lanes of 0 and -1, as wide as what was compared. Such a mask keeps that width
until it meets values of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from ....dialects.eltwise.table import Function, TypeRule
from ...printer.expressions import Expression, apply_function, bare, spelled
from ...printer.types import CType, scalar_literal

# Functions that give the same mask when it is taken for a number.
_BITWISE_ON_MASKS = frozenset({"ident", "cmp_eq", "cmp_ne", "ceil", "floor", "round"})


def literal(number: float, type: CType) -> str:
    """A number of a scalar type, rounded to it, or a vector of it; never ambiguous.

    Integers outside of the type wrap around.
    """
    if type.mask_bits is not None:
        return f"({type.name})({-1 if number else 0})"
    text = scalar_literal(number, type.element)
    return text if type.lanes is None else f"({type.name})({text})"


def apply(
    function: Function, operands: Sequence[Expression], result: Attribute
) -> Expression:
    """A function of the table; the operands of all but `add` and `sub` are atoms."""
    if any(operand.type.mask_bits is not None for operand in operands):
        operands = _with_equal_masks(function, operands)
        if _orders_masks(function, operands):
            return _apply_to_numbers(function, operands, result)
    operand = operands[-1].type
    is_vector_test = result == i1 and operand.lanes is not None
    mask_bits = operand.bits if is_vector_test else None
    return apply_function(function, operands, result, mask_bits)


def broadcast(operand: Expression, type: CType) -> Expression:
    """A scalar in every lane of a vector type."""
    if type.mask_bits is not None:
        return Expression(f"({type.name})(-{operand.atom})", type, is_atom=True)
    return Expression(f"({type.name})({operand.text})", type, is_atom=True)


def shuffle(lanes: Sequence[tuple[Expression, int]], type: CType) -> Expression:
    """Lanes of vectors and scalars as a value of a type that `c_type` gives.

    A truth value is 1 as a scalar and -1 in a lane.
    """
    parts: list[str] = []
    for operand, lane in lanes:
        text = operand.text if len(lanes) > 1 else operand.atom
        if operand.type.lanes is not None:
            text = f"{operand.atom}.s{lane:x}"
        if (operand.type.mask_bits is None) != (type.mask_bits is None):
            text = f"-{operand.atom if operand.type.lanes is None else text}"
        parts.append(text)
    if type.lanes is None:
        return Expression(parts[0], type, is_atom=not parts[0].startswith("-"))
    return Expression(f"({type.name})({', '.join(parts)})", type, is_atom=True)


def as_memory(operand: Expression) -> str:
    """A value as it is stored: a truth value is a byte, 0 or 1."""
    type = operand.type
    if type.mask_bits is None:
        return operand.text
    return f"convert_uchar{type.lanes}(-{operand.atom})"


def from_memory(text: str, type: CType) -> Expression:
    """What was read from memory, as a value of a type that `c_type` gives."""
    if type.element != i1:
        return Expression(text, type)
    zero = "0" if type.lanes is None else f"(uchar{type.lanes})(0)"
    return Expression(f"{text} != {zero}", type)


def _with_equal_masks(
    function: Function, operands: Sequence[Expression]
) -> list[Expression]:
    """The operands with all masks as wide as the widest, or as what they select."""
    widths = [o.type.mask_bits for o in operands if o.type.mask_bits is not None]
    selected = operands[-1].type
    is_selection = function.rule is TypeRule.SELECT
    if is_selection and selected.mask_bits is None:
        width = selected.bits
    else:
        width = max(widths)
    return [_widened(operand, width) for operand in operands]


def _widened(operand: Expression, bits: int) -> Expression:
    if operand.type.mask_bits in (None, bits):
        return operand
    type = replace(operand.type, mask_bits=bits)
    return Expression(f"convert_{type.name}({operand.text})", type, is_atom=True)


def _orders_masks(function: Function, operands: Sequence[Expression]) -> bool:
    """Whether a function compares truth values as numbers, of which 1 is the larger."""
    if function.rule not in (TypeRule.SAME, TypeRule.COMPARE):
        return False
    return function.name not in _BITWISE_ON_MASKS


def _apply_to_numbers(
    function: Function, operands: Sequence[Expression], result: Attribute
) -> Expression:
    """A function of truth values taken as 0 and 1; what it selects becomes a mask."""
    type = operands[0].type
    text = spelled(function, [f"(-{o.atom})" for o in operands], type)
    if function.rule is TypeRule.COMPARE:
        return Expression(bare(text), type)
    return Expression(f"-{text}", type)
