"""Running aggregations: what they compute on devices, and in how much work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from stripe_programs import random_input, run, written_in
from xdsl.dialects.func import FuncOp

import gingham
from gingham.targets.reference import interpret

Array = NDArray[Any]

PROGRAMS = written_in("decide/stripe-scan.mlir")


@pytest.mark.parametrize(
    "options",
    [
        "",
        "{parallelism=3 chains=2 shortest=5}",
        "{parallelism=99 chains=1 lanes=1 shortest=2 longest=3}",
        "{items=4 longest=1}",
        "{items=2 longest=99 parallelism=4 memory=64}",
    ],
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_scans_keep_the_meaning(name: str, options: str) -> None:
    module = PROGRAMS[name].clone()
    run(module, f"stripe-scan{options}")
    module.verify()
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    random = np.random.default_rng(len(name))
    inputs = [random_input(type, random) for type in function.function_type.inputs]
    before = interpret(PROGRAMS[name], inputs, name)
    after = interpret(module, inputs, name)
    for expected, result in zip(before, after, strict=True):
        np.testing.assert_array_equal(result, expected)


def reversed_sums(x: Array) -> Array:
    return np.cumsum(x[:, ::-1], axis=1)[:, ::-1]


def exclusive_maxima(x: Array) -> Array:
    return np.concatenate([np.zeros(1, x.dtype), np.maximum.accumulate(x)[:-1]])


CASES: dict[str, tuple[str, tuple[int, ...], Callable[[Array], Array]]] = {
    "sums": (
        "function (I[N]) -> (O) { O[i : N] = +(I[k]), i - k < N; }",
        (5003,),
        np.cumsum,
    ),
    "exclusive maxima": (
        "function (I[N]) -> (O) { O[i : N] = >(I[k]), i - k - 1 < N; }",
        (5000,),
        exclusive_maxima,
    ),
    "from the end": (
        "function (I[M, N]) -> (O) { O[m, i : M, N] = +(I[m, k]), k - i < N; }",
        (70, 300),
        reversed_sums,
    ),
    "by the distance": (
        "function (I[M, N]) -> (O) { O[m, i : M, N] = +(I[m, i - j]), j < N; }",
        (70, 300),
        lambda x: np.cumsum(x, axis=1),
    ),
    "into a row from its end": (
        "function (I[N]) -> (O) { O[N - 1 - i : N] = +(I[k]), i - k < N; }",
        (5003,),
        lambda x: np.cumsum(x)[::-1],
    ),
    "from the end, into a row from its end": (
        "function (I[M, N]) -> (O) { O[m, N - 1 - i : M, N] = +(I[m, k]), k - i < N; }",
        (70, 300),
        lambda x: np.cumsum(x[:, ::-1], axis=1),
    ),
    "columns": (
        "function (I[N, M]) -> (O) { O[i, m : N, M] = +(I[k, m]), i - k < N; }",
        (1001, 77),
        lambda x: np.cumsum(x, axis=0),
    ),
    "an axis between others": (
        "function (I[L, N, M]) -> (O)"
        " { O[m, i, l : M, N, L] = <(I[l, k, m]), i - k < N; }",
        (33, 301, 7),
        lambda x: np.minimum.accumulate(x, axis=1).transpose(2, 1, 0),
    ),
    "of sums of squares": (
        "function (I[N, M]) -> (O) { O[i : N] = +(I[k, m] * I[k, m]), i - k < N; }",
        (1001, 77),
        lambda x: np.cumsum((x * x).sum(1)),
    ),
}


@pytest.mark.parametrize("hardware", [None, "nvidia-h200"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("name", CASES)
def test_scans_on_the_device(
    name: str, dtype: type[np.generic], hardware: str | None
) -> None:
    program, shape, expected = CASES[name]
    values: Array = np.random.default_rng(7).integers(-3, 4, shape).astype(dtype)
    function = gingham.compile(program, hardware=hardware)
    np.testing.assert_array_equal(np.asarray(function(values)), expected(values))
    assert "serial" in function.ir(values, stage="stripe")


def test_the_same_bits_for_the_same_input() -> None:
    program, *_ = CASES["sums"]
    values = np.random.default_rng(1).standard_normal(100_000, dtype=np.float32)
    function = gingham.compile(program)
    first = np.array(function(values))
    np.testing.assert_array_equal(first, np.asarray(function(values)))
    np.testing.assert_allclose(first, np.cumsum(values, dtype=np.float64), atol=1e-2)
