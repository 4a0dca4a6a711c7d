"""How a value changes with a number that it was computed from, when that changes.

Let `v(m)` be computed from a number `m`, such as the maximum of the values so far. When
`m` becomes `m'`, some values become another one by a number that depends on `m` and
`m'` alone, whatever else they were computed from:

* `v(m') = v(m) + c(m, m')`: m itself is such a value, with `m' - m`;
* `v(m') = v(m) * c(m, m')`: m itself is such a value, too, with `m' / m`.

The first kind is closed under sums and differences, the second under products and
quotients. A function that turns one into the other leads from kind to kind: the table
of element-wise functions says `law = ("add", "mul")` of `exp`, as
`exp(x + y) = exp(x) * exp(y)`. So `exp(x - m)` changes by the factor `exp(m - m')`, and
so does the sum of such values, each times what does not depend on m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ....dialects.eltwise.table import FUNCTIONS


@dataclass(frozen=True)
class Term:
    """An expression over the old number and the new one."""

    function: str
    """Of the table of element-wise functions; `old`, `new` or `number` for itself."""
    operands: tuple[Term, ...] = ()
    number: float = 0.0

    @property
    def is_rational(self) -> bool:
        """Whether it is made of products, quotients and sums alone."""
        own = self.function in _RATIONAL
        return own and all(operand.is_rational for operand in self.operands)

    def evaluate(self, old: float, new: float) -> float:
        """Its value, by the meaning of the functions."""
        import numpy as np

        match self.function:
            case "old":
                return old
            case "new":
                return new
            case "number":
                return self.number
            case name:
                values = [np.float64(each.evaluate(old, new)) for each in self.operands]
                with np.errstate(all="ignore"):
                    return float(FUNCTIONS[name].evaluate(np, *values))


_RATIONAL = frozenset(("old", "new", "number", "add", "sub", "mul", "div", "neg"))
OLD, NEW = Term("old"), Term("new")

Changes: TypeAlias = Mapping[str, Term | None]
"""For `add`, `mul` or both: by what a value changes so; None where it does not.

Without any, nothing is known of how it changes.
"""

UNCHANGED: Changes = {"add": None, "mul": None}
ITSELF: Changes = {"add": Term("sub", (NEW, OLD)), "mul": Term("div", (NEW, OLD))}
"""The changes of the number itself."""

_INVERSE = {"sub": "add", "div": "mul"}


def is_unchanged(changes: Changes) -> bool:
    """Whether a value does not depend on the number."""
    return changes == UNCHANGED


def changes_of(
    name: str, operands: Sequence[Changes], constants: Sequence[float | None]
) -> Changes:
    """How the value of a function changes, by the changes of its operands.

    `constants` are the numbers that operands are, None for others.
    """
    if all(map(is_unchanged, operands)):
        return UNCHANGED
    if name == "ident":
        return operands[0]
    if len(operands) == 1:
        return _of_law(name, operands[0])
    law = _INVERSE.get(name, name)
    if law not in ("add", "mul"):
        return {}
    first, second = operands
    found: dict[str, Term | None] = {}
    if law in first and law in second:
        found[law] = _together(name, law, first[law], second[law])
    if law == "mul" and "mul" not in found:
        scaled = _scaled(name, first, second, constants)
        if scaled is not None:
            found["add"] = scaled
    return found


def _of_law(name: str, operand: Changes) -> Changes:
    function = FUNCTIONS.get(name)
    if function is None or function.law is None:
        return {}
    found: dict[str, Term | None] = {}
    source, target = function.law
    change = operand.get(source)
    if change is not None:
        found[target] = Term(name, (change,))
    if name == "neg" and "mul" in operand:
        found["mul"] = operand["mul"]
    return found


def _together(
    name: str, law: str, first: Term | None, second: Term | None
) -> Term | None:
    """By what a sum, difference, product or quotient changes."""
    if second is None:
        return first
    if first is None and name == law:
        return second
    if first is None and second.function == name:
        return Term(name, second.operands[::-1])
    neutral = Term("number", number=0.0 if law == "add" else 1.0)
    return Term(name, (first or neutral, second))


def _scaled(
    name: str,
    first: Changes,
    second: Changes,
    constants: Sequence[float | None],
) -> Term | None:
    """By what a value grows that is another one times or over a constant."""
    pairs = [(first, constants[1])]
    if name == "mul":
        pairs.append((second, constants[0]))
    for changes, constant in pairs:
        change = changes.get("add")
        if change is not None and constant is not None and math.isfinite(constant):
            return Term(name, (change, Term("number", number=constant)))
    return None
