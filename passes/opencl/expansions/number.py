"""Arithmetic that writes ops: a `Number` is a value of a function that is being made.

`x * x + 1` of Numbers adds `eltwise` ops to the function and is the Number of the
result, scalar or vector as `x` is. Python numbers become constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.eltwise.element_types import bit_width, ui32, ui64
from ....dialects.eltwise.ops import (
    FUNCTION_OPS,
    BitcastOp,
    CastOp,
    ConstantOp,
    element_of,
    with_element,
)

Operand: TypeAlias = "Number | float"

_BITS = {32: ui32, 64: ui64}


@dataclass(frozen=True)
class Number:
    """A value, and the block that further ops are added to."""

    value: SSAValue
    block: Block

    @property
    def element(self) -> Attribute:
        """Its element type."""
        return element_of(self.value.type)

    def named(self, name: str) -> Number:
        """The same number, under a name in what is printed."""
        self.value.name_hint = name
        return self

    def apply(self, function: str, *others: Operand, truth: bool = False) -> Number:
        """A function of the table of this number and others of its type."""
        operands = [self.value, *(self._like(other).value for other in others)]
        type = with_element(self.value.type, i1) if truth else self.value.type
        return self._add(FUNCTION_OPS[function].build_typed(operands, type))

    def __add__(self, other: Operand) -> Number:
        return self.apply("add", other)

    def __sub__(self, other: Operand) -> Number:
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> Number:
        return self._like(other).apply("sub", self)

    def __mul__(self, other: Operand) -> Number:
        return self.apply("mul", other)

    def __truediv__(self, other: Operand) -> Number:
        return self.apply("div", other)

    def __neg__(self) -> Number:
        return self.apply("neg")

    def __abs__(self) -> Number:
        return self.apply("abs")

    def __lshift__(self, count: int) -> Number:
        return self.apply("bit_left", count)

    def __rshift__(self, count: int) -> Number:
        return self.apply("bit_right", count)

    def __and__(self, other: Operand) -> Number:
        return self.apply("bit_and", other)

    def __or__(self, other: Operand) -> Number:
        return self.apply("bit_or", other)

    def __xor__(self, other: Operand) -> Number:
        return self.apply("bit_xor", other)

    def __lt__(self, other: Operand) -> Number:
        return self.apply("cmp_lt", other, truth=True)

    def __gt__(self, other: Operand) -> Number:
        return self.apply("cmp_gt", other, truth=True)

    def equals(self, other: Operand) -> Number:
        """The truth value of `self == other`."""
        return self.apply("cmp_eq", other, truth=True)

    def differs(self, other: Operand) -> Number:
        """The truth value of `self != other`."""
        return self.apply("cmp_ne", other, truth=True)

    def both(self, other: Number) -> Number:
        """The truth value of `self and other`, of truth values."""
        return self.apply("logical_and", other)

    def select(self, here: Operand, there: Operand) -> Number:
        """`here` where this truth value holds, else `there`; one must be a Number."""
        if isinstance(here, Number):
            there = here.like(there)
        elif isinstance(there, Number):
            here = there.like(here)
        else:
            raise ValueError("expected a Number to select from")
        operands = [self.value, here.value, there.value]
        return self._add(FUNCTION_OPS["cond"].build_typed(operands, here.value.type))

    def clipped(self, low: float, high: float) -> Number:
        """The number, or the limit that it exceeds; NaN stays."""
        above = (self < low).select(low, self)
        return (above > high).select(high, above)

    def polynomial(self, *coefficients: float) -> Number:
        """`c0 + c1 * x + c2 * x**2 + ...` by Horner's rule."""
        *lower, result = coefficients
        sum: Operand = result
        for coefficient in reversed(lower):
            sum = self._like(sum) * self + coefficient
        return self._like(sum)

    def bits(self) -> Number:
        """The bits as an unsigned integer of the same width."""
        return self.as_bits_of(_BITS[bit_width(self.element)])

    def as_bits_of(self, element: Attribute) -> Number:
        """The same bits as a number of another type."""
        return self._add(BitcastOp(self.value, with_element(self.value.type, element)))

    def to(self, element: Attribute) -> Number:
        """Converted to another element type."""
        return self._add(CastOp(self.value, with_element(self.value.type, element)))

    def like(self, other: Operand) -> Number:
        """Another number, or a Python number as a constant of this one's type."""
        return self._like(other)

    def _like(self, other: Operand) -> Number:
        if isinstance(other, Number):
            return other
        return self._add(ConstantOp(other, self.value.type))

    def _add(self, op: Operation) -> Number:
        self.block.add_op(op)
        return Number(op.results[0], self.block)


def arguments_of(block: Block) -> Sequence[Number]:
    """The arguments of a function's body."""
    return [Number(argument, block) for argument in block.args]
