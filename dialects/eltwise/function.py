"""`Function`: a row of the table of element-wise functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute
from xdsl.utils.str_enum import StrEnum

from .element_types import Kind, kind, promote_weak, si32

Meaning: TypeAlias = str | Callable[..., Any]
"""The name of a NumPy function, or `meaning(np, *operands)` with the module first.

Either way NumPy is imported by whoever evaluates, not by this table.
"""

Spelling: TypeAlias = str | Mapping[Kind, str]
"""An OpenCL C expression over `{0}`, `{1}`, `{2}`, or one for each kind of operand.

`{T}` is the operands' type, `{N}` the same as part of an identifier, `{W}` its width in
bits, `{I}` the type of as many `int`. Operands are always names or literals, so they
may occur more than once. It must mean the same on every lane of vectors, where `?:`
evaluates both sides.
"""


DIVISION = 8.0
"""The weight of what a processor does step after step: quotients and roots."""
POLYNOMIAL = 16.0
"""The weight of what is computed by a polynomial."""


class TypeRule(StrEnum):
    """How operand types give the type that operands are cast to, and the result."""

    SAME = "same"
    """All promoted to one type, which is the result's."""
    ARITHMETIC = "arithmetic"
    """As `SAME`, but i1 operands become si32: they are counted."""
    FLOAT = "float"
    """As `SAME`, but integers become f32."""
    COMPARE = "compare"
    """All promoted to one type; the result is i1."""
    BITS = "bits"
    """As `SAME`, for integers and i1 only."""
    SHIFT = "shift"
    """As `ARITHMETIC`, for integers only."""
    LOGICAL = "logical"
    """Operands are tested against zero; the result is i1."""
    SELECT = "select"
    """The first operand is a condition (i1), the others as `SAME`."""
    TEST = "test"
    """As `FLOAT`; the result is i1."""


_OF_FLOATS = (TypeRule.FLOAT, TypeRule.TEST)
_OF_TRUTH = (TypeRule.COMPARE, TypeRule.TEST)


@dataclass(frozen=True, eq=False)
class Function:
    """One element-wise function; another row is another function, whatever it says."""

    name: str
    """The op is `eltwise.<name>`; the name is also a Tile call."""
    arity: int
    rule: TypeRule
    meaning: Meaning
    """Its meaning on NumPy arrays of the operand type: see `evaluate`."""
    opencl: Spelling
    summary: str
    symbol: str | None = None
    """The Tile operator."""
    aliases: tuple[str, ...] = ()
    """Further names in Tile text."""
    fold: Callable[..., Any] | None = None
    """Its meaning on sizes, or None where sizes have no such function."""
    weight: float = 1.0
    """About how many vector operations it takes, an addition being one: a polynomial
    and the steps around it where processors have no instruction for it."""
    helper: str | None = field(default=None, repr=False)
    """An OpenCL C function the spelling calls, over the type `{T}`."""
    law: tuple[str, str] | None = None
    """`("add", "mul")`: f(x + y) = f(x) * f(y) for all real numbers x and y."""

    @property
    def moves(self) -> bool:
        """Whether it gives one of its operands, without computing with any."""
        return self.name == "ident" or self.rule is TypeRule.SELECT

    @property
    def operations(self) -> int:
        """What an element counts in the work of a program, whatever a device takes."""
        return 0 if self.moves else 1

    def evaluate(self, np: Any, *operands: Any) -> Any:
        """The function of NumPy arrays, given the NumPy module."""
        if isinstance(self.meaning, str):
            return getattr(np, self.meaning)(*operands)
        return self.meaning(np, *operands)

    def opencl_for(self, operand: Kind) -> str:
        """The OpenCL C spelling for operands of this kind."""
        if isinstance(self.opencl, str):
            return self.opencl
        return self.opencl[operand]

    def signature(
        self, operands: Sequence[Attribute], weak: Sequence[bool] | None = None
    ) -> tuple[tuple[Attribute, ...], Attribute]:
        """The types that operands are cast to, and the result type.

        `weak[i]` says that operand i is a literal. Raises TypeError when the function
        does not accept the types.
        """
        weakness = weak if weak is not None else [False] * len(operands)
        if len(operands) != self.arity:
            raise TypeError(
                f"'{self.name}' takes {self.arity} operand(s), got {len(operands)}"
            )
        if self.rule is TypeRule.LOGICAL:
            return (i1,) * self.arity, i1
        if self.rule is TypeRule.SELECT:
            common = _common(operands[1:], weakness[1:])
            return (i1, common, common), common
        common = _common(operands, weakness)
        boolean = kind(common) is Kind.BOOLEAN
        if self.rule in (TypeRule.ARITHMETIC, TypeRule.SHIFT) and boolean:
            common = si32
        if self.rule in _OF_FLOATS and kind(common) is not Kind.FLOAT:
            common = f32
        if self.rule in (TypeRule.BITS, TypeRule.SHIFT) and kind(common) is Kind.FLOAT:
            raise TypeError(f"'{self.name}' takes integers, got {common}")
        result = i1 if self.rule in _OF_TRUTH else common
        return (common,) * self.arity, result


def _common(operands: Sequence[Attribute], weak: Sequence[bool]) -> Attribute:
    pairs = list(zip(operands, weak, strict=True))
    return promote_weak([t for t, w in pairs if not w], [t for t, w in pairs if w])
