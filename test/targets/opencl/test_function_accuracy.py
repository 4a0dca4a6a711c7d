"""How exact the functions are that a runtime computes: on all exponents of f32.

Against the table's meaning of them in f64, by the bounds that `docs/language.md` has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.dialects.eltwise.float_functions import FLOAT_FUNCTIONS
from gingham.dialects.eltwise.function import TypeRule

Array = NDArray[Any]

BOUNDS = {
    name: bound
    for bound, names in {
        0: "logb copysign remainder fdim fmax fmin step fma smoothstep mix",
        1: "ldexp",
        2: "rsqrt cbrt degrees radians",
        3: "exp2 exp10 expm1 log2 log10 log1p",
        4: "sinpi cospi hypot",
        5: "asinpi acospi atanpi",
        6: "tanpi atan2 atan2pi",
        16: "erfc",
    }.items()
    for name in names.split()
}
"""How many ulp the result may differ from the exact one, which is rounded to f32."""

FUNCTIONS = [f for f in FLOAT_FUNCTIONS if f.rule is not TypeRule.TEST]


def samples() -> tuple[Array, Array, Array]:
    """Numbers of all exponents and both signs, and many that are near 1."""
    random = np.random.default_rng(3)
    mantissas = np.concatenate([random.integers(0, 2**23, 29), [0, 1, 2**23 - 1]])
    bits = (np.arange(512)[:, None] << 23 | mantissas).reshape(-1).astype(np.uint32)
    near = random.normal(0, 2, 2**14).astype(np.float32)
    x = np.concatenate([bits.view(np.float32), near])
    return x, random.permutation(x), np.concatenate([x[len(near) :], near])


def steps(a: Array, b: Array) -> Array:
    """How many numbers of f32 lie between; 0 for two NaN, many for one."""
    ordered = [array.view(np.int32).astype(np.int64) for array in (a, b)]
    first, second = (np.where(bits < 0, -(2**31) - bits, bits) for bits in ordered)
    apart = np.abs(first - second)
    is_nan = np.isnan(a), np.isnan(b)
    return np.where(is_nan[0] | is_nan[1], (is_nan[0] != is_nan[1]) * 2**32, apart)


@pytest.mark.parametrize(
    "device", ["reference", *(d.name for d in gingham.devices() if not d.is_reference)]
)
def test_errors_stay_below_their_bounds(device: str) -> None:
    arrays = samples()
    results = [f"R{number}" for number in range(len(FUNCTIONS))]
    calls = [
        f"{result} = {f.name}({', '.join('XYZ'[: f.arity])});"
        for result, f in zip(results, FUNCTIONS, strict=True)
    ]
    inputs = "X[N], Y[N], Z[N]"
    text = f"function ({inputs}) -> ({', '.join(results)}) {{ {' '.join(calls)} }}"
    found = gingham.compile(text, device=device)(*arrays)
    with np.errstate(invalid="ignore"):
        wide = [array.astype(np.float64) for array in arrays]
    for function, result in zip(FUNCTIONS, found, strict=True):
        # What is rounded correctly, or several times, has its meaning in f32.
        exact_in = arrays if BOUNDS[function.name] == 0 else wide
        with np.errstate(all="ignore"):
            exact = function.evaluate(np, *exact_in[: function.arity])
            apart = steps(result, np.asarray(exact).astype(np.float32))
        worst = int(np.argmax(apart))
        operands = [array[worst] for array in arrays[: function.arity]]
        assert apart[worst] <= BOUNDS[function.name], (function.name, operands)
