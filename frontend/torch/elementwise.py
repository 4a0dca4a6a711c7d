"""Element-wise operators, by the functions of the element-wise table."""

from __future__ import annotations

import math
from typing import Any

from ...dialects.eltwise.table import FUNCTIONS
from ..edsl.tensors import Tensor, apply, cast
from .rows import Call, NotLowered, Row, as_type, dtype_named, row, type_of

_UNARY = {
    name: name
    for name in (
        "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 "
        "floor log log10 log1p log2 neg relu round rsqrt sigmoid sign sin sinh sqrt "
        "tan tanh trunc"
    ).split()
} | {"reciprocal": "recip", "sgn": "sign"}

_TESTS = {name: name for name in ("isinf", "isnan", "signbit", "logical_not")}

_BINARY = {
    "atan2": "atan2",
    "bitwise_and": "bit_and",
    "bitwise_or": "bit_or",
    "bitwise_xor": "bit_xor",
    "copysign": "copysign",
    "fmax": "fmax",
    "fmin": "fmin",
    "fmod": "mod",
    "hypot": "hypot",
    "maximum": "max",
    "minimum": "min",
    "mul": "mul",
    "pow": "pow",
}

_COMPARISONS = {name: f"cmp_{name}" for name in ("eq", "ge", "gt", "le", "lt", "ne")}

_LOGICAL = {name: name for name in ("logical_and", "logical_or", "logical_xor")}

_OF_TRUTH = {
    "bit_and": "logical_and",
    "bit_or": "logical_or",
    "bit_xor": "logical_xor",
    "mul": "logical_and",
    "max": "logical_or",
    "min": "logical_and",
}
"""What functions of integers are of truth values."""


def _of_result_type(function: str) -> Row:
    """A function whose operands are converted to the type of the result."""

    def lowered(call: Call, *operands: Any) -> Tensor:
        if call.dtype == "bool":
            return apply(_OF_TRUTH.get(function, function), *operands)
        return apply(function, *call.converted(*operands))

    lowered.__doc__ = FUNCTIONS[function].summary
    return lowered


def _of_own_types(function: str) -> Row:
    """A function whose result is a truth value, whatever its operands are."""

    def lowered(call: Call, *operands: Any) -> Tensor:
        return apply(function, *operands)

    lowered.__doc__ = FUNCTIONS[function].summary
    return lowered


def _add_rows() -> None:
    for name, function in _UNARY.items():
        row(f"aten.{name}.default")(_of_result_type(function))
    for name, function in _TESTS.items():
        row(f"aten.{name}.default")(_of_own_types(function))
    for name, function in _BINARY.items():
        overloads = ["Tensor", "Scalar"]
        if name in ("atan2", "fmax", "fmin", "hypot", "maximum", "minimum"):
            overloads = ["default"]
        if name == "pow":
            continue
        for overload in overloads:
            row(f"aten.{name}.{overload}")(_of_result_type(function))
    for name, function in _COMPARISONS.items():
        for overload in ("Tensor", "Scalar"):
            row(f"aten.{name}.{overload}")(_of_own_types(function))
    for name, function in _LOGICAL.items():
        row(f"aten.{name}.default")(_of_own_types(function))


_add_rows()


@row("aten.add.Tensor", "aten.add.Scalar")
def add(call: Call, x: Any, y: Any, alpha: Any = 1) -> Tensor:
    """The sum, the second operand times alpha."""
    if call.dtype == "bool":
        return apply("logical_or", x, y)
    x, y = call.converted(x, y)
    return apply("add", x, y if alpha == 1 else apply("mul", y, alpha))


@row("aten.sub.Tensor", "aten.sub.Scalar")
def subtract(call: Call, x: Any, y: Any, alpha: Any = 1) -> Tensor:
    """The difference, the second operand times alpha."""
    x, y = call.converted(x, y)
    return apply("sub", x, y if alpha == 1 else apply("mul", y, alpha))


@row("aten.rsub.Tensor", "aten.rsub.Scalar")
def reverse_subtract(call: Call, x: Any, y: Any, alpha: Any = 1) -> Tensor:
    """The difference the other way round."""
    return subtract(call, y, x if alpha == 1 else apply("mul", x, alpha))


@row("aten.div.Tensor", "aten.div.Scalar")
def divide(call: Call, x: Any, y: Any) -> Tensor:
    """The quotient, a float also of integers."""
    x, y = call.converted(x, y)
    return apply("div", x, float(y) if isinstance(y, int) else y)


@row("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def divide_rounded(
    call: Call, x: Any, y: Any, *, rounding_mode: str | None = None
) -> Tensor:
    """The quotient, rounded down or toward zero."""
    if rounding_mode is None:
        return divide(call, x, y)
    x, y = call.converted(x, y)
    if call.result.is_float:
        return apply(
            "floor" if rounding_mode == "floor" else "trunc", divide(call, x, y)
        )
    quotient = apply("div", x, y)  # of integers, toward zero
    if rounding_mode == "trunc":
        return quotient
    rest = apply("sub", x, apply("mul", quotient, y))
    is_below = apply("logical_and", apply("cmp_ne", rest, 0), _differ_in_sign(rest, y))
    return apply("sub", quotient, cast(is_below, call.dtype))


@row("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(call: Call, x: Any, y: Any) -> Tensor:
    """What is left by a division that is rounded down: it has the divisor's sign."""
    x, y = call.converted(x, y)
    rest = apply("mod", x, y)
    is_moved = apply("logical_and", apply("cmp_ne", rest, 0), _differ_in_sign(rest, y))
    return apply("cond", is_moved, apply("add", rest, y), rest)


def _differ_in_sign(x: Any, y: Any) -> Tensor:
    return apply("cmp_ne", apply("cmp_lt", x, 0), apply("cmp_lt", y, 0))


@row("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(call: Call, x: Any, y: Any) -> Tensor:
    """The power; small integer ones by products."""
    x, y = call.converted(x, y)
    if isinstance(y, int | float) and y in (1, 2, 3, 4):
        square = apply("mul", x, x)
        return {1: x, 2: square}.get(
            int(y), apply("mul", square, x if y == 3 else square)
        )
    if isinstance(y, float) and abs(y) == 0.5:
        return apply("sqrt" if y > 0 else "rsqrt", x)
    if not call.result.is_float:
        # Powers of integers are floats here, exact up to 2^24.
        return cast(apply("round", apply("pow", cast(x, "float64"), y)), call.dtype)
    return apply("pow", x, y)


@row("aten.bitwise_not.default")
def bitwise_not(call: Call, x: Tensor) -> Tensor:
    """All bits the other way round; of truth values the opposite."""
    return apply("logical_not" if call.dtype == "bool" else "bit_not", x)


@row(
    "aten.bitwise_left_shift.Tensor",
    "aten.bitwise_left_shift.Tensor_Scalar",
    "aten.__lshift__.Tensor",
    "aten.__lshift__.Scalar",
)
def shift_left(call: Call, x: Tensor, y: Any) -> Tensor:
    """The bits moved to higher places."""
    return apply("bit_left", *call.converted(x, y))


@row(
    "aten.bitwise_right_shift.Tensor",
    "aten.bitwise_right_shift.Tensor_Scalar",
    "aten.__rshift__.Tensor",
    "aten.__rshift__.Scalar",
)
def shift_right(call: Call, x: Tensor, y: Any) -> Tensor:
    """The bits moved to lower places, with the sign kept."""
    return apply("bit_right", *call.converted(x, y))


@row("aten.where.self")
def where(call: Call, condition: Tensor, x: Any, y: Any) -> Tensor:
    """The first where the condition holds, else the second."""
    return apply("cond", condition, *call.converted(x, y))


@row("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(call: Call, x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with a number where the mask holds."""
    return apply("cond", mask, *call.converted(value, x))


@row("aten.clamp.default", "aten.clamp.Tensor")
def clamp(call: Call, x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """The numbers kept within bounds, of which one may be absent."""
    x, least, most = call.converted(x, min, max)
    if least is not None:
        x = apply("max", x, least)
    return x if most is None else apply("min", x, most)


@row("aten.clamp_min.default")
def clamp_min(call: Call, x: Tensor, least: Any) -> Tensor:
    """The numbers, but at least so much."""
    return clamp(call, x, least)


@row("aten.clamp_max.default")
def clamp_max(call: Call, x: Tensor, most: Any) -> Tensor:
    """The numbers, but at most so much."""
    return clamp(call, x, None, most)


@row("aten.hardtanh.default")
def hardtanh(call: Call, x: Tensor, least: float = -1.0, most: float = 1.0) -> Tensor:
    """The numbers kept within bounds; relu6 is this, too."""
    return clamp(call, x, least, most)


@row("aten.leaky_relu.default")
def leaky_relu(call: Call, x: Tensor, slope: float = 0.01) -> Tensor:
    """Negative numbers times a slope."""
    return apply("cond", apply("cmp_gt", x, 0), x, apply("mul", x, slope))


@row("aten.elu.default")
def elu(
    call: Call, x: Tensor, alpha: float = 1.0, scale: float = 1.0, inner: float = 1.0
) -> Tensor:
    """Negative numbers bent toward -alpha."""
    bent = apply("mul", apply("expm1", apply("mul", x, inner)), alpha * scale)
    return apply("cond", apply("cmp_gt", x, 0), apply("mul", x, scale), bent)


@row("aten.gelu.default")
def gelu(call: Call, x: Tensor, *, approximate: str = "none") -> Tensor:
    """X times the probability of less under a normal distribution, or nearly."""
    if approximate == "tanh":
        cube = apply("mul", apply("mul", x, x), x)
        inner = apply("add", x, apply("mul", cube, 0.044715))
        share = apply("tanh", apply("mul", inner, math.sqrt(2 / math.pi)))
    else:
        share = apply("erf", apply("mul", x, math.sqrt(0.5)))
    return apply("mul", apply("mul", x, 0.5), apply("add", share, 1.0))


@row("aten._to_copy.default", "prims.convert_element_type.default")
def convert(call: Call, x: Tensor, *_: Any, **options: Any) -> Tensor:
    """The elements as another type; devices are all one."""
    return as_type(x, call.dtype)


@row(
    "aten.alias.default",
    "aten.clone.default",
    "aten.detach.default",
    "aten.lift_fresh_copy.default",
    "aten.contiguous.default",
)
def same(call: Call, x: Tensor, **options: Any) -> Tensor:
    """The same elements: tensors are values here."""
    return x


@row("aten.view.dtype")
def view_as_type(call: Call, x: Tensor, dtype: Any) -> Tensor:
    """The same bits as another type, where that is the same type."""
    if type_of(x) != dtype_named(dtype):
        raise NotLowered("bits as another type")
    return x
