"""Tensors made of sizes, and elements chosen by conditions."""

from __future__ import annotations

import numpy as np
from operation_checks import check, integers

from gingham import op


def test_numbers_and_diagonals() -> None:
    x = integers(3, 4)
    check(
        {
            "full": (lambda x: op.full((2, 3), 1.5), np.full((2, 3), 1.5, "f4")),
            "integer": (lambda x: op.full(4, 3), np.full(4, 3)),
            "like": (lambda x: op.full_like(x, True), np.full_like(x, True, bool)),
            "zeros": (lambda x: op.zeros((2, 1), "int8"), np.zeros((2, 1), "i1")),
            "ones": (op.ones_like, np.ones_like(x)),
            "arange": (lambda x: op.arange(3, 10, 2), np.arange(3, 10, 2)),
            "down": (lambda x: op.arange(9, -1, -3), np.arange(9, -1, -3)),
            "floats": (
                lambda x: op.arange(0.0, 1.0, 0.25),
                np.arange(0, 1, 0.25, dtype="f4"),
            ),
            "size": (lambda x: op.arange(x.shape[1]), np.arange(4)),
            "typed": (
                lambda x: op.arange(3, dtype="float32"),
                np.arange(3.0, dtype="f4"),
            ),
            "eye": (lambda x: op.eye(3, 5, 1), np.eye(3, 5, 1, dtype="f4")),
            "tril": (lambda x: op.tril(x, 1), np.tril(x, 1)),
            "triu": (lambda x: op.triu(x, -1), np.triu(x, -1)),
        },
        x,
    )


def test_one_hot() -> None:
    positions = np.array([[0, -1], [2, 7]])
    code = np.eye(8, dtype="f4")[np.where(positions < 0, 3, positions)][..., :4]
    check(
        {
            "last": (lambda i: op.one_hot(i, 4), code),
            "first": (lambda i: op.one_hot(i, 4, axis=0), np.moveaxis(code, -1, 0)),
            "values": (lambda i: op.one_hot(i, 4, 5, -5), (code * 10 - 5).astype("i4")),
        },
        positions,
    )


def test_choice() -> None:
    x, y = integers(3, 4), np.abs(integers(4, seed=1))
    check(
        {
            "where": (lambda x, y: op.where(x > y, x, y), np.where(x > y, x, y)),
            "fill": (
                lambda x, y: op.masked_fill(x, y > 3, -7.5),
                np.where(y > 3, np.float32(-7.5), x),
            ),
            "maximum": (
                lambda x, y: op.maximum(x, y, 2),
                np.maximum(np.maximum(x, y), 2),
            ),
            "minimum": (op.minimum, np.minimum(x, y)),
            "clip": (lambda x, y: op.clip(x, -2, y), np.clip(x, -2, y)),
            "below": (lambda x, y: op.clip(x, max=1), np.minimum(x, 1)),
            "above": (lambda x, y: op.clip(x, 1), np.maximum(x, 1)),
        },
        x,
        y,
    )
