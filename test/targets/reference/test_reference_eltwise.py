"""Every function of the table, against its meaning on numbers in plain Python."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Attribute

from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, Kind, bit_width, kind
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.table import FUNCTIONS, Function
from gingham.targets.reference.eltwise import meaning


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _choice(condition: float, x: float, y: float) -> float:
    return x if condition else y


def _divide(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * _sign(x * y)


def _remainder(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) % abs(y) * _sign(x)


UNARY: dict[str, Callable[[float], float]] = {
    "ident": lambda x: x,
    "neg": lambda x: -x,
    "abs": abs,
    "relu": lambda x: max(x, 0),
    "sign": _sign,
    "logical_not": lambda x: not x,
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "recip": lambda x: 1 / x,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
}
for same_name in "sqrt exp log erf sin cos tan sinh cosh tanh".split():
    UNARY[same_name] = getattr(math, same_name)

BINARY: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda x, y: x / y,
    "mod": math.fmod,
    "max": max,
    "min": min,
    "pow": math.pow,
    "reverse_grad": lambda x, _: x,
    "replace_grad": lambda x, _: x,
    "cmp_eq": operator.eq,
    "cmp_ne": operator.ne,
    "cmp_lt": operator.lt,
    "cmp_le": operator.le,
    "cmp_gt": operator.gt,
    "cmp_ge": operator.ge,
    "logical_and": lambda x, y: x and y,
    "logical_or": lambda x, y: x or y,
    "logical_xor": operator.ne,
}

FLOATS: dict[str, Callable[..., float]] = {**UNARY, **BINARY, "cond": _choice}
"""The meaning of functions that floats have."""

INTEGERS: dict[str, Callable[..., int]] = {
    "div": _divide,
    "mod": _remainder,
    "bit_and": int.__and__,
    "bit_or": int.__or__,
    "bit_xor": int.__xor__,
    "bit_not": int.__invert__,
}
"""The meaning of functions that mean something else on integers, or only on them."""

COUNT = 84
"""Numbers that a function is tried on."""


def operands(
    function: Function, element: Attribute, random: np.random.Generator
) -> tuple[list[np.ndarray[Any, Any]], tuple[Attribute, ...], Attribute]:
    casts, result = function.signature([element] * function.arity)
    arrays: list[np.ndarray[Any, Any]] = []
    for operand in casts:
        dtype = numpy_dtype(operand)
        if kind(operand) is Kind.FLOAT:
            low, high = (1, 4) if function.name in ("acosh", "log", "sqrt") else (-1, 1)
            low = 0.25 if function.name == "pow" else low
            values = random.uniform(low, high, COUNT)
            arrays.append(values.astype(dtype))
        elif kind(operand) is Kind.BOOLEAN:
            arrays.append(random.integers(0, 2, COUNT).astype(dtype))
        else:
            limits = np.iinfo(dtype)
            values = random.integers(
                limits.min, limits.max, COUNT - 44, dtype, endpoint=True
            )
            small = random.integers(0 if dtype.kind == "u" else -9, 9, 40, dtype)
            edges = np.array([limits.min, limits.max, 0, 1], dtype)
            arrays.append(random.permutation(np.concatenate([values, small, edges])))
    return arrays, casts, result


def accepted(function: Function, names: Sequence[str]) -> list[str]:
    result: list[str] = []
    for name in names:
        try:
            function.signature([ELEMENT_TYPES[name]] * function.arity)
        except TypeError:
            continue
        result.append(name)
    return result


CASES = [
    (function.name, name)
    for function in FUNCTIONS.values()
    for name in accepted(function, list(ELEMENT_TYPES))
]


@pytest.mark.parametrize(("function_name", "name"), CASES)
def test_function(function_name: str, name: str, random: np.random.Generator) -> None:
    function = FUNCTIONS[function_name]
    arrays, casts, result = operands(function, ELEMENT_TYPES[name], random)
    got = meaning(function, casts, result)(arrays)
    assert got.dtype == numpy_dtype(result)
    assert got.shape == arrays[0].shape
    if function_name in ("bit_left", "bit_right"):
        scalar = shift(function_name, bit_width(result), kind(result))
    elif kind(casts[-1]) is Kind.FLOAT:
        scalar = FLOATS[function_name]
    else:
        scalar = INTEGERS.get(function_name) or FLOATS[function_name]
    columns = [
        [as_number(value, operand) for value in array]
        for array, operand in zip(arrays, casts, strict=True)
    ]
    exact = [scalar(*row) for row in zip(*columns, strict=True)]
    if kind(result) is Kind.FLOAT:
        digits = {"f16": 1e-3, "bf16": 8e-3, "f32": 2e-6, "f64": 1e-13}[str(result)]
        np.testing.assert_allclose(got.astype(np.float64), exact, digits, digits)
    else:
        assert [int(v) for v in got] == [wrapped(int(v), result) for v in exact]


def as_number(value: Any, element: Attribute) -> float | int:
    return float(value) if kind(element) is Kind.FLOAT else int(value)


def wrapped(value: int, element: Attribute) -> int:
    if kind(element) is Kind.BOOLEAN:
        return value & 1 if value in (-1, -2) else int(bool(value))
    width = bit_width(element)
    low = -(2 ** (width - 1)) if kind(element) is Kind.SIGNED else 0
    return (value - low) % 2**width + low


def shift(name: str, width: int, operand: Kind) -> Callable[[int, int], int]:
    def meaning(x: int, count: int) -> int:
        inside = 0 <= count < width
        if name == "bit_left":
            return x << count if inside else 0
        if inside:
            return x >> count
        return -1 if x < 0 and operand is Kind.SIGNED else 0

    return meaning


def test_every_function_is_tested() -> None:
    shifts = {"bit_left", "bit_right"}
    assert set(FLOATS) | set(INTEGERS) | shifts == set(FUNCTIONS)


def test_float_functions_beyond_the_numbers() -> None:
    element = ELEMENT_TYPES["f32"]

    def of(name: str, *values: float) -> float:
        arrays = [np.array([value], np.float32) for value in values]
        result = FUNCTIONS[name].signature([element] * len(values))[1]
        return meaning(FUNCTIONS[name], [element] * len(values), result)(arrays)[0]

    assert np.isnan(of("max", 1, np.nan))
    assert np.isnan(of("min", np.nan, 1))
    assert of("div", 1, 0) == np.inf
    assert np.isnan(of("sqrt", -1))
    assert of("log", 0) == -np.inf
    assert of("exp", 1000) == np.inf
    assert of("round", 2.5) == 2
    assert not of("cmp_eq", np.nan, np.nan)


def test_half_precision_rounds_after_each_operation(run: Callable[..., Any]) -> None:
    x = np.array([2048.0], np.float16)
    (got,) = run(
        """
        func.func @main(%x : tensor<1xf16>) -> tensor<1xf16> {
          %one = eltwise.constant 1.0 : tensor<f16>
          %a = eltwise.add %x, %one : (tensor<1xf16>, tensor<f16>) -> tensor<1xf16>
          %b = eltwise.add %a, %one : (tensor<1xf16>, tensor<f16>) -> tensor<1xf16>
          func.return %b : tensor<1xf16>
        }""",
        x,
    )
    # 2049 is no number of f16 and becomes 2048 again, twice.
    assert got.tolist() == [2048.0]


def test_tensors_broadcast(
    run: Callable[..., Any], random: np.random.Generator
) -> None:
    x = random.integers(-9, 9, (3, 1), np.int32)
    y = random.integers(-9, 9, (2, 1, 4), np.int32)
    (got,) = run(
        """
        func.func @main(%x : tensor<3x1xsi32>, %y : tensor<2x1x4xsi32>)
            -> tensor<2x3x4xsi32> {
          %z = eltwise.sub %x, %y
              : (tensor<3x1xsi32>, tensor<2x1x4xsi32>) -> tensor<2x3x4xsi32>
          func.return %z : tensor<2x3x4xsi32>
        }""",
        x,
        y,
    )
    for a in range(2):
        for b in range(3):
            for c in range(4):
                assert got[a, b, c] == x[b, 0] - y[a, 0, c]
