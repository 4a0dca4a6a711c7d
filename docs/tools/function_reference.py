"""The text of `docs/functions.md`: the table of element-wise functions, with examples.

Every example is computed here, by the meaning that the table gives the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import docstrings
import numpy as np
from docstrings import on_one_line, table

from gingham.dialects.eltwise.element_types import ELEMENT_TYPES
from gingham.dialects.eltwise.table import FUNCTIONS, Function, TypeRule

_INTRODUCTION = """\
These functions are computed for each element. In [Tile text](language.md) a function is
called by one of its names, or written as an operator; in the IR it is the operation
`eltwise.NAME`. Functions that move elements, or need more than one, are
[special functions](special-functions.md)."""

_COLUMNS = """\
The rule says what becomes of the operands' types; the rules stand below. A function
with *yes* under *sizes* gives a [size](language.md#sizes) when all its operands are
sizes. The weight is about how many vector operations it takes, an addition being one:
all that the [cost model](cost-model.md) knows of it. The example shows what the
function gives; integers are of type si32 there, other numbers f32."""

_OPERATORS = {"neg": "-{}", "cond": "{} ? {} : {}", "bit_not": "~{}"}
"""Operators that do not stand between two operands."""

_SAMPLES: dict[tuple[TypeRule, int], tuple[float, ...]] = {
    (TypeRule.SAME, 1): (-2.5,),
    (TypeRule.ARITHMETIC, 1): (-2.5,),
    (TypeRule.FLOAT, 1): (0.5,),
    (TypeRule.LOGICAL, 1): (6,),
    (TypeRule.BITS, 1): (6,),
    (TypeRule.FLOAT, 2): (2.0, 0.5),
    (TypeRule.BITS, 2): (6, 3),
    (TypeRule.SHIFT, 2): (6, 1),
    (TypeRule.LOGICAL, 2): (6, 0),
    (TypeRule.SELECT, 3): (0, 6, 3),
    (TypeRule.FLOAT, 3): (2.0, 3.0, 2.25),
    (TypeRule.ARITHMETIC, 3): (7, -2, 5),
    (TypeRule.TEST, 1): (-2.5,),
}
"""Operands of the examples; others have 7 and -2."""


def text() -> str:
    """The whole page."""
    rules = docstrings.of_attributes(TypeRule)
    parts = [
        "# Element-wise functions",
        _INTRODUCTION,
        _COLUMNS,
        table(
            ("Tile text", "meaning", "rule", "sizes", "weight", "example"),
            [_row(function) for function in FUNCTIONS.values()],
        ),
        "## Rules for types",
        "The order of the types is that of [the language](language.md#types): "
        f"{' < '.join(f'`{name}`' for name in ELEMENT_TYPES)}, and `f32` for `f16` "
        "with `bf16`.",
        table(
            ("rule", "meaning"),
            [(rule.value, _text_of(rules[rule.name])) for rule in TypeRule],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _text_of(docstring: str) -> str:
    """A docstring with the rules that it names as they are called here."""
    text = on_one_line(docstring)
    for rule in TypeRule:
        text = text.replace(f"`{rule.name}`", f"*{rule.value}*")
    return text


def _row(function: Function) -> tuple[str, ...]:
    is_choice = function.rule is TypeRule.SELECT
    letters = ("c", "x", "y") if is_choice else ("x", "y", "z")[: function.arity]
    names = [_applied(function, letters)]
    names += [n for n in (function.name, *function.aliases) if f"{n}(" not in names[0]]
    return (
        ", ".join(f"`{name}`" for name in names).replace("|", r"\|"),
        on_one_line(function.summary),
        function.rule.value,
        "" if function.fold is None else "yes",
        f"{function.weight:g}",
        _example(function).replace("|", r"\|"),
    )


def _applied(function: Function, operands: Sequence[str]) -> str:
    """The function of operands as Tile text, by its operator if it has one."""
    form = f"{function.name}({', '.join(['{}'] * function.arity)})"
    if function.symbol is not None:
        form = f"{{}} {function.symbol} {{}}"
    prefix = _OPERATORS.get(function.name, form)
    if prefix.startswith("-"):
        operands = [f"({x})" if x.startswith("-") else x for x in operands]
    return prefix.format(*operands)


def _example(function: Function) -> str:
    operands = _SAMPLES.get((function.rule, function.arity), (7, -2))
    result = _value(function, operands)
    if np.isnan(result):  # the inverse hyperbolic cosine begins at 1
        operands = (1.5,)
        result = _value(function, operands)
    shown = (
        "true" if result is True else "false" if result is False else f"{result:.6g}"
    )
    return f"`{_applied(function, [str(operand) for operand in operands])}` is {shown}"


def _value(function: Function, operands: Sequence[float]) -> Any:
    arrays = [
        np.asarray(operand, np.float32 if isinstance(operand, float) else np.int32)
        for operand in operands
    ]
    with np.errstate(all="ignore"):
        return np.asarray(function.evaluate(np, *arrays)).item()
