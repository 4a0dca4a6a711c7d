"""The table of element-wise functions: one row says all there is to know of one.

A row holds the function's names, its number of operands, its type rule, its meaning in
NumPy, on Python integers (for sizes) and in OpenCL C, and about how many vector
operations it takes. Frontends, verifiers, the reference interpreter and the printers of
kernels all read this table, so a new function is one new row, and one in `derivatives`
for its derivative.

Definitions where languages differ: integer division and `mod` truncate toward zero, and
give 0 for a zero divisor; `max` and `min` return NaN when an operand is NaN; `round`
rounds half to even; a shift by a count outside the width gives 0 (or the sign).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .element_types import Kind
from .float_functions import FLOAT_FUNCTIONS
from .function import DIVISION, POLYNOMIAL, Spelling
from .function import Function as Function
from .function import TypeRule as TypeRule


def truncating_divide(a: int, b: int) -> int:
    """The quotient rounded toward zero; 0 for a zero divisor."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _same(a: int) -> int:
    return a


def _larger(a: int, b: int) -> int:
    return max(a, b)


def _smaller(a: int, b: int) -> int:
    return min(a, b)


def _at_least_zero(a: int) -> int:
    return max(a, 0)


def _limited(a: int, low: int, high: int) -> int:
    return low if a < low else min(a, high)


def _sign_of(a: int) -> int:
    return (a > 0) - (a < 0)


def _choice(condition: int, a: int, b: int) -> int:
    return a if condition else b


def _remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * truncating_divide(a, b)


def _is_exact(np: Any, x: Any) -> bool:
    return np.asarray(x).dtype.kind in "iub"


def _divide(np: Any, x: Any, y: Any) -> Any:
    if not _is_exact(np, x):
        return np.divide(x, y)
    x, y = np.asarray(x), np.asarray(y)
    safe = np.where(y == 0, np.ones_like(y), y)
    # x - fmod(x, y) is an exact multiple of y, so that floor division truncates.
    quotient = (x - np.fmod(x, safe)) // safe
    return np.where(y == 0, np.zeros_like(quotient), quotient)


def _fmod(np: Any, x: Any, y: Any) -> Any:
    if not _is_exact(np, x):
        return np.fmod(x, y)
    x, y = np.asarray(x), np.asarray(y)
    safe = np.where(y == 0, np.ones_like(y), y)
    remainder = np.fmod(x, safe)
    return np.where(y == 0, np.zeros_like(remainder), remainder)


def _inside_width(np: Any, x: Any, count: Any) -> Any:
    return (count >= 0) & (count < x.dtype.itemsize * 8)


def _shift_left(np: Any, x: Any, count: Any) -> Any:
    x, count = np.asarray(x), np.asarray(count)
    inside = _inside_width(np, x, count)
    shifted = np.left_shift(x, np.where(inside, count, np.zeros_like(count)))
    return np.where(inside, shifted, np.zeros_like(x))


def _shift_right(np: Any, x: Any, count: Any) -> Any:
    x, count = np.asarray(x), np.asarray(count)
    if x.dtype.kind == "u":
        inside = _inside_width(np, x, count)
        shifted = np.right_shift(x, np.where(inside, count, np.zeros_like(count)))
        return np.where(inside, shifted, np.zeros_like(x))
    last = np.asarray(x.dtype.itemsize * 8 - 1, x.dtype)
    return np.right_shift(x, np.where(_inside_width(np, x, count), count, last))


def _identity(np: Any, x: Any) -> Any:
    return x


def _first(np: Any, x: Any, y: Any) -> Any:
    return np.broadcast_arrays(x, y)[0]


def _relu(np: Any, x: Any) -> Any:
    return np.where(x < 0, np.zeros_like(x), x)


def _clamp(np: Any, x: Any, low: Any, high: Any) -> Any:
    return np.where(x < low, low, np.where(x > high, high, x))


def _reciprocal(np: Any, x: Any) -> Any:
    return np.divide(np.ones_like(x), x)


def _sigmoid(np: Any, x: Any) -> Any:
    # Of -abs(x), as a power that overflows would lose the smallest results.
    power = np.exp(-np.abs(x))
    one = np.ones_like(x)
    return np.divide(np.where(x < 0, power, one), one + power)


def _erf(np: Any, x: Any) -> Any:
    x = np.asarray(x)
    values = np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))
    return values.astype(x.dtype)


def _float_function(
    name: str,
    summary: str,
    numpy_name: str | None = None,
    *,
    weight: float = POLYNOMIAL,
    law: tuple[str, str] | None = None,
) -> Function:
    """A function of one float that NumPy and OpenCL C both have, under `name`."""
    return Function(
        name,
        1,
        TypeRule.FLOAT,
        numpy_name or name,
        f"{name}({{0}})",
        summary,
        weight=weight,
        law=law,
    )


def _comparison(
    name: str,
    symbol: str,
    numpy_name: str,
    fold: Callable[[int, int], bool],
    alias: str,
) -> Function:
    return Function(
        name,
        2,
        TypeRule.COMPARE,
        numpy_name,
        f"({{0}} {symbol} {{1}})",
        f"Whether `x {symbol} y`.",
        symbol=symbol,
        aliases=(alias,),
        fold=fold,
    )


def _rounding(
    name: str, summary: str, numpy_name: str, aliases: tuple[str, ...] = ()
) -> Function:
    def meaning(np: Any, x: Any) -> Any:
        return x if _is_exact(np, x) else getattr(np, numpy_name)(x)

    return Function(
        name,
        1,
        TypeRule.SAME,
        meaning,
        {k: f"{numpy_name}({{0}})" if k is Kind.FLOAT else "{0}" for k in Kind},
        summary,
        aliases=aliases,
        fold=_same,
    )


_INTEGER_KINDS = (Kind.SIGNED, Kind.UNSIGNED)


def _by_kind(floating: str, integer: str, boolean: str | None = None) -> Spelling:
    spellings: dict[Kind, str] = {k: integer for k in _INTEGER_KINDS}
    spellings[Kind.FLOAT] = floating
    spellings[Kind.BOOLEAN] = integer if boolean is None else boolean
    return spellings


# The inner selection is one instruction of most processors and gives the second operand
# where either is NaN. The test is of the first alone: in a chain, the second is waited
# for.
_NAN_MAX = "(({0} != {0}) ? ({T})(NAN) : (({0} > {1}) ? {0} : {1}))"
_NAN_MIN = "(({0} != {0}) ? ({T})(NAN) : (({0} < {1}) ? {0} : {1}))"

_SAME, _ARITHMETIC, _FLOAT = TypeRule.SAME, TypeRule.ARITHMETIC, TypeRule.FLOAT
_BITS, _SHIFT, _LOGICAL = TypeRule.BITS, TypeRule.SHIFT, TypeRule.LOGICAL

# No lane of a vector may divide by zero, nor the least number by -1, even where another
# value is selected.
_DIVIDE_HELPER = (
    "{T} divide_{N}({T} a, {T} b) {{\n"
    "  const {T} divisor = b == ({T})0 || b == ({T})-1 ? ({T})1 : b;\n"
    "  return b == ({T})0 ? ({T})0 : b == ({T})-1 ? ({T})0 - a : a / divisor;\n"
    "}}"
)
_REMAINDER_HELPER = (
    "{T} remainder_{N}({T} a, {T} b) {{\n"
    "  const {T} divisor = b == ({T})0 || b == ({T})-1 ? ({T})1 : b;\n"
    "  return a % divisor;\n"
    "}}"
)
_UNSIGNED_DIVIDE = "({1} == ({T})0 ? ({T})0 : {0} / ({1} == ({T})0 ? ({T})1 : {1}))"
_UNSIGNED_REMAINDER = "({0} % ({1} == ({T})0 ? ({T})1 : {1}))"

_ROWS: tuple[Function, ...] = (
    # Arithmetic.
    Function("ident", 1, _SAME, _identity, "{0}", "Its operand.",
             fold=_same),
    Function("add", 2, _ARITHMETIC, "add", "({0} + {1})",
             "The sum.", symbol="+", fold=operator.add),
    Function("sub", 2, _ARITHMETIC, "subtract", "({0} - {1})",
             "The difference.", symbol="-", fold=operator.sub),
    Function("mul", 2, _ARITHMETIC, "multiply", "({0} * {1})",
             "The product.", symbol="*", fold=operator.mul),
    Function("div", 2, _ARITHMETIC, _divide,
             {Kind.FLOAT: "({0} / {1})", Kind.SIGNED: "divide_{N}({0}, {1})",
              Kind.UNSIGNED: _UNSIGNED_DIVIDE, Kind.BOOLEAN: _UNSIGNED_DIVIDE},
             "The quotient; of integers truncated toward zero.", symbol="/",
             fold=truncating_divide, weight=DIVISION, helper=_DIVIDE_HELPER),
    Function("mod", 2, _ARITHMETIC, _fmod,
             {Kind.FLOAT: "fmod({0}, {1})", Kind.SIGNED: "remainder_{N}({0}, {1})",
              Kind.UNSIGNED: _UNSIGNED_REMAINDER, Kind.BOOLEAN: _UNSIGNED_REMAINDER},
             "The remainder of `div`, with the sign of x.", aliases=("fmod",),
             fold=_remainder, weight=DIVISION, helper=_REMAINDER_HELPER),
    Function("neg", 1, _ARITHMETIC, "negative", "(-{0})",
             "The negative.", fold=operator.neg, law=("add", "add")),
    Function("abs", 1, _ARITHMETIC, "abs",
             {Kind.FLOAT: "fabs({0})", Kind.SIGNED: "({0} < ({T})0 ? -{0} : {0})",
              Kind.UNSIGNED: "{0}", Kind.BOOLEAN: "{0}"},
             "The magnitude.", aliases=("fabs",), fold=operator.abs),
    Function("max", 2, _SAME, "maximum",
             _by_kind(_NAN_MAX, "({0} > {1} ? {0} : {1})"),
             "The larger; NaN when either is NaN.", fold=_larger),
    Function("min", 2, _SAME, "minimum",
             _by_kind(_NAN_MIN, "({0} < {1} ? {0} : {1})"),
             "The smaller; NaN when either is NaN.", fold=_smaller),
    Function("relu", 1, _ARITHMETIC,
             _relu,
             "({0} < ({T})0 ? ({T})0 : {0})", "`x < 0 ? 0 : x`.",
             fold=_at_least_zero),
    Function("clamp", 3, _ARITHMETIC, _clamp,
             "({0} < {1} ? {1} : {0} > {2} ? {2} : {0})",
             "`x < y ? y : x > z ? z : x`: x, or the nearer end of the range y to z.",
             fold=_limited),
    Function("sign", 1, _ARITHMETIC, "sign",
             # Zero is added because `sign` of OpenCL C keeps -0.0.
             _by_kind(
                 "({0} != {0} ? {0} : sign({0}) + ({T})0)",
                 "({0} > ({T})0 ? ({T})1 : {0} < ({T})0 ? ({T})-1 : ({T})0)",
             ),
             "-1, 0 or 1; NaN of NaN.", fold=_sign_of),
    Function("reverse_grad", 2, _FLOAT, _first, "{0}",
             "x itself; a gradient that goes through it is multiplied by -y."),
    Function("replace_grad", 2, _FLOAT, _first, "{0}",
             "x itself; a gradient that goes through it is replaced by y."),
    # Comparisons, selection and logic.
    _comparison("cmp_eq", "==", "equal", operator.eq, "isequal"),
    _comparison("cmp_ne", "!=", "not_equal", operator.ne, "isnotequal"),
    _comparison("cmp_lt", "<", "less", operator.lt, "isless"),
    _comparison("cmp_le", "<=", "less_equal", operator.le, "islessequal"),
    _comparison("cmp_gt", ">", "greater", operator.gt, "isgreater"),
    _comparison("cmp_ge", ">=", "greater_equal", operator.ge, "isgreaterequal"),
    Function("cond", 3, TypeRule.SELECT, "where",
             "({0} ? {1} : {2})", "x where the condition holds, else y.",
             symbol="?:", aliases=("select",), fold=_choice),
    Function("logical_and", 2, _LOGICAL, "logical_and",
             "({0} && {1})", "Whether both are other than zero."),
    Function("logical_or", 2, _LOGICAL, "logical_or",
             "({0} || {1})", "Whether one is other than zero."),
    Function("logical_xor", 2, _LOGICAL, "logical_xor",
             "({0} != {1})", "Whether exactly one is other than zero."),
    Function("logical_not", 1, _LOGICAL, "logical_not",
             "(!{0})", "Whether it is zero."),
    # Bits.
    Function("bit_and", 2, _BITS, "bitwise_and", "({0} & {1})",
             "Bitwise and.", symbol="&"),
    Function("bit_or", 2, _BITS, "bitwise_or", "({0} | {1})",
             "Bitwise or.", symbol="|"),
    Function("bit_xor", 2, _BITS, "bitwise_xor", "({0} ^ {1})",
             "Bitwise exclusive or.", symbol="^"),
    Function("bit_not", 1, _BITS, "invert",
             {Kind.SIGNED: "(~{0})", Kind.UNSIGNED: "(~{0})", Kind.BOOLEAN: "(!{0})"},
             "Bitwise complement.", symbol="~"),
    Function("bit_left", 2, _SHIFT, _shift_left,
             {Kind.SIGNED: "({1} < ({T})0 || {1} >= ({T}){W} ? ({T})0 : {0} << {1})",
              Kind.UNSIGNED: "({1} >= ({T}){W} ? ({T})0 : {0} << {1})"},
             "x shifted left by y bits.", symbol="<<", aliases=("shl",)),
    Function("bit_right", 2, _SHIFT, _shift_right,
             {Kind.SIGNED:
              "({0} >> ({1} < ({T})0 || {1} >= ({T}){W} ? ({T})({W} - 1) : {1}))",
              Kind.UNSIGNED: "({1} >= ({T}){W} ? ({T})0 : {0} >> {1})"},
             "x shifted right by y bits; of signed integers, the sign is copied.",
             symbol=">>", aliases=("shr",)),
    # Rounding.
    _rounding("ceil", "The least integer not below.", "ceil"),
    _rounding("floor", "The greatest integer not above.", "floor"),
    _rounding("round", "The nearest integer, half to even.", "rint", ("rint",)),
    _rounding("trunc", "The nearest integer that is not farther from 0.", "trunc"),
    # Roots and powers.
    _float_function("sqrt", "The square root.", weight=DIVISION),
    Function("recip", 1, _FLOAT, _reciprocal,
             "(({T})1 / {0})", "The reciprocal.", weight=DIVISION,
             law=("mul", "mul")),
    Function("pow", 2, _FLOAT, "power", "pow({0}, {1})",
             "x to the power y.", aliases=("pown", "powr"), weight=POLYNOMIAL),
    # Exponentials.
    _float_function("exp", "e to the power x.", law=("add", "mul")),
    _float_function("log", "The natural logarithm."),
    Function("sigmoid", 1, _FLOAT,
             _sigmoid,
             "(({T})1 / (({T})1 + exp(-{0})))", "1 / (1 + exp(-x)).",
             weight=POLYNOMIAL + DIVISION),
    Function("erf", 1, _FLOAT, _erf, "erf({0})", "The error function.",
             weight=POLYNOMIAL),
    # Trigonometric and hyperbolic.
    _float_function("sin", "The sine."),
    # Without its sign, which is nothing to the cosine: a compiler that makes one call
    # of sin(x) and cos(x) crashes where one such pair leads to another.
    Function("cos", 1, _FLOAT, "cos", "cos(fabs({0}))", "The cosine.",
             weight=POLYNOMIAL),
    _float_function("tan", "The tangent."),
    _float_function("asin", "The inverse sine.", "arcsin"),
    _float_function("acos", "The inverse cosine.", "arccos"),
    _float_function("atan", "The inverse tangent.", "arctan"),
    _float_function("sinh", "The hyperbolic sine."),
    _float_function("cosh", "The hyperbolic cosine."),
    _float_function("tanh", "The hyperbolic tangent."),
    _float_function("asinh", "The inverse hyperbolic sine.", "arcsinh"),
    _float_function("acosh", "The inverse hyperbolic cosine.", "arccosh"),
    _float_function("atanh", "The inverse hyperbolic tangent.", "arctanh"),
    *FLOAT_FUNCTIONS,
)  # fmt: skip

FUNCTIONS: dict[str, Function] = {row.name: row for row in _ROWS}
"""Every element-wise function by its name."""

OPERATORS: dict[str, Function] = {row.symbol: row for row in _ROWS if row.symbol}
"""The functions that Tile text spells as an operator; `-x` is `neg`, `c ? x : y`
`cond`.
"""

_ROUGH = {
    name: name
    for name in ("cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan".split())
} | {"divide": "div", "powr": "pow"}

ROUGH_CALLS: dict[str, Function] = {
    f"{prefix}_{name}": FUNCTIONS[function]
    for prefix in ("half", "native")
    for name, function in _ROUGH.items()
}
"""Functions by names that allow OpenCL C to lose digits, which they do not here."""

CALLS: dict[str, Function] = (
    FUNCTIONS | {alias: row for row in _ROWS for alias in row.aliases} | ROUGH_CALLS
)
"""The functions by every name that Tile text may call them."""
