"""Functions that are made of others, where single steps of them could overflow."""

from __future__ import annotations

import numpy as np
import pytest

import gingham

_LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("device", [None, "reference"])
def test_log_softmax_of_extreme_rows(device: str | None) -> None:
    """It is infinite only where the exact value is beyond the type; so is no slope."""
    rows = np.array(
        [
            [0, -_LARGEST, 1, 2],
            [-_LARGEST] * 4,
            [_LARGEST, _LARGEST, 0, -1],
            [-_LARGEST, 1e30, 1, 0],
            [1e38, -2.4e38, 0, 0],
            [_LARGEST, -_LARGEST, 0, 1],
            [88, -88, 1000, -1000],
            [-np.inf, 0, 1, 2],
        ],
        np.float32,
    )
    weights = np.zeros_like(rows)
    weights[:, 0] = 1
    text = """function (X[M, N], W[M, N]) -> (L, G) {
      L = builtin_logsoftmax(X, M, N);
      P = L * W; S[] = +(P[m, n]); G = gradient(S, X); }"""
    logarithm, slope = gingham.compile(text, device=device)(rows, weights)
    exact = rows.astype(np.float64)
    exact -= exact.max(1, keepdims=True)
    powers = np.exp(exact)
    total = np.sum(powers, axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        expected = (exact - np.log(total)).astype(np.float32)
    assert list(expected.flat).count(-np.inf) == 2
    np.testing.assert_allclose(logarithm, expected, rtol=1e-6)
    np.testing.assert_allclose(slope, weights - powers / total, atol=1e-6)
