"""Programs on some cells: values as the interpreter has them, and how sure they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from typing import Any

import hypothesis
import numpy as np
import pytest
from gradients import Array
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from placed_programs import flat
from random_programs import Program, programs
from training_steps import training_step
from xdsl.dialects.builtin import ModuleOp

from gingham.errors import GinghamError
from gingham.targets.reference import interpret
from gingham.targets.reference.sampled import (
    Estimate,
    Grid,
    expected,
    sample,
    slice_of,
)

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "60"))
NAMES = {"float32": "f32", "int32": "si32", "float16": "f16", "uint32": "ui32"}


def module_of(text: str, arrays: Sequence[Array]) -> ModuleOp:
    """The flattened program."""
    types = ["x".join([*map(str, a.shape), NAMES[a.dtype.name]]) for a in arrays]
    return flat(text, *types)


def cells(array: Array, grid: Grid) -> Array:
    return array[np.ix_(*grid.axes)] if grid.axes else array


def estimates(
    module: ModuleOp, arrays: Sequence[Array], results: Sequence[Array], count: int
) -> list[tuple[Grid, Estimate]]:
    """A sample of each result that has cells, with its grid."""
    grids = {
        number: sample(result.shape, count, number)
        for number, result in enumerate(results)
        if result.size
    }
    found = expected(slice_of(module, grids), arrays)
    return [(grids[number], found[number]) for number in grids]


def assert_close(
    module: ModuleOp, arrays: Sequence[Array], count: int, errors: float = 4
) -> None:
    """Estimates are what the interpreter gives, up to what they say themselves."""
    results = interpret(module, arrays)
    full = [result for result in results if result.size]
    pairs = zip(estimates(module, arrays, results, count), full, strict=True)
    for (grid, estimate), result in pairs:
        got = cells(result, grid)
        assert got.shape == estimate.values.shape
        if got.dtype.kind != "f":
            assert got.dtype == estimate.values.dtype
        one, other = got.astype(np.float64), estimate.values.astype(np.float64)
        with np.errstate(all="ignore"):
            distance = np.abs(one - other)
        close = (one == other) | (np.isnan(one) & np.isnan(other))
        close |= distance <= errors * estimate.bounds
        assert close.all()


@hypothesis.settings(
    max_examples=EXAMPLES,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
@given(programs(), st.sampled_from([1, 7, 64, 2000]))
def test_random_programs_exactly(program: Program, count: int) -> None:
    """Contractions of all kinds, types, special functions: in small integers."""
    arrays = [tensor.array() for tensor in program.inputs.values()]
    types = ["x".join([*map(str, x.shape), x.type]) for x in program.inputs.values()]
    if program.collides:
        return
    try:
        module = flat(program.text, *types)
    except GinghamError:
        hypothesis.reject()
    types = [x.type[0] for x in program.inputs.values()]
    is_whole = not {"f", "b"} & {*types} and "as_float" not in program.text
    wanted = [program.tensors[name].array() for name in program.outputs]
    full = [array for array in wanted if array.size]
    pairs = zip(estimates(module, arrays, wanted, count), full, strict=True)
    for (grid, estimate), array in pairs:
        known = ~np.isinf(np.broadcast_to(estimate.bounds, estimate.values.shape))
        right = cells(array, grid).astype(np.float64)
        got = estimate.values.astype(np.float64)
        np.testing.assert_array_equal(got[known], right[known])
        if is_whole:
            assert known.all()


@pytest.mark.parametrize("number", range(12))
def test_steps_of_training(number: int) -> None:
    """Sums of products with gradients, narrow and wide."""
    step = training_step(f"sampled/{number}")
    arrays = [*step.inputs.values()]
    assert_close(module_of(step.text, arrays), arrays, 64)


INDICES = np.array([[0, 3, 8, 4], [9, -1, 2, 2]], np.int32)
ROWS = np.random.default_rng(0).normal(size=(9, 4, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        ("function (V, I) -> (R) { R = gather(V, I); }", [ROWS, INDICES]),
        ("function (V, I) -> (R) { R = gather(V * V, I, axis=1); }", [ROWS, INDICES]),
        (
            "function (V, I) -> (R) { R = gather(V, I, axis=1, out_of_bounds=zero); }",
            [ROWS, INDICES],
        ),
        (
            "function (V, I) -> (R) { R = gather(V, I, mode=nd); }",
            [ROWS, np.array([[[0, 1], [8, 9]], [[3, 3], [-4, 2]]], np.int32)],
        ),
        (
            "function (V, X) -> (R) { R = gather(V, X, interpolation=linear); }",
            [ROWS, np.array([0.5, 7.2, 8.9], np.float32)],
        ),
        (
            "function (U, I, B) -> (R) { R = scatter(U + 0.1, I, B); }",
            [np.resize(ROWS, (2, 4, 4, 5)), INDICES, ROWS],
        ),
        (
            "function (U, I, B) -> (R) "
            "{ R = scatter(U, I, B * 1.5, axis=1, mode=update_slice); }",
            [np.resize(ROWS, (9, 3, 5)), np.array([3, 0, 3], np.int32), ROWS],
        ),
        (
            "function (U, I, B) -> (R) "
            "{ R = scatter(U, I, B, axis=0, mode=update_elt, out_of_bounds=zero); }",
            [np.resize(ROWS, (2, 3, 5)), np.resize(INDICES, (2, 3, 5)), ROWS],
        ),
        (
            "function (U, I, B) -> (R) { R = scatter(U, I, B, mode=update_nd); }",
            [
                np.resize(ROWS, (3, 5)),
                np.array([[0, 1], [8, 3], [0, 1]], np.int32),
                ROWS,
            ],
        ),
        ("function (V) -> (R) { R = argsort(V, 1, order=descending); }", [ROWS]),
        ("function (V) -> (R) { R = index(V, 2) + shape(V); }", [ROWS[..., :3]]),
        (
            "function (S) -> (R, T) "
            "{ P = prng_step(S, 7, 5); R = prng_value(P); T = prng_state(P); }",
            [np.arange(1, 31, dtype=np.uint32).reshape(3, 10) * 7919],
        ),
        ("function (V) -> (R) { R = reshape(V, 6, 30) * 2; }", [ROWS]),
        (
            "function (X[N, M]) -> (R) { R[2*i + 1, j : 2*N, M] = +(X[i, j]); }",
            [ROWS[0]],
        ),
        (
            "function (X[N, M]) -> (R) { R[i : N] = *(X[i, j]), j < 3; }",
            [ROWS[0]],
        ),
    ],
)
@pytest.mark.parametrize("count", [1, 6, 1000])
def test_special_operations(text: str, arrays: list[Any], count: int) -> None:
    assert_close(module_of(text, arrays), arrays, count)


def test_a_few_cells_of_a_large_product_cost_little() -> None:
    module = flat(
        "function (A[M, K], B[K, N]) -> (D) "
        "{ C[i, j : M, N] = +(A[i, k] * B[k, j]); D = relu(C); }",
        "4096x4096xf32",
        "4096x4096xf32",
    )
    grid = sample((4096, 4096), 64, 0)
    assert 50 <= grid.count <= 64
    assert slice_of(module, {0: grid}).cost < 500_000


def test_errors_grow_with_sums_and_cancellation() -> None:
    text = "function (A[N]) -> (S, D) { S[] = +(A[i]); D = exp(S) - exp(S * 1.0001); }"
    (_, few), _ = estimated(text, np.full(10, 0.1, np.float32))
    (_, many), (_, difference) = estimated(text, np.full(1000, 0.001, np.float32))
    assert 0 < few.bounds < many.bounds < 1e-3
    # The difference of two numbers near e loses four digits.
    assert difference.bounds > 1e3 * 2.0**-24


def test_what_rounding_may_change_is_not_known() -> None:
    text = """function (A[N]) -> (F, E, O, M) {
      S[] = +(A[i]);
      F = as_int(S * 10.0, 32); E = S == 1.0; O = argsort(A * S - S, 0); M = A < S; }"""
    array = np.array([0.1] * 10 + [0.100000001], np.float32)[:10]
    whole, _, order, less = estimated(text, array)
    assert np.isinf(whole[1].bounds)
    assert np.isinf(order[1].bounds).any()
    assert not less[1].bounds.any()


def estimated(text: str, array: Array) -> list[tuple[Grid, Estimate]]:
    module = module_of(text, [array])
    return estimates(module, [array], interpret(module, [array]), 1000)


@given(st.lists(st.integers(1, 40), max_size=4), st.integers(1, 100))
def test_samples(shape: list[int], count: int) -> None:
    grid = sample(shape, count, 1)
    assert 1 <= grid.count <= count
    for axis, size in zip(grid.axes, shape, strict=True):
        assert (np.diff(axis) > 0).all()
        assert axis[0] >= 0
        assert axis[-1] < size
        if len(axis) > 1:
            assert (axis[0], axis[-1]) == (0, size - 1)
    if prod(shape) <= count:
        assert grid.count == prod(shape)
