"""The functions of the eDSL that work on every element, and `cond`, `max` and `min`.

Where a name is that of a Python function too, it still does what Python's does for
what is not of the eDSL: `max(1, 2)` is 2.
"""

from __future__ import annotations

import builtins
from typing import Any

from ...dialects.aggregation import Aggregation, Combination
from .accesses import Aggregated, Combined, IndexedTensor, combine, combined
from .dims import is_size
from .indices import IndexExpression
from .locations import error
from .tensors import Tensor, TensorDim, apply, apply_to_sizes, cast

_OURS = (Tensor, TensorDim, Combined, Aggregated, IndexExpression)


def _is_ours(*values: object) -> bool:
    return any(isinstance(value, _OURS) for value in values)


def of_sizes_too(function: str, *operands: Any) -> Any:
    """A function that of sizes is a size."""
    if any(isinstance(o, TensorDim) for o in operands) and all(map(is_size, operands)):
        return apply_to_sizes(function, *operands)
    return apply(function, *operands)


# Aggregations: the right side of `O[i] = max(I[i, j])`.


def assign(value: Any) -> Aggregated:
    """The only point of each cell, as a plain `=` says it."""
    return Aggregated(Aggregation.ASSIGN, combined(value))


def product(value: Any) -> Aggregated:
    """The product of all points of each cell."""
    return Aggregated(Aggregation.MUL, combined(value))


def sum(*values: Any, **options: Any) -> Any:
    """The sum of all points of each cell, of an access; else Python's `sum`."""
    if len(values) == 1 and isinstance(values[0], Combined):
        return Aggregated(Aggregation.ADD, values[0])
    if _is_ours(*values):
        raise _no_whole_tensor("sum", "O[()] += I[i, j]")
    return builtins.sum(*values, **options)


def max(*values: Any, **options: Any) -> Any:
    """The largest point of each cell, of an access; the larger of two tensors or sizes.

    Of anything else it is Python's `max`.
    """
    if not _is_ours(*values):
        return builtins.max(*values, **options)
    return _extremum("max", Aggregation.MAX, values)


def min(*values: Any, **options: Any) -> Any:
    """The least point of each cell, of an access; the smaller of two tensors or sizes.

    Of anything else it is Python's `min`.
    """
    if not _is_ours(*values):
        return builtins.min(*values, **options)
    return _extremum("min", Aggregation.MIN, values)


def _extremum(function: str, aggregation: Aggregation, values: tuple[Any, ...]) -> Any:
    if len(values) == 1:
        if isinstance(values[0], Combined):
            return Aggregated(aggregation, values[0])
        raise _no_whole_tensor(function, f"O[()] = {function}(I[i, j])")
    result = values[0]
    for value in values[1:]:
        result = of_sizes_too(function, result, value)
    return result


def _no_whole_tensor(function: str, contraction: str) -> Exception:
    return error(
        f"'{function}' of one tensor is a contraction",
        f"say which elements belong to which cell: {contraction}",
    )


# Choice.


def cond(a: Any, b: Any, c: Any) -> Any:
    """Of accesses, `c` where `a` equals `b`, else 0; of tensors, as `select`."""
    if any(isinstance(value, IndexedTensor) for value in (a, b, c)):
        return combine(Combination.COND, a, b, c)
    return select(a, b, c)


def select(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`."""
    return of_sizes_too("cond", condition, x, y)


# Conversions.


def as_float(x: Any, bits: int = 32) -> Tensor:
    """As floats of 16, 32 or 64 bits."""
    return cast(x, _type_of_bits("float", bits, (16, 32, 64)))


def as_int(x: Any, bits: int = 32) -> Tensor:
    """As signed integers of 8, 16, 32 or 64 bits."""
    return cast(x, _type_of_bits("int", bits, (8, 16, 32, 64)))


def as_uint(x: Any, bits: int = 32) -> Tensor:
    """As unsigned integers of 8, 16, 32 or 64 bits."""
    return cast(x, _type_of_bits("uint", bits, (8, 16, 32, 64)))


def as_bool(x: Any) -> Tensor:
    """Whether each element is other than zero."""
    return cast(x, "bool")


def _type_of_bits(kind: str, bits: int, widths: tuple[int, ...]) -> str:
    if bits not in widths:
        raise error(f"expected {', '.join(map(str, widths))} bits, got {bits}")
    return f"{kind}{bits}"


# The table of element-wise functions.


def ident(x: Any) -> Any:
    """Its operand."""
    return of_sizes_too("ident", x)


def mod(x: Any, y: Any) -> Any:
    """The remainder of `div`, with the sign of x."""
    return of_sizes_too("mod", x, y)


def abs(x: Any) -> Any:
    """The magnitude; of numbers, Python's `abs`."""
    return of_sizes_too("abs", x) if _is_ours(x) else builtins.abs(x)


def relu(x: Any) -> Any:
    """`x < 0 ? 0 : x`."""
    return of_sizes_too("relu", x)


def sign(x: Any) -> Any:
    """-1, 0 or 1; NaN of NaN."""
    return of_sizes_too("sign", x)


def logical_and(x: Any, y: Any) -> Tensor:
    """Whether both are other than zero."""
    return apply("logical_and", x, y)


def logical_or(x: Any, y: Any) -> Tensor:
    """Whether one is other than zero."""
    return apply("logical_or", x, y)


def logical_xor(x: Any, y: Any) -> Tensor:
    """Whether exactly one is other than zero."""
    return apply("logical_xor", x, y)


def logical_not(x: Any) -> Tensor:
    """Whether it is zero."""
    return apply("logical_not", x)


def ceil(x: Any) -> Any:
    """The least integer not below."""
    return of_sizes_too("ceil", x)


def floor(x: Any) -> Any:
    """The greatest integer not above."""
    return of_sizes_too("floor", x)


def round(x: Any, *digits: Any) -> Any:
    """The nearest integer, half to even; of numbers, Python's `round`."""
    if digits or not _is_ours(x):
        return builtins.round(x, *digits)
    return of_sizes_too("round", x)


def sqrt(x: Any) -> Tensor:
    """The square root."""
    return apply("sqrt", x)


def recip(x: Any) -> Tensor:
    """The reciprocal."""
    return apply("recip", x)


def pow(x: Any, y: Any, *modulus: Any) -> Any:
    """`x` to the power `y`; of numbers, Python's `pow`."""
    if modulus or not _is_ours(x, y):
        power: Any = builtins.pow
        return power(x, y, *modulus)
    return apply("pow", x, y)


def exp(x: Any) -> Tensor:
    """The exponential function: e to the power `x`."""
    return apply("exp", x)


def log(x: Any) -> Tensor:
    """The natural logarithm."""
    return apply("log", x)


def replace_grad(x: Any, y: Any) -> Tensor:
    """`x` itself; a gradient that goes through it is replaced by `y`."""
    return apply("replace_grad", x, y)


def reverse_grad(x: Any, y: Any) -> Tensor:
    """Give `x` itself; a gradient that goes through it is multiplied by `-y`."""
    return apply("reverse_grad", x, y)


def sigmoid(x: Any) -> Tensor:
    """1 / (1 + exp(-x))."""
    return apply("sigmoid", x)


def erf(x: Any) -> Tensor:
    """The error function."""
    return apply("erf", x)


def sin(x: Any) -> Tensor:
    """The sine."""
    return apply("sin", x)


def cos(x: Any) -> Tensor:
    """The cosine."""
    return apply("cos", x)


def tan(x: Any) -> Tensor:
    """The tangent."""
    return apply("tan", x)


def asin(x: Any) -> Tensor:
    """The inverse sine."""
    return apply("asin", x)


def acos(x: Any) -> Tensor:
    """The inverse cosine."""
    return apply("acos", x)


def atan(x: Any) -> Tensor:
    """The inverse tangent."""
    return apply("atan", x)


def sinh(x: Any) -> Tensor:
    """The hyperbolic sine."""
    return apply("sinh", x)


def cosh(x: Any) -> Tensor:
    """The hyperbolic cosine."""
    return apply("cosh", x)


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def asinh(x: Any) -> Tensor:
    """The inverse hyperbolic sine."""
    return apply("asinh", x)


def acosh(x: Any) -> Tensor:
    """The inverse hyperbolic cosine."""
    return apply("acosh", x)


def atanh(x: Any) -> Tensor:
    """The inverse hyperbolic tangent."""
    return apply("atanh", x)
