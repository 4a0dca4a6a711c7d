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
