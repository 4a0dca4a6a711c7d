"""Reductions, accumulations and places of extremes, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, check, integers, normals

from gingham import op


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (-2,)])
def test_reductions(axis: Any, keepdims: bool) -> None:
    x = integers(3, 4, 5)
    cases: Cases = {
        "sum": (lambda x: op.sum(x, axis, keepdims), x.sum(axis, keepdims=keepdims)),
        "max": (lambda x: op.max(x, axis, keepdims), x.max(axis, keepdims=keepdims)),
        "min": (lambda x: op.min(x, axis, keepdims), x.min(axis, keepdims=keepdims)),
        "mean": (lambda x: op.mean(x, axis, keepdims), x.mean(axis, keepdims=keepdims)),
        "var": (
            lambda x: op.var(x, axis, 1, keepdims),
            x.var(axis, ddof=1, keepdims=keepdims),
        ),
        "std": (
            lambda x: op.std(x, axis, keepdims=keepdims),
            x.std(axis, keepdims=keepdims),
        ),
        "any": (lambda x: op.any(x, axis, keepdims), x.any(axis, keepdims=keepdims)),
        "all": (lambda x: op.all(x, axis, keepdims), x.all(axis, keepdims=keepdims)),
        "count": (
            lambda x: op.count_nonzero(x, axis, keepdims),
            np.count_nonzero(x, axis, keepdims=keepdims),
        ),
        "l1": (
            lambda x: op.l1_norm(x, axis, keepdims),
            np.abs(x).sum(axis, keepdims=keepdims),
        ),
        "l2": (
            lambda x: op.norm(x, 2, axis, keepdims),
            np.sqrt((x * x).sum(axis, keepdims=keepdims)),
        ),
        "norm": (
            lambda x: op.norm(x, 3, axis, keepdims),
            (np.abs(x) ** 3).sum(axis, keepdims=keepdims) ** np.float32(1 / 3),
        ),
        "greatest": (
            lambda x: op.norm(x, float("inf"), axis, keepdims),
            np.abs(x).max(axis, keepdims=keepdims),
        ),
        "logsumexp": (
            lambda x: op.logsumexp(x * 20.0, axis, keepdims),
            np.log(np.exp(x.astype("f8") * 20).sum(axis, keepdims=keepdims)).astype(
                "f4"
            ),
        ),
    }
    check(cases, x, tolerance=2e-6)


def test_products() -> None:
    x = normals(3, 4, 5)
    cases: Cases = {
        "prod": (lambda x: op.prod(x, (0, 1)), x.prod((0, 1))),
        "all": (op.prod, x.prod()),
    }
    check(cases, x, tolerance=1e-6)


def test_integers_and_truth_values() -> None:
    x = integers(4, 5, dtype="int32")
    cases: Cases = {
        "sum": (lambda x: op.sum(x, 0), x.sum(0)),
        "mean": (lambda x: op.mean(x, 1), x.mean(1).astype("f4")),
        "max": (op.max, x.max()),
        "count": (lambda x: op.sum(x > 0), (x > 0).sum()),
        "argmin": (lambda x: op.argmin(x, 1), x.argmin(1)),
    }
    check(cases, x, tolerance=1e-6)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_places_of_extremes(axis: int | None) -> None:
    x = np.random.default_rng(3).integers(0, 3, (3, 4, 5)).astype(np.float32)
    x[1, 2] = -7
    y = np.flip(x, axis)
    kept = x.max(axis, keepdims=True).shape
    last = (x.size if axis is None else x.shape[axis]) - 1
    with_nan = x.copy()
    with_nan[0, 1, 2] = np.nan
    cases: Cases = {
        "max": (lambda x, y: op.argmax(x, axis), x.argmax(axis)),
        "min": (lambda x, y: op.argmin(x, axis), x.argmin(axis)),
        "kept": (
            lambda x, y: op.argmax(x, axis, keepdims=True),
            x.argmax(axis).reshape(kept),
        ),
        "last": (
            lambda x, y: op.argmax(x, axis, select_last_index=True),
            last - y.argmax(axis),
        ),
        "last of min": (
            lambda x, y: op.argmin(x, axis, select_last_index=True),
            last - y.argmin(axis),
        ),
        "nan": (lambda x, y: op.argmax(y, axis), with_nan.argmax(axis)),
    }
    check(cases, x, with_nan)


def test_infinite_elements() -> None:
    x = np.array([[-np.inf, -np.inf], [np.inf, 0], [-np.inf, 2]], np.float32)
    cases: Cases = {
        "logsumexp": (
            lambda x: op.logsumexp(x, 1),
            np.array([-np.inf, np.inf, 2], np.float32),
        )
    }
    check(cases, x)


@pytest.mark.parametrize("size", [1, 33, 150])
def test_sums_up_to_each(size: int) -> None:
    x = integers(2, size, 3)
    cases: Cases = {
        "cumsum": (lambda x: op.cumsum(x, 1), x.cumsum(1)),
        "exclusive": (
            lambda x: op.cumsum(x, -2, exclusive=True),
            x.cumsum(1) - x,
        ),
        "reverse": (
            lambda x: op.cumsum(x, 1, reverse=True),
            np.flip(np.flip(x, 1).cumsum(1), 1),
        ),
        "both": (
            lambda x: op.cumsum(x, 1, True, True),
            np.flip(np.flip(x, 1).cumsum(1), 1) - x,
        ),
    }
    check(cases, x)


@pytest.mark.parametrize("size", [5, 90])
def test_products_up_to_each(size: int) -> None:
    x = np.random.default_rng(size).uniform(0.9, 1.1, (2, size)).astype(np.float32)
    cases: Cases = {
        "cumprod": (lambda x: op.cumprod(x, 1), x.cumprod(1)),
        "exclusive": (
            lambda x: op.cumprod(x, 1, exclusive=True),
            np.concatenate([np.ones_like(x[:, :1]), x.cumprod(1)[:, :-1]], 1),
        ),
    }
    check(cases, x, tolerance=1e-6)
