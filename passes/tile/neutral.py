"""Element-wise functions that give one of their operands, bit for bit.

In floats `x + -0.0` is x for every x and `x + 0.0` is not, as -0.0 + 0.0 is 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.ops import ANY_ELEMENT, ElementwiseOp
from ..constant_folding import constant_of

_INVOLUTIONS = ("neg", "bit_not", "logical_not")


def operand_given(
    function: str, operands: Sequence[SSAValue], element: Attribute
) -> SSAValue | None:
    """The value that a function of these operands is, but for broadcasting; or None.

    `x + 0`, `x - 0`, `x * 1`, `x / 1` where that is exact, `-(-x)`, `~(~x)`, `!(!x)`,
    and `ident(x)`. `element` is the element type of the result.
    """
    if function == "ident":
        return operands[0]
    if function in _INVOLUTIONS:
        inner = operands[0].owner
        if isinstance(inner, ElementwiseOp) and inner.function.name == function:
            return inner.arguments[0]
        return None
    if function not in ("add", "sub", "mul", "div"):
        return None
    first, second = operands
    if _is_neutral(function, constant_of(second), element):
        return first
    if function in ("add", "mul"):
        return second if _is_neutral(function, constant_of(first), element) else None
    return None


def _is_neutral(function: str, number: int | float | None, element: Attribute) -> bool:
    """Whether `x <function> number` is x, bit for bit, for every x of the type."""
    if number is None or element == ANY_ELEMENT:
        return False
    if function in ("mul", "div"):
        return number == 1
    if number != 0 or kind(element) is not Kind.FLOAT:
        return number == 0
    is_negative = math.copysign(1.0, number) < 0
    return is_negative == (function == "add")
