"""Element-wise functions as OpenCL C expressions.

The spellings are those of the table `dialects/eltwise/table.py`, written for scalars.
On vectors most of them mean the same lane by lane; truth values do not: a comparison of
vectors gives lanes of 0 and -1, as wide as what was compared. Such a mask keeps that
width until it meets values of another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Attribute

from ....dialects.eltwise.element_types import Kind, is_storage_type, si32
from ....dialects.eltwise.table import Function, TypeRule
from ....errors import GinghamError
from .types import CType

_HELPER_NAME = re.compile(r"(\w+_\{N\})\(")

# Functions that give the same mask when it is taken for a number.
_BITWISE_ON_MASKS = frozenset({"ident", "cmp_eq", "cmp_ne", "ceil", "floor", "round"})

_OVERFLOWING = frozenset({"add", "sub", "mul", "neg"})


@dataclass(frozen=True)
class Expression:
    """A C expression and its type. An atom may be repeated and needs no parentheses."""

    text: str
    type: CType
    is_atom: bool = False

    @property
    def atom(self) -> str:
        """The text, in parentheses where it needs them."""
        return self.text if self.is_atom else f"({self.text})"


def apply_function(
    function: Function, operands: Sequence[Expression], result: Attribute
) -> Expression:
    """A function of the table; the operands of all but `add` and `sub` are atoms.

    `result` is the element type of the result.
    """
    if any(operand.type.mask_bits is not None for operand in operands):
        operands = _with_equal_masks(function, operands)
        if _orders_masks(function, operands):
            return _apply_to_numbers(function, operands, result)
    # The condition of a selection is not among what it selects from.
    operand = operands[-1].type
    if function.name in _OVERFLOWING and operand.kind is not Kind.FLOAT:
        return _wrapping(function, operands, operand)
    text = _spelled(function, [o.atom for o in operands], operand)
    is_vector_test = result == i1 and operand.lanes is not None
    mask_bits = operand.bits if is_vector_test else None
    return Expression(_bare(text), CType(result, operand.lanes, mask_bits))


def shift(function: Function, operand: Expression, count: int) -> Expression:
    """A shift by a number that is less than the width, as C has it."""
    return Expression(f"{operand.atom} {function.symbol} {count}", operand.type)


def check_computed(function: Function, operand: CType) -> None:
    """Raise GinghamError for a function of a type that kernels only store."""
    if is_storage_type(operand.element) and not function.moves:
        raise GinghamError(
            f"kernels do not compute with {operand.element}",
            hint="run the pass opencl-emulate-types first",
        )


def _wrapping(
    function: Function, operands: Sequence[Expression], type: CType
) -> Expression:
    """Integer arithmetic that wraps around, which in C only unsigned numbers do.

    Scalars of 8 and 16 bits are computed as int, which only products of unsigned ones
    exceed.
    """
    narrow = type.lanes is None and type.bits < 32
    atoms = [operand.atom for operand in operands]
    if narrow and type.kind is Kind.UNSIGNED and function.name == "mul":
        atoms[0] = f"(uint){atoms[0]}"
    if narrow or type.kind is not Kind.SIGNED or isinstance(type.element, IndexType):
        return Expression(_bare(_spelled(function, atoms, type)), type)
    atoms = [f"as_u{type.name}({atom})" for atom in atoms]
    text = _bare(_spelled(function, atoms, type))
    return Expression(f"as_{type.name}({text})", type)


def helper_for(function: Function, operand: CType) -> str | None:
    """The definition of the helper that a function's spelling calls for an operand."""
    if function.helper is None:
        return None
    match = _HELPER_NAME.search(function.helper)
    if match is None or match[0] not in function.opencl_for(operand.kind):
        return None
    return _filled(function.helper, [], operand)


def sum_of_products(
    function: Function, operands: Sequence[Expression], type: CType
) -> Expression:
    """A sum or difference of floats; products in it need no parentheses."""
    sign = {"add": "+", "sub": "-"}[function.name]
    left, right = operands
    return Expression(f"{left.text} {sign} {right.text}", type)


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
    text = _spelled(function, [f"(-{o.atom})" for o in operands], type)
    if function.rule is TypeRule.COMPARE:
        return Expression(_bare(text), type)
    return Expression(f"-{text}", type)


def _spelled(function: Function, operands: Sequence[str], operand: CType) -> str:
    return _filled(function.opencl_for(operand.kind), operands, operand)


def _filled(template: str, operands: Sequence[str], operand: CType) -> str:
    name = operand.name
    integers = CType(si32, operand.lanes).name
    return template.format(*operands, T=name, N=name, W=operand.bits, I=integers)


def _bare(text: str) -> str:
    """The text without parentheses that enclose all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]
