"""Elements at computed places, beside NumPy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, integers, normals

from gingham import op


def test_taken_cells() -> None:
    x, i = integers(4, 5, 6), np.random.default_rng(0).integers(-4, 4, (2, 3))
    cases: Cases = {
        "axis": (lambda x, i: op.take(x, i, 1), np.take(x, i, 1)),
        "all": (lambda x, i: op.take(x, i), np.take(x, i)),
        "gather": (op.gather, np.take(x, i, 0)),
        "number": (lambda x, i: op.take(x, -1, 2), x[..., -1]),
        "embedding": (
            lambda x, i: op.embedding(abs(i), op.flatten(x, 1)),
            x.reshape(4, 30)[np.abs(i)],
        )
        if np.abs(i).max() < 4
        else (lambda x, i: x, x),
    }
    check(cases, x, i)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_along_an_axis(axis: int) -> None:
    torch: Any = pytest.importorskip("torch")
    x, u = integers(4, 5, 6), integers(3, 4, 5, seed=1)
    generator = np.random.default_rng(7)
    i = generator.integers(0, x.shape[axis], (3, 4, 5))
    every = np.argsort(generator.random(x.shape), axis)
    tx, ti, tu = map(torch.tensor, (x, i, u))

    def combined(reduction: str) -> Any:
        return torch.scatter_reduce(tx, axis, ti, tu, reduction).numpy()

    cases: Cases = {
        "take": (
            lambda x, i, u, every: op.take_along_axis(x, i, axis),
            torch.gather(tx, axis, ti).numpy(),
        ),
        "add": (
            lambda x, i, u, every: op.scatter_elements(x, i, u, axis, "add"),
            combined("sum"),
        ),
        "mul": (
            lambda x, i, u, every: op.scatter_elements(x, i, u, axis, "mul"),
            combined("prod"),
        ),
        "max": (
            lambda x, i, u, every: op.scatter_elements(x, i, u, axis, "max"),
            combined("amax"),
        ),
        "min": (
            lambda x, i, u, every: op.scatter_elements(x, i, u, axis, "min"),
            combined("amin"),
        ),
        "put": (
            lambda x, i, u, every: op.put_along_axis(x, every, x * 2, axis),
            torch.scatter(tx, axis, torch.tensor(every), tx * 2).numpy(),
        ),
        "number": (
            lambda x, i, u, every: op.put_along_axis(x, i, 3.5, axis),
            torch.scatter(tx, axis, ti, 3.5).numpy(),
        ),
    }
    check(cases, x, i, u, every)


def test_the_last_update_counts() -> None:
    x, i, u = np.zeros(3, np.float32), np.array([1, 1, -1]), integers(3)
    want = np.array([0, u[1], u[2]], np.float32)
    check({"put": (lambda x, i, u: op.scatter_elements(x, i, u), want)}, x, i, u)


def test_cells_at_several_positions() -> None:
    x, u = integers(4, 5, 6), integers(3, 6, seed=1)
    once, twice = (
        np.array([[0, -1], [3, 2], [-2, -5]]),
        np.array([[0, -1], [3, 2], [0, 4]]),
    )
    put, added, largest = x.copy(), x.copy(), x.copy()
    put[once[:, 0], once[:, 1]] = u
    np.add.at(added, (twice[:, 0], twice[:, 1]), u)
    np.maximum.at(largest, (twice[:, 0], twice[:, 1]), u)
    cases: Cases = {
        "gather": (lambda x, i, j, u: op.gather_nd(x, i), x[once[:, 0], once[:, 1]]),
        "elements": (
            lambda x, i, j, u: op.gather_nd(op.select_index(x, 0, 2), i),
            x[once[:, 0], once[:, 1], 0],
        ),
        "put": (lambda x, i, j, u: op.scatter_nd(x, i, u), put),
        "add": (lambda x, i, j, u: op.scatter_nd(x, j, u, "add"), added),
        "max": (lambda x, i, j, u: op.scatter_nd(x, j, u, "max"), largest),
    }
    check(cases, x, once, twice, u)


def test_batches_of_positions() -> None:
    x, i = integers(2, 3, 4), np.array([[[1], [0]], [[2], [-1]]])
    want = np.stack([x[0, [1, 0]], x[1, [2, -1]]])
    check({"nd": (lambda x, i: op.gather_nd(x, i, 1), want)}, x, i)


def test_added_cells() -> None:
    x, i, u = integers(4, 5, 6), np.array([1, 0, -4]), integers(4, 3, 6, seed=1)
    want = x.copy()
    for number, place in enumerate(i):
        want[:, place] += u[:, number]
    check({"add": (lambda x, i, u: op.index_add(x, 1, i, u), want)}, x, i, u)


def test_gradients() -> None:
    torch: Any = pytest.importorskip("torch")
    i = np.array([[1, 0, 2], [2, 2, 0]])
    j = torch.tensor(i)
    pairs: dict[str, tuple[Operation, Operation]] = {
        "take": (lambda x, u: op.take(x, i, 1), lambda x, u: x[:, j]),
        "along": (
            lambda x, u: op.take_along_axis(x, i, 0),
            lambda x, u: torch.gather(x, 0, j),
        ),
        "add": (
            lambda x, u: op.scatter_elements(x, i, u, 0, "add"),
            lambda x, u: torch.scatter_add(x, 0, j, u),
        ),
        "max": (
            lambda x, u: op.scatter_elements(x, i, u, 0, "max"),
            lambda x, u: torch.scatter_reduce(x, 0, j, u, "amax"),
        ),
    }
    check_slopes(pairs, normals(4, 3), normals(2, 3))
