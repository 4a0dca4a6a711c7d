"""Numbers and arrays that kernels have, with what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.element_types import Kind, kind, vector_of

_EXACT_BITS: dict[Attribute, int] = {f32: 12, f64: 40}
"""The digits of numbers of which sums of a thousand are exact in any order."""


@dataclass(frozen=True)
class Number:
    """A value, and what is known of it."""

    value: SSAValue
    element: Attribute
    lanes: int | None
    size: float
    """The largest magnitude, or more."""
    digits: int = 0
    """The binary digits after the point, at most."""
    is_exact: bool = True
    """Whether it is the same number on every device."""

    @property
    def type(self) -> Attribute:
        """The element type, or the vector of it where there are lanes."""
        return typed(self.element, self.lanes)


@dataclass
class Memory:
    """An array that can be read, and what is known of its elements."""

    pointer: SSAValue
    element: Attribute
    length: int
    size: float
    digits: int = 0
    is_exact: bool = True

    def hold(self, number: Number) -> None:
        """Note that it holds such a number, too."""
        self.size = max(self.size, number.size)
        self.digits = max(self.digits, number.digits)
        self.is_exact &= number.is_exact


def typed(element: Attribute, lanes: int | None) -> Attribute:
    """The type of a scalar or a vector."""
    return element if lanes is None else vector_of(element, lanes)


def joined(
    operands: Sequence[Number], value: SSAValue, size: float, digits: int
) -> Number:
    """What is computed from exact operands exactly."""
    is_exact = all(operand.is_exact for operand in operands)
    return replace(
        operands[0], value=value, size=size, digits=digits, is_exact=is_exact
    )


def fits(number: Number) -> bool:
    """Whether sums of such numbers are exact; integers always are."""
    if kind(number.element) is not Kind.FLOAT:
        return True
    limit = _EXACT_BITS.get(number.element, 10)
    return number.size * 2.0**number.digits <= 2.0**limit


def product_of(left: Number, right: Number) -> Number:
    """The product of two numbers, with the bounds of size and digits that follow."""
    size, digits = left.size * right.size, left.digits + right.digits
    return joined([left, right], left.value, size, digits)


def read(memory: Memory) -> Number:
    """What is loaded of a memory: a scalar or a vector, as its pointer says."""
    return Number(memory.pointer, memory.element, None, memory.size, memory.digits)
