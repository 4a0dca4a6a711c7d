"""The derivatives of the element-wise functions: one row for each function of floats.

Beside the table of functions, since a derivative is made of functions of that table. A
rule is given `d`, the derivative of the loss by the function's result, `z`, that
result, and the operands `x`, `y`, ...; it gives the part of the derivative of the loss
by its operand that goes through this function.

Where a function has no derivative, or several could be chosen, the choice is that of
PyTorch:

* `ceil`, `floor`, `round`, `trunc`, `sign`, `step` and `logb` have the derivative 0
  everywhere; `mod(x, y)` and `remainder(x, y)` have 1 by x and the negative whole
  quotient by y.
* `abs`, `relu` and `hypot` have 0 at 0, `copysign` has 0 by x at 0 and 0 by y, `fdim`
  has 0 where both are equal. `clamp` gives all to x at both ends of the range.
* Of `max`, `min`, `fmax` and `fmin` each operand has half where both are equal; of the
  last two a NaN beside a number has nothing.
* `pow(x, y)` has 0 by x where y is 0, and 0 by y where x is 0 and y is not negative.
* `reverse_grad(x, c)` is x, but has the derivative -c by x. `replace_grad(x, c)` is x,
  but the derivative by x is c whatever is made of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import log, pi
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
_LOG_2 = log(2.0)
_LOG_10 = log(10.0)

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
    "rsqrt": lambda d, z, x: d * z * z * z * -0.5,
    "cbrt": lambda d, z, x: d / (z * z * 3.0),
    "exp2": lambda d, z, x: d * z * _LOG_2,
    "exp10": lambda d, z, x: d * z * _LOG_10,
    "expm1": lambda d, z, x: d * x.apply("exp"),
    "log2": lambda d, z, x: d / (x * _LOG_2),
    "log10": lambda d, z, x: d / (x * _LOG_10),
    "log1p": lambda d, z, x: d / (x + 1.0),
    "erfc": lambda d, z, x: d * (-(x * x)).apply("exp") * -_TWO_OVER_SQRT_PI,
    "sinpi": lambda d, z, x: d * x.apply("cospi") * pi,
    "cospi": lambda d, z, x: d * x.apply("sinpi") * -pi,
    "tanpi": lambda d, z, x: d * (z * z + 1.0) * pi,
    "asinpi": lambda d, z, x: d / ((1.0 - x * x).apply("sqrt") * pi),
    "acospi": lambda d, z, x: d / ((1.0 - x * x).apply("sqrt") * -pi),
    "atanpi": lambda d, z, x: d / ((x * x + 1.0) * pi),
    "degrees": lambda d, z, x: d * (180.0 / pi),
    "radians": lambda d, z, x: d * (pi / 180.0),
}


def _unless(comparison: str, d: Term, x: Term, y: Term) -> Term:
    """0 where x compares so with y, and half of d where they are equal; d of a NaN."""
    shared = x.apply("cmp_eq", y).where(d * 0.5, d)
    return x.apply(comparison, y).where(0.0, shared)


def _unless_nan(comparison: str, d: Term, x: Term, y: Term) -> Term:
    """As `_unless`, and nothing for a NaN beside a number."""
    chosen = y.apply("isnan").where(d, _unless(comparison, d, x, y))
    return x.apply("isnan").where(0.0, chosen)


def _below(x: Term, end: Term, d: Term) -> Term:
    return x.apply("cmp_gt", end).where(0.0, d)


def _above(x: Term, end: Term, d: Term) -> Term:
    return x.apply("cmp_gt", end).where(d, 0.0)


def _by_angle(d: Term, x: Term, y: Term) -> Term:
    """`d * x / (x * x + y * y)`, without overflow between."""
    radius = x.apply("hypot", y)
    return d * (x / radius) / radius


def _ramp(d: Term, a: Term, b: Term, x: Term) -> Term:
    """The part of `smoothstep(a, b, x)` that goes through x."""
    t = ((x - a) / (b - a)).apply("clamp", 0.0, 1.0)
    return d * (t - t * t) * 6.0 / (b - a)


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
    "div": (lambda d, z, x, y: d / y, lambda d, z, x, y: -(d / y * z)),
    "mod": (
        lambda d, z, x, y: d,
        lambda d, z, x, y: -(d * ((x - z) / y).apply("round")),
    ),
    "remainder": (
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
    "hypot": (
        lambda d, z, x, y: z.apply("cmp_eq", 0.0).where(0.0, d * (x / z)),
        lambda d, z, x, y: z.apply("cmp_eq", 0.0).where(0.0, d * (y / z)),
    ),
    "atan2": (
        lambda d, z, y, x: _by_angle(d, x, y),
        lambda d, z, y, x: -_by_angle(d, y, x),
    ),
    "atan2pi": (
        lambda d, z, y, x: _by_angle(d, x, y) / pi,
        lambda d, z, y, x: -(_by_angle(d, y, x) / pi),
    ),
    "copysign": (
        lambda d, z, x, y: d * (x.apply("sign") * z.apply("sign")),
        None,
    ),
    "fdim": (
        lambda d, z, x, y: x.apply("cmp_gt", y).where(d, 0.0),
        lambda d, z, x, y: x.apply("cmp_gt", y).where(-d, 0.0),
    ),
    "fmax": (
        lambda d, z, x, y: _unless_nan("cmp_lt", d, x, y),
        lambda d, z, x, y: _unless_nan("cmp_lt", d, y, x),
    ),
    "fmin": (
        lambda d, z, x, y: _unless_nan("cmp_gt", d, x, y),
        lambda d, z, x, y: _unless_nan("cmp_gt", d, y, x),
    ),
    "ldexp": (lambda d, z, x, y: d.apply("ldexp", y), None),
    "reverse_grad": (lambda d, z, x, c: -(d * c), None),
    # The result has the shape of d, whose NaN is kept.
    "replace_grad": (lambda d, z, x, c: d.apply("cmp_eq", d).where(c, d), None),
}

_TERNARY: dict[str, tuple[Ternary | None, Ternary | None, Ternary | None]] = {
    "fma": (
        lambda d, z, x, y, a: d * y,
        lambda d, z, x, y, a: d * x,
        lambda d, z, x, y, a: d,
    ),
    "mix": (
        lambda d, z, x, y, a: d * (1.0 - a),
        lambda d, z, x, y, a: d * a,
        lambda d, z, x, y, a: d * (y - x),
    ),
    "clamp": (
        lambda d, z, x, a, b: x.apply("cmp_lt", a).where(0.0, _below(x, b, d)),
        lambda d, z, x, a, b: x.apply("cmp_lt", a).where(d, 0.0),
        lambda d, z, x, a, b: x.apply("cmp_lt", a).where(0.0, _above(x, b, d)),
    ),
    "smoothstep": (
        lambda d, z, a, b, x: -(_ramp(d, a, b, x) * (b - x) / (b - a)),
        lambda d, z, a, b, x: -(_ramp(d, a, b, x) * (x - a) / (b - a)),
        lambda d, z, a, b, x: _ramp(d, a, b, x),
    ),
    "cond": (
        None,
        lambda d, z, c, x, y: c.where(d, 0.0),
        lambda d, z, c, x, y: c.where(0.0, d),
    ),
}

_FLAT = frozenset({"ceil", "floor", "round", "trunc", "sign", "step", "logb"})
"""Functions whose derivative is 0 everywhere."""

_NO_FLOATS = frozenset(
    {
        TypeRule.COMPARE,
        TypeRule.BITS,
        TypeRule.SHIFT,
        TypeRule.LOGICAL,
        TypeRule.TEST,
    }
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
