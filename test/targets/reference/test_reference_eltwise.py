"""Every function of the table, against its meaning on numbers in plain Python."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Attribute

import gingham
from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, Kind, bit_width, kind
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.table import FUNCTIONS, Function
from gingham.targets.reference.eltwise import meaning


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _choice(condition: float, x: float, y: float) -> float:
    return x if condition else y


def _smooth_step(low: float, high: float, x: float) -> float:
    t = min(max((x - low) / (high - low), 0), 1)
    return t * t * (3 - 2 * t)


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
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "exp10": lambda x: 10.0**x,
    "logb": lambda x: -math.inf if x == 0 else math.floor(math.log2(abs(x))),
    "sinpi": lambda x: math.sin(math.pi * x),
    "cospi": lambda x: math.cos(math.pi * x),
    "tanpi": lambda x: math.tan(math.pi * x),
    "asinpi": lambda x: math.asin(x) / math.pi,
    "acospi": lambda x: math.acos(x) / math.pi,
    "atanpi": lambda x: math.atan(x) / math.pi,
    "signbit": lambda x: math.copysign(1, x) < 0,
}
for same_name in (
    "sqrt cbrt exp exp2 expm1 log log2 log10 log1p erf erfc sin cos tan sinh cosh tanh "
    "trunc degrees radians isnan isinf isfinite"
).split():
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
    "hypot": math.hypot,
    "ldexp": lambda x, y: math.ldexp(x, math.trunc(y)),
    "atan2": math.atan2,
    "atan2pi": lambda y, x: math.atan2(y, x) / math.pi,
    "copysign": math.copysign,
    "remainder": math.remainder,
    "fdim": lambda x, y: max(x - y, 0),
    "fmax": max,
    "fmin": min,
    "step": lambda edge, x: x >= edge,
}

TERNARY: dict[str, Callable[[float, float, float], float]] = {
    "clamp": lambda x, low, high: low if x < low else min(x, high),
    "cond": _choice,
    "fma": lambda x, y, z: x * y + z,
    "mix": lambda x, y, z: x + (y - x) * z,
    "smoothstep": _smooth_step,
}

FLOATS: dict[str, Callable[..., float]] = {**UNARY, **BINARY, **TERNARY}
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

_POSITIVE = ("acosh", "log", "log2", "log10", "sqrt", "rsqrt")

DEVICES = ["reference", *(d.name for d in gingham.devices() if not d.is_reference)]

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
            low, high = (1, 4) if function.name in _POSITIVE else (-1, 1)
            low = 0.25 if function.name == "pow" else low
            # Between its poles.
            low, high = (-0.4, 0.4) if function.name == "tanpi" else (low, high)
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
    if function.name == "smoothstep":
        # From a lower to a higher end.
        arrays[1] += np.asarray(3, arrays[1].dtype)
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


INF, NAN = math.inf, math.nan

CORNERS: list[tuple[str, tuple[float, ...], float]] = [
    ("rsqrt", (0.0,), INF), ("rsqrt", (-1.0,), NAN), ("rsqrt", (INF,), 0.0),
    ("cbrt", (-27.0,), -3.0), ("cbrt", (-INF,), -INF),
    ("hypot", (3e38, 1e38), 3.1622776e38), ("hypot", (1e-40, 0.0), 1e-40),
    ("hypot", (-INF, NAN), INF), ("hypot", (3.0, -4.0), 5.0),
    ("exp2", (-149.0,), 2.0**-149), ("exp2", (128.0,), INF),
    ("exp10", (-INF,), 0.0), ("exp10", (2.0,), 100.0),
    ("expm1", (1e-20,), 1e-20), ("expm1", (-INF,), -1.0), ("log1p", (1e-20,), 1e-20),
    ("log1p", (-1.0,), -INF), ("log2", (2.0**-140,), -140.0), ("log10", (-1.0,), NAN),
    ("logb", (0.0,), -INF), ("logb", (-INF,), INF), ("logb", (-10.0,), 3.0),
    ("ldexp", (1.5, 2.9), 6.0), ("ldexp", (1.5, -2.9), 0.375),
    ("ldexp", (2.0**-100, 200.0), 2.0**100), ("ldexp", (2.0**100, -240.0), 2.0**-140),
    ("ldexp", (1.0, 1e30), INF), ("ldexp", (-1.0, -INF), -0.0),
    ("atan2", (-0.0, -1.0), -math.pi), ("atan2", (0.0, 0.0), 0.0),
    ("atan2", (INF, -INF), 0.75 * math.pi), ("atan2pi", (1.0, -1.0), 0.75),
    ("sinpi", (1e9,), 0.0), ("sinpi", (8388606.5,), 1.0),
    ("sinpi", (INF,), NAN), ("cospi", (0.5,), 0.0), ("cospi", (8388607.0,), -1.0),
    ("tanpi", (0.25,), 1.0), ("asinpi", (-1.0,), -0.5), ("acospi", (-1.0,), 1.0),
    ("asinpi", (1.5,), NAN), ("atanpi", (-INF,), -0.5),
    ("degrees", (math.pi,), 180.0), ("radians", (-INF,), -INF),
    ("erfc", (9.0,), 4.137032e-37), ("erfc", (-INF,), 2.0),
    ("copysign", (3.0, -0.0), -3.0), ("copysign", (-INF, 1.0), INF),
    ("remainder", (7.0, 4.0), -1.0), ("remainder", (-6.0, 4.0), 2.0),
    ("remainder", (1e30, 7.0), 1.0), ("remainder", (3.0, INF), 3.0),
    ("remainder", (3.0, 0.0), NAN), ("remainder", (INF, 3.0), NAN),
    ("fdim", (INF, INF), 0.0), ("fdim", (1.0, NAN), NAN), ("fdim", (5.0, 3.0), 2.0),
    ("fmax", (NAN, 1.0), 1.0), ("fmin", (1.0, NAN), 1.0), ("fmin", (NAN, NAN), NAN),
    ("step", (1.0, 1.0), 1.0), ("step", (1.0, NAN), 1.0), ("step", (2.0, 1.0), 0.0),
    ("smoothstep", (1.0, 3.0, 0.0), 0.0), ("smoothstep", (1.0, 3.0, INF), 1.0),
    ("smoothstep", (1.0, 3.0, 2.0), 0.5), ("smoothstep", (3.0, 1.0, 2.5), 0.15625),
    ("clamp", (NAN, 0.0, 1.0), NAN), ("clamp", (-INF, 0.0, 1.0), 0.0),
    ("clamp", (2.0, 3.0, 1.0), 3.0), ("mix", (2.0, INF, 0.0), NAN),
    ("mix", (-2.0, 6.0, 0.25), 0.0),
    ("fma", (1 + 2.0**-12, 1 - 2.0**-12, -1.0), -(2.0**-24)),
    ("fma", (3e38, 10.0, -INF), -INF), ("fma", (3e38, 2.0, -3e38), 3e38),
    ("fma", (INF, 0.0, NAN), NAN),
    ("trunc", (-2.7,), -2.0), ("trunc", (2.0**30,), 2.0**30),
    ("isnan", (NAN,), 1), ("isnan", (INF,), 0), ("isinf", (-INF,), 1),
    ("isinf", (NAN,), 0), ("isfinite", (NAN,), 0), ("isfinite", (3e38,), 1),
    ("signbit", (-0.0,), 1), ("signbit", (-INF,), 1), ("signbit", (0.0,), 0),
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_corners(device: str) -> None:
    """What OpenCL C says of zeros, infinities and NaN; where digits could be lost."""
    outputs = ", ".join(f"R{number}" for number in range(len(CORNERS)))
    inputs, statements, arrays = list[str](), list[str](), list[np.ndarray[Any, Any]]()
    for number, (name, operands, _) in enumerate(CORNERS):
        letters = [f"{letter}{number}" for letter in "XYZ"[: len(operands)]]
        inputs += [f"{letter}[{letter}N]" for letter in letters]
        statements.append(f"R{number} = as_float({name}({', '.join(letters)}), 32);")
        # On scalars and vectors: there are as many elements as lanes, and one.
        arrays += [np.full(17, operand, np.float32) for operand in operands]
    text = f"function ({', '.join(inputs)}) -> ({outputs}) {{ {' '.join(statements)} }}"
    results = gingham.compile(text, device=device)(*arrays)
    for (name, operands, expected), result in zip(CORNERS, results, strict=True):
        wanted = np.full(17, expected, np.float32)
        what = f"{name}{operands}"
        np.testing.assert_allclose(result, wanted, 1e-6, 0, err_msg=what)
        # Other functions leave it open which 0 it is.
        is_certain = name in ("copysign", "fdim", "ldexp", "trunc", "atan2")
        if is_certain and not math.isnan(expected):
            np.testing.assert_array_equal(np.signbit(result), np.signbit(wanted), what)


def test_fma_is_rounded_once() -> None:
    """Against fractions, with results that a second rounding would change."""
    random = np.random.default_rng(5)
    fma = FUNCTIONS["fma"]
    for dtype in (np.float32, np.float64):
        x, y = (random.normal(size=2000).astype(dtype) for _ in "xy")
        # Products that are all but cancelled, and sums halfway between two numbers.
        z = np.concatenate([-(x[:1000] * y[:1000]), random.normal(size=1000)])
        z[1500:] *= 2.0 ** random.integers(-60, 60, 500)
        z = z.astype(dtype)
        exact = [
            nearest(Fraction(a) * Fraction(b) + Fraction(c), dtype)
            for a, b, c in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
        ]
        np.testing.assert_array_equal(fma.evaluate(np, x, y, z), exact)


def nearest(number: Fraction, dtype: Any) -> Any:
    """The number of a type that is nearest to a fraction, of two the even one."""
    guess = dtype(float(number))
    around = [np.nextafter(guess, dtype(end)) for end in (-INF, INF)]
    candidates = [*around, guess]
    width = f"i{guess.dtype.itemsize}"
    return min(
        candidates,
        key=lambda each: (
            abs(Fraction(float(each)) - number),
            int(np.asarray(each).view(width)) % 2,
        ),
    )
