"""Products with rows that are less than a vector: padded where that is faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham

Array = NDArray[Any]

PRODUCT = (
    "function (A[M, L], B[L, N]) -> (C) { C[i, j : M, N] = %s(A[i, k] * B[k, j]); }"
)


def products(a: Array, b: Array) -> Array:
    return a @ b


def largest(a: Array, b: Array) -> Array:
    return (a[:, :, None] * b[None, :, :]).max(1)


def in_wider_rows(a: Array, b: Array) -> Array:
    return np.pad(a @ b, ((0, 0), (0, 4)))


CASES: dict[str, tuple[str, list[tuple[int, ...]], Callable[..., Array], str]] = {
    "three": (PRODUCT % "+", [(1000, 300), (300, 3)], products, "pad [0, 4, 0]"),
    "five": (PRODUCT % "+", [(1001, 300), (300, 5)], products, "pad [0, 8, 0]"),
    "twelve": (PRODUCT % "+", [(1000, 300), (300, 12)], products, "pad [0, 16, 0]"),
    "maxima": (PRODUCT % ">", [(1000, 100), (100, 3)], largest, "pad [0, 4, 0]"),
    "a part of each row": (
        "function (A[M, L], B[L, N]) -> (C)"
        " { C[i, j : M, N + 4] = +(A[i, k] * B[k, j]); }",
        [(1000, 300), (300, 3)],
        in_wider_rows,
        "",
    ),
    "four": (PRODUCT % "+", [(1000, 300), (300, 4)], products, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_are_rounded_up(name: str) -> None:
    program, shapes, expected, pad = CASES[name]
    random = np.random.default_rng(5)
    inputs: list[Array] = [
        random.integers(-3, 4, shape).astype(np.float32) for shape in shapes
    ]
    function = gingham.compile(program, hardware="cpu-avx512", tuned=False)
    decisions = str(function.explain(*inputs))
    assert (pad in decisions) if pad else ("pad [" not in decisions)
    np.testing.assert_array_equal(function(*inputs), expected(*inputs))


def test_integers_are_not_padded() -> None:
    """What lies beyond would overflow, or divide by zero."""
    random = np.random.default_rng(5)
    a, b = (random.integers(-3, 4, s).astype(np.int32) for s in ((1000, 300), (300, 3)))
    function = gingham.compile(PRODUCT % "+", hardware="cpu-avx512", tuned=False)
    assert "pad [" not in str(function.explain(a, b))
    np.testing.assert_array_equal(function(a, b), a @ b)
