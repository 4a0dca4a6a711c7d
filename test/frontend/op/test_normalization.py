"""Normalization, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


def test_norms() -> None:
    x, w, b = normals(2, 6, 5, 4), normals(6), normals(6, seed=1)
    pairs: dict[str, tuple[Operation, Operation]] = {
        "layer": (
            lambda x, w, b: op.layer_norm(x),
            lambda x, w, b: F.layer_norm(x, (4,)),
        ),
        "scaled layer": (
            lambda x, w, b: op.layer_norm(op.moveaxis(x, 1, -1), w, b, epsilon=1e-3),
            lambda x, w, b: F.layer_norm(x.movedim(1, -1), (6,), w, b, 1e-3),
        ),
        "layer of two axes": (
            lambda x, w, b: op.layer_norm(x, axis=-2),
            lambda x, w, b: F.layer_norm(x, (5, 4)),
        ),
        "rms": (
            lambda x, w, b: op.rms_norm(op.moveaxis(x, 1, -1), w),
            lambda x, w, b: F.rms_norm(x.movedim(1, -1), (6,), w, 1e-5),
        ),
        "batch": (
            lambda x, w, b: op.batch_norm(x, b, b * b, w, b),
            lambda x, w, b: F.batch_norm(x, b, b * b, w, b),
        ),
        "batch in training": (
            lambda x, w, b: op.batch_norm_training(x, w, b)[0],
            lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        ),
        "instance": (
            lambda x, w, b: op.instance_norm(x, w, b),
            lambda x, w, b: F.instance_norm(x, None, None, w, b),
        ),
        "group": (
            lambda x, w, b: op.group_norm(x, 3, w, b),
            lambda x, w, b: F.group_norm(x, 3, w, b),
        ),
        "normalize": (
            lambda x, w, b: op.normalize(x, 3.0, 2),
            lambda x, w, b: F.normalize(x, 3.0, 2),
        ),
        "lrn": (
            lambda x, w, b: op.local_response_norm(x, 3, 0.1, bias=2.0),
            lambda x, w, b: F.local_response_norm(x, 3, 0.1, k=2.0),
        ),
    }
    cases: Cases = {
        name: (operation, _value(reference, x, w, b))
        for name, (operation, reference) in pairs.items()
    }
    check(cases, x, w, b, tolerance=1e-5)
    # torch keeps the statistics of a batch out of gradients, which here are arguments.
    del pairs["batch"]
    check_slopes(pairs, x, w, b, tolerance=1e-4)


def _value(reference: Any, *arrays: Any) -> Any:
    return reference(*map(torch.tensor, arrays)).numpy()


def test_statistics_of_a_batch() -> None:
    x = normals(4, 3, 5)
    cases: Cases = {
        "mean": (lambda x: op.batch_norm_training(x)[1], x.mean((0, 2))),
        "variance": (lambda x: op.batch_norm_training(x)[2], x.var((0, 2))),
        "mvn": (
            lambda x: op.mean_variance_normalization(x, (0, 2)),
            (x - x.mean((0, 2), keepdims=True)) / x.std((0, 2), keepdims=True),
        ),
        "l2": (
            lambda x: op.l2_normalize(x),
            x / np.linalg.norm(x, axis=-1, keepdims=True),
        ),
    }
    check(cases, x, tolerance=1e-5)


def test_neighbours_on_several_axes() -> None:
    x = normals(5, 6)
    padded = np.pad(x * x, 1)
    squares = sum(padded[i : i + 5, j : j + 6] for i in range(3) for j in range(3))
    cases: Cases = {
        "lrn": (
            lambda x: op.local_response_norm(x, 3, 0.9, 0.5, 1.0, (0, 1)),
            x / np.sqrt(1 + np.float32(0.1) * squares),
        )
    }
    check(cases, x, tolerance=1e-6)
