"""Aggregations that the work-items of a group share, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham

Array = NDArray[Any]

SHAPES = [(1, 1), (5, 3), (300, 70), (1000, 1003), (7, 100_003), (100_003, 7)]
SUMS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "rows": ("S[i : M] = +(X[i, j]);", lambda x: x.sum(1)),
    "columns": ("S[j : N] = +(X[i, j]);", lambda x: x.sum(0)),
    "all": ("S[] = +(X[i, j]);", lambda x: x.sum()),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_integers_are_exact(name: str, shape: tuple[int, int]) -> None:
    text, expected = SUMS[name]
    x = np.random.default_rng(3).integers(-9, 9, shape).astype(np.float32)
    f = gingham.compile(
        f"function (X[M, N]) -> (S) {{ {text} }}", hardware="nvidia-h200"
    )
    np.testing.assert_array_equal(f(x), expected(x))


KINDS: dict[str, tuple[str, Callable[[Array], Array], Any]] = {
    "maxima of bytes": (">(X[i, j])", lambda x: x.max(1), np.int8),
    "minima of doubles": ("<(X[i, j])", lambda x: x.min(1), np.float64),
    "products": ("*(X[i, j])", lambda x: x.prod(1, dtype=np.int32), np.int32),
    "sums of squares": ("+(X[i, j] * X[i, j])", lambda x: (x * x).sum(1), np.float16),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_aggregations(name: str) -> None:
    text, expected, dtype = KINDS[name]
    x = np.random.default_rng(5).integers(-2, 3, (37, 131)).astype(dtype)
    x[x == 0] = 1
    f = gingham.compile(
        f"function (X[M, N]) -> (S) {{ S[i : M] = {text}; }}", hardware="nvidia-h200"
    )
    np.testing.assert_array_equal(f(x), expected(x))


def test_axes_around_each_other() -> None:
    x = np.random.default_rng(7).integers(-9, 9, (9, 50, 33)).astype(np.float32)
    f = gingham.compile(
        "function (X[L, M, N]) -> (A, B) { A[m : M] = +(X[l, m, n]);"
        " B[l, n : L, N] = +(X[l, m, n]); }",
        hardware="nvidia-h200",
    )
    outer, middle = f(x)
    np.testing.assert_array_equal(outer, x.sum((0, 2)))
    np.testing.assert_array_equal(middle, x.sum(1))


def test_cells_that_lie_apart() -> None:
    """What is between them is set, too, and nothing behind the last one."""
    x = np.random.default_rng(9).integers(-9, 9, (69, 513)).astype(np.float32)
    f = gingham.compile(
        "function (X[M, N]) -> (S) { S[2 * i : M] = +(X[2 * i, j]); }",
        hardware="nvidia-h200",
    )
    expected = x.sum(1)
    expected[1::2] = 0
    np.testing.assert_array_equal(f(x), expected)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def norm(x: Array) -> Array:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.5)


NESTS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "softmax": (
        "function (X[I, J]) -> (O) { M[i, 0 : I, 1] = >(X[i, j]); E = exp(X - M);"
        " N[i, 0 : I, 1] = +(E[i, j]); O = E / N; }",
        softmax,
    ),
    "norm": (
        "function (X[I, J]) -> (O) { A[i, 0 : I, 1] = +(X[i, j]); D = X - A / J;"
        " Q = D * D; B[i, 0 : I, 1] = +(Q[i, j]); O = D / sqrt(B / J + 0.5); }",
        norm,
    ),
    "argmax": (
        "function (X[I, J]) -> (A) { T[i, 0 : I, 1] = >(X[i, j]);"
        " At = (X == T ? index(X, 1) : J); A[i : I] = <(At[i, j]); }",
        lambda x: x.argmax(1),
    ),
    "softmax of columns": (
        "function (X[I, J]) -> (O) { M[0, j : 1, J] = >(X[i, j]); E = exp(X - M);"
        " N[0, j : 1, J] = +(E[i, j]); O = E / N; }",
        lambda x: softmax(x.T).T,
    ),
    "norm of columns": (
        "function (X[I, J]) -> (O) { A[0, j : 1, J] = +(X[i, j]); D = X - A / I;"
        " Q = D * D; B[0, j : 1, J] = +(Q[i, j]); O = D / sqrt(B / I + 0.5); }",
        lambda x: norm(x.T).T,
    ),
    "reversed": (
        "function (X[I, J]) -> (O) { E = exp(X); M[i, 0 : I, 1] = >(E[i, j]);"
        " D = E / M; O[i, J - 1 - j : I, J] = =(D[i, j]); }",
        lambda x: (np.exp(x) / np.exp(x).max(1, keepdims=True))[:, ::-1],
    ),
}
ROWS = [(64, 4096), (37, 5), (1003, 40), (2, 1), (11, 9001), (3, 70_001)]


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("name", NESTS)
def test_nests_over_rows(name: str, shape: tuple[int, int]) -> None:
    text, expected = NESTS[name]
    x = np.random.default_rng(9).standard_normal(shape).astype(np.float32)
    result = gingham.compile(text, hardware="nvidia-h200")(x)
    np.testing.assert_allclose(result, expected(x), rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("shape", [(3, 70_001), (70, 900)])
def test_what_a_nest_hands_on(shape: tuple[int, int]) -> None:
    """Cells of rows are found by each nest over parts of them, and stored by one."""
    x = np.random.default_rng(15).standard_normal(shape).astype(np.float32)
    text = (
        "function (X[I, J]) -> (M, L, O) { M[i, 0 : I, 1] = >(X[i, j]); E = exp(X - M);"
        " N[i, 0 : I, 1] = +(E[i, j]); L = log(N) + M; O = E / N; }"
    )
    top, logarithm, result = gingham.compile(text, hardware="nvidia-h200")(x)
    np.testing.assert_array_equal(top, x.max(1, keepdims=True))
    expected = np.log(np.exp(x.astype(float)).sum(1, keepdims=True))
    np.testing.assert_allclose(logarithm, expected, rtol=3e-6)
    np.testing.assert_allclose(result, softmax(x), rtol=3e-5, atol=3e-6)


@pytest.mark.parametrize(
    ("name", "shape", "kernels"),
    [
        # Few long rows: the maxima of parts, sums of parts, quotients.
        ("softmax", (3, 70_001), 3),
        # The first of the largest, which a last kernel stores.
        ("argmax", (3, 70_001), 3),
        # As many rows as no group divides.
        ("softmax", (100_003, 5), 1),
        ("softmax of columns", (1000, 2048), 1),
    ],
)
def test_how_many_kernels_a_nest_has(
    name: str, shape: tuple[int, int], kernels: int
) -> None:
    text, _ = NESTS[name]
    function = gingham.compile(text, hardware="nvidia-h200")
    ir = function.ir(np.empty(shape, np.float32), stage="opencl")
    assert ir.count("opencl.kernel ") == kernels


@pytest.mark.parametrize("shape", [(1, 100_003), (2, 8192), (300, 70), (5, 4161)])
def test_running_sums(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(11).integers(-3, 4, shape).astype(np.float32)
    f = gingham.compile(
        "function (X[M, N]) -> (A, B) { A[m, i : M, N] = +(X[m, k]), i - k < N;"
        " B[m, i : M, N] = +(X[m, k]), k - i < N; }",
        hardware="nvidia-h200",
    )
    forward, backward = f(x)
    np.testing.assert_array_equal(forward, np.cumsum(x, 1))
    np.testing.assert_array_equal(backward, np.cumsum(x[:, ::-1], 1)[:, ::-1])


SEVERAL_AXES = {
    "sums of few": "S[a, b : A, B] = +(X[a, b, c]); T[a, c : A, C] = >(X[a, b, c] *"
    " S[a, b]); O[a : A] = +(T[a, c]);",
    "another order": "E = X * X; S[a, c, b : A, C, B] = +(E[a, b, c]);"
    " T[a : A] = >(E[a, b, c]); O[a, c : A, C] = +(S[a, c, b] * T[a]);",
    "both axes": "S[a, b, 0 : A, B, 1] = +(X[a, b, c]); Y = X - S;"
    " O[a, c : A, C] = +(Y[a, b, c]);",
}


@pytest.mark.parametrize("shape", [(2, 700, 3), (3, 128, 64), (40, 33, 17)])
@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_nests_with_several_axes(name: str, shape: tuple[int, ...]) -> None:
    text = f"function (X[A, B, C]) -> (O) {{ {SEVERAL_AXES[name]} }}"
    x = np.random.default_rng(13).integers(-2, 3, shape).astype(np.float32)
    result = gingham.compile(text, hardware="nvidia-h200")(x)
    np.testing.assert_array_equal(result, gingham.compile(text)(x))
