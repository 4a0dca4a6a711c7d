"""Functions of each element: those of the eDSL, and what NumPy calls otherwise."""

from __future__ import annotations

from typing import Any

from ..edsl.float_functions import (
    atan2,
    cbrt,
    copysign,
    erfc,
    exp2,
    expm1,
    fma,
    hypot,
    isfinite,
    isinf,
    isnan,
    log1p,
    log2,
    log10,
    mix,
    rsqrt,
    signbit,
    trunc,
)
from ..edsl.functions import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    cos,
    cosh,
    erf,
    exp,
    floor,
    log,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    pow,
    recip,
    round,
    select,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
)
from ..edsl.tensors import Tensor, apply
from ..edsl.tensors import cast as converted
from .operation import TensorLike, as_tensor, operation

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cast",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fma",
    "fmod",
    "greater",
    "greater_equal",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "lerp",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "reciprocal",
    "round",
    "rsqrt",
    "scale_gradient",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "subtract",
    "tan",
    "true_divide",
    "trunc",
    "xlogy",
]


@operation
def cast(x: TensorLike, dtype: Any) -> Tensor:
    """The elements in another type, as ONNX's Cast and torch's `to`."""
    return converted(as_tensor(x), dtype)


@operation
def add(x: TensorLike, y: TensorLike) -> Tensor:
    """`x + y`, as NumPy's add; all functions of two tensors broadcast as NumPy's do."""
    return apply("add", x, y)


@operation
def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """`x - y`, as NumPy's subtract."""
    return apply("sub", x, y)


@operation
def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """`x * y`, as NumPy's multiply."""
    return apply("mul", x, y)


@operation
def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """`x / y`; of integers truncated toward zero, as ONNX's Div."""
    return apply("div", x, y)


@operation
def true_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """`x / y`, of integers too in f32, as NumPy's true_divide."""
    return apply("div", as_tensor(x) * 1.0, y)


@operation
def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient rounded down, as NumPy's floor_divide."""
    x = as_tensor(x)
    return apply("div", x - mod(x, y), y)


@operation
def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder with the sign of the divisor, as NumPy's and ONNX's Mod."""
    x, y = as_tensor(x), as_tensor(y)
    rest = apply("mod", x, y)
    is_other = logical_and(rest != 0, (rest < 0) != (y < 0))
    return select(is_other, rest + y, rest)


@operation
def fmod(x: TensorLike, y: TensorLike) -> Tensor:
    """The remainder with the sign of the dividend, as NumPy's fmod."""
    return apply("mod", x, y)


@operation
def negative(x: TensorLike) -> Tensor:
    """`-x`, as NumPy's negative and ONNX's Neg."""
    return apply("neg", x)


@operation
def square(x: TensorLike) -> Tensor:
    """`x * x`, as NumPy's square."""
    x = as_tensor(x)
    return x * x


@operation
def reciprocal(x: TensorLike) -> Tensor:
    """`1 / x` in floats, as ONNX's and torch's reciprocal."""
    return recip(as_tensor(x))


@operation
def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether both are equal, as NumPy's equal."""
    return apply("cmp_eq", x, y)


@operation
def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether both are different, as NumPy's not_equal."""
    return apply("cmp_ne", x, y)


@operation
def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether `x < y`, as NumPy's less."""
    return apply("cmp_lt", x, y)


@operation
def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether `x <= y`, as NumPy's less_equal."""
    return apply("cmp_le", x, y)


@operation
def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether `x > y`, as NumPy's greater."""
    return apply("cmp_gt", x, y)


@operation
def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether `x >= y`, as NumPy's greater_equal."""
    return apply("cmp_ge", x, y)


@operation
def lerp(x: TensorLike, y: TensorLike, weight: TensorLike) -> Tensor:
    """From x to y for a weight from 0 to 1, as torch's lerp."""
    return mix(x, y, weight)


@operation
def xlogy(x: TensorLike, y: TensorLike) -> Tensor:
    """`x * log(y)`, and 0 where x is 0, as torch's xlogy."""
    x = as_tensor(x)
    return select(x == 0, 0.0, x * log(y))


@operation
def scale_gradient(x: TensorLike, scale: TensorLike) -> Tensor:
    """`x` itself; a gradient that goes through it is multiplied, as PlaidML's."""
    return apply("reverse_grad", x, apply("neg", scale))


@operation
def stop_gradient(x: TensorLike) -> Tensor:
    """`x` itself, which counts as a constant in gradients, as torch's detach."""
    return apply("reverse_grad", x, 0.0)
