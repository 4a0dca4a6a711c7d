"""The derivatives of the element-wise functions: one row for each function of floats.

Beside the table of functions, since a derivative is made of functions of that table. A
rule is given `d`, the derivative of the loss by the function's result, `z`, that
result, and the operands `x`, `y`, ...; it gives the part of the derivative of the loss
by its operand that goes through this function.

Where a function has no derivative, or several could be chosen, the choice is that of
PyTorch:

* `ceil`, `floor`, `round` and `sign` have the derivative 0 everywhere; `mod(x, y)` has
  1 by x and the negative whole quotient by y.
* `abs` has 0 at 0, `relu` has 0 at 0.
* Of `max` and `min` each operand has half where both are equal.
* `pow(x, y)` has 0 by x where y is 0, and 0 by y where x is 0 and y is not negative.
* `reverse_grad(x, c)` is x, but has the derivative -c by x. `replace_grad(x, c)` is x,
  but the derivative by x is c whatever is made of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from .table import FUNCTIONS, TypeRule


class Term(ABC):
    """A value in a rule; operators and `apply` build further ones from it.

    What a value is, whoever applies the rules says: an IR value, or a number.
    """

    @abstractmethod
    def apply(self, function: str, *others: Term | float) -> Term:
        """A function of the table, of this value and others of its type."""

    @abstractmethod
    def literal(self, number: float) -> Term:
        """A number as a value of the same type."""

    def __add__(self, other: Term | float) -> Term:
        return self.apply("add", other)

    def __radd__(self, other: float) -> Term:
        return self.literal(other).apply("add", self)

    def __sub__(self, other: Term | float) -> Term:
        return self.apply("sub", other)

    def __rsub__(self, other: float) -> Term:
        return self.literal(other).apply("sub", self)

    def __mul__(self, other: Term | float) -> Term:
        return self.apply("mul", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self.apply("div", other)

    def __neg__(self) -> Term:
        return self.apply("neg")

    def where(self, chosen: Term | float, otherwise: Term | float) -> Term:
        """`chosen` where this condition holds, `otherwise` where it does not."""
        return self.apply("cond", chosen, otherwise)


Unary: TypeAlias = Callable[[Term, Term, Term], Term]
Binary: TypeAlias = Callable[[Term, Term, Term, Term], Term]
Ternary: TypeAlias = Callable[[Term, Term, Term, Term, Term], Term]
Rule: TypeAlias = Callable[..., Term]
"""`rule(d, z, *operands)`."""

_TWO_OVER_SQRT_PI = 1.1283791670955126

_UNARY: dict[str, Unary] = {
    "ident": lambda d, z, x: d,
    "neg": lambda d, z, x: -d,
    "abs": lambda d, z, x: d * x.apply("sign"),
    "relu": lambda d, z, x: x.apply("cmp_gt", 0.0).where(d, 0.0),
    "sqrt": lambda d, z, x: d / (z * 2.0),
    "recip": lambda d, z, x: -(d * z * z),
    "exp": lambda d, z, x: d * z,
    "log": lambda d, z, x: d / x,
    "sigmoid": lambda d, z, x: d * z * (1.0 - z),
    "erf": lambda d, z, x: d * (-(x * x)).apply("exp") * _TWO_OVER_SQRT_PI,
    "sin": lambda d, z, x: d * x.apply("cos"),
    "cos": lambda d, z, x: -(d * x.apply("sin")),
    "tan": lambda d, z, x: d * (z * z + 1.0),
    "asin": lambda d, z, x: d / (1.0 - x * x).apply("sqrt"),
    "acos": lambda d, z, x: -(d / (1.0 - x * x).apply("sqrt")),
    "atan": lambda d, z, x: d / (x * x + 1.0),
    "sinh": lambda d, z, x: d * x.apply("cosh"),
    "cosh": lambda d, z, x: d * x.apply("sinh"),
    "tanh": lambda d, z, x: d * (1.0 - z * z),
    "asinh": lambda d, z, x: d / (x * x + 1.0).apply("sqrt"),
    "acosh": lambda d, z, x: d / (x * x - 1.0).apply("sqrt"),
    "atanh": lambda d, z, x: d / (1.0 - x * x),
}


def _unless(comparison: str, d: Term, x: Term, y: Term) -> Term:
    """0 where x compares so with y, and half of d where they are equal; d of a NaN."""
    shared = x.apply("cmp_eq", y).where(d * 0.5, d)
    return x.apply(comparison, y).where(0.0, shared)


def _by_base(d: Term, x: Term, y: Term) -> Term:
    slope = d * y * x.apply("pow", y - 1.0)
    return y.apply("cmp_eq", 0.0).where(0.0, slope)


def _by_exponent(d: Term, z: Term, x: Term, y: Term) -> Term:
    is_flat = x.apply("cmp_eq", 0.0).apply("logical_and", y.apply("cmp_ge", 0.0))
    # The logarithm is taken of 1 there, so that its own derivative is finite too.
    base = is_flat.where(x.literal(1.0), x)
    return is_flat.where(0.0, d * z * base.apply("log"))


_BINARY: dict[str, tuple[Binary | None, Binary | None]] = {
    "add": (lambda d, z, x, y: d, lambda d, z, x, y: d),
    "sub": (lambda d, z, x, y: d, lambda d, z, x, y: -d),
    "mul": (lambda d, z, x, y: d * y, lambda d, z, x, y: d * x),
    "div": (lambda d, z, x, y: d / y, lambda d, z, x, y: -(d * z / y)),
    "mod": (
        lambda d, z, x, y: d,
        lambda d, z, x, y: -(d * ((x - z) / y).apply("round")),
    ),
    "max": (
        lambda d, z, x, y: _unless("cmp_lt", d, x, y),
        lambda d, z, x, y: _unless("cmp_lt", d, y, x),
    ),
    "min": (
        lambda d, z, x, y: _unless("cmp_gt", d, x, y),
        lambda d, z, x, y: _unless("cmp_gt", d, y, x),
    ),
    "pow": (lambda d, z, x, y: _by_base(d, x, y), _by_exponent),
    "reverse_grad": (lambda d, z, x, c: -(d * c), None),
    # The result has the shape of d, whose NaN is kept.
    "replace_grad": (lambda d, z, x, c: d.apply("cmp_eq", d).where(c, d), None),
}

_TERNARY: dict[str, tuple[None, Ternary, Ternary]] = {
    "cond": (
        None,
        lambda d, z, c, x, y: c.where(d, 0.0),
        lambda d, z, c, x, y: c.where(0.0, d),
    ),
}

_FLAT = frozenset({"ceil", "floor", "round", "sign"})
"""Functions whose derivative is 0 everywhere."""

_NO_FLOATS = frozenset(
    {TypeRule.COMPARE, TypeRule.BITS, TypeRule.SHIFT, TypeRule.LOGICAL}
)
"""Rules whose results are no floats, so that there is nothing to differentiate."""


def _rules() -> dict[str, tuple[Rule | None, ...]]:
    rules: dict[str, tuple[Rule | None, ...]] = {}
    rules |= {name: (rule,) for name, rule in _UNARY.items()}
    rules |= _BINARY
    rules |= _TERNARY
    for function in FUNCTIONS.values():
        if function.name in _FLAT or function.rule in _NO_FLOATS:
            rules[function.name] = (None,) * function.arity
    return rules


DERIVATIVES: dict[str, tuple[Rule | None, ...]] = _rules()
"""A rule for each operand of each function, None where the derivative is 0."""
