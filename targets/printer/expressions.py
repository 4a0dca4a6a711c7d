"""Element-wise functions as expressions of a language like C.

The spellings are those of the table `dialects/eltwise/table.py`, written for scalars.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import Kind, is_storage_type, si32, si64
from ...dialects.eltwise.table import Function
from ...errors import GinghamError
from .types import CType

_HELPER_NAME = re.compile(r"(\w+_\{N\})\(")

_PROMOTED_BITS = 16
"""Up to this width C computes with a number as with an int."""

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
    function: Function,
    operands: Sequence[Expression],
    result: Attribute,
    mask_bits: int | None = None,
) -> Expression:
    """A function of the table; the operands of all but `add` and `sub` are atoms.

    `result` is the element type of the result, which of vectors has lanes of
    `mask_bits` where it is a truth value.
    """
    # The condition of a selection is not among what it selects from.
    operand = operands[-1].type
    if function.name in _OVERFLOWING and operand.kind is not Kind.FLOAT:
        return _wrapping(function, operands, operand)
    text = spelled(function, [o.atom for o in operands], operand)
    return Expression(bare(text), CType(result, operand.lanes, mask_bits))


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
        return Expression(bare(spelled(function, atoms, type)), type)
    atoms = [f"as_u{type.name}({atom})" for atom in atoms]
    text = bare(spelled(function, atoms, type))
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


def spelled(function: Function, operands: Sequence[str], operand: CType) -> str:
    """The spelling that the table has for operands of a type."""
    return _filled(function.opencl_for(operand.kind), operands, operand)


def _filled(template: str, operands: Sequence[str], operand: CType) -> str:
    name = operand.name
    integers = CType(si32, operand.lanes).name
    return template.format(*operands, T=name, N=name, W=operand.bits, I=integers)


def bare(text: str) -> str:
    """The text without parentheses that enclose all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]


def index_of_number(number: Expression, is_long: bool) -> str:
    """A number that is known to lie in a range of indices, as an int or a long."""
    element = number.type.element
    if element == (si64 if is_long else si32):
        return number.atom
    if not is_long and number.type.bits <= _PROMOTED_BITS:
        return number.atom
    return f"({'long' if is_long else 'int'}){number.atom}"
