"""Sorting and the first of sorted elements, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import (
    Cases,
    Operation,
    check,
    check_slopes,
    integers,
    normals,
    run,
)

from gingham import op


def test_sorted_elements() -> None:
    x = integers(3, 7, 4)
    order = np.argsort(x, 1, kind="stable")
    down = np.argsort(-x, 1, kind="stable")
    cases: Cases = {
        "argsort": (lambda x: op.argsort(x, 1), order),
        "descending": (lambda x: op.argsort(x, -2, True), down),
        "sort": (lambda x: op.sort(x), np.sort(x)),
        "both": (
            lambda x: op.sort_with_indices(x, 1, True),
            [np.take_along_axis(x, down, 1), down],
        ),
        "topk": (
            lambda x: op.topk(x, 3, 1),
            [np.take_along_axis(x, down, 1)[:, :3], down[:, :3]],
        ),
        "least": (
            lambda x: op.topk(x, 2, 1, largest=False),
            [np.sort(x, 1)[:, :2], order[:, :2]],
        ),
    }
    check(cases, x)


def test_gradients() -> None:
    torch: Any = pytest.importorskip("torch")
    pairs: dict[str, tuple[Operation, Operation]] = {
        "sort": (lambda x: op.sort(x, 0), lambda x: torch.sort(x, 0)[0]),
        "topk": (lambda x: op.topk(x, 3)[0], lambda x: torch.topk(x, 3)[0]),
    }
    check_slopes(pairs, normals(4, 6))


STATE = np.random.default_rng(0).integers(1 << 20, 1 << 32, (3, 64)).astype(np.uint32)


def test_uniform_numbers() -> None:
    numbers, state = run(lambda s: op.random_uniform(s, (200, 100), -1.0, 3.0), STATE)
    assert numbers.shape == (200, 100)
    assert numbers.min() >= -1
    assert numbers.max() <= 3
    assert abs(numbers.mean() - 1) < 0.03
    assert abs(numbers.std() - 4 / 12**0.5) < 0.03
    again, _ = run(lambda s: op.random_uniform(s, (200, 100), -1.0, 3.0), state)
    assert not np.array_equal(numbers, again)


def test_normal_numbers() -> None:
    numbers, _ = run(lambda s: op.random_normal(s, 20000, 2.0, 3.0), STATE)
    standard = (np.asarray(numbers) - 2) / 3
    assert abs(standard.mean()) < 0.03
    assert abs(standard.std() - 1) < 0.03
    assert abs((np.abs(standard) < 1).mean() - 0.6827) < 0.02


def test_integers_and_choices() -> None:
    numbers, _ = run(lambda s: op.random_integers(s, -2, 3, 10000), STATE)
    counts = np.bincount(np.asarray(numbers) + 2)
    assert len(counts) == 5
    assert np.all(np.abs(counts - 2000) < 200)
    ones, _ = run(lambda s: op.bernoulli(s, 0.25, 10000), STATE)
    assert np.unique(np.asarray(ones)).tolist() == [0, 1]
    assert abs(np.asarray(ones).mean() - 0.25) < 0.02


def test_dropout() -> None:
    x = np.ones((100, 100), np.float32)
    kept, _ = run(lambda x, s: op.dropout(x, s, 0.2), x, STATE)
    assert np.unique(np.asarray(kept)).tolist() == [0, 1.25]
    assert abs(np.asarray(kept).mean() - 1) < 0.03
    none, _ = run(lambda x, s: op.dropout(x, s, 1.0), x, STATE)
    assert not np.asarray(none).any()
