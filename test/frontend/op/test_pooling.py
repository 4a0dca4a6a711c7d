"""Pools of all kinds, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, integers, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional

WINDOWS: list[tuple[Any, ...]] = [
    (2, None, 0, False),
    (3, 2, 1, False),
    (3, 2, 1, True),
    (2, 3, 1, True),
    ((3, 2), (2, 1), (1, 0), True),
]


@pytest.mark.parametrize(("kernel", "stride", "padding", "ceil"), WINDOWS)
def test_pools(kernel: Any, stride: Any, padding: Any, ceil: bool) -> None:
    x = integers(2, 3, 9, 8)
    tensor = torch.tensor(x)
    largest, place = F.max_pool2d(
        tensor, kernel, stride, padding, 1, ceil, return_indices=True
    )

    def means(include: bool) -> Any:
        return F.avg_pool2d(tensor, kernel, stride, padding, ceil, include).numpy()

    cases: Cases = {
        "max": (
            lambda x: op.max_pool(x, kernel, stride, padding, 1, ceil),
            largest.numpy(),
        ),
        "places": (
            lambda x: op.max_pool_with_indices(x, kernel, stride, padding, 1, ceil),
            [largest.numpy(), place.numpy()],
        ),
        "mean": (lambda x: op.avg_pool(x, kernel, stride, padding, ceil), means(False)),
        "with padding": (
            lambda x: op.avg_pool(x, kernel, stride, padding, ceil, True),
            means(True),
        ),
        "channels last": (
            lambda x: op.avg_pool(
                op.moveaxis(x, 1, -1), kernel, stride, padding, ceil, channels_last=True
            ),
            np.moveaxis(means(False), 1, -1),
        ),
    }
    check(cases, x, tolerance=1e-6)


def test_other_ranks_dilations_and_norms() -> None:
    x = integers(2, 3, 6, 7)
    tensor = torch.tensor(x)
    line, volume = tensor[:, :, 0], tensor[:, :, None].repeat(1, 1, 4, 1, 1)
    cases: Cases = {
        "1d": (
            lambda x: op.max_pool(op.select_index(x, 0, 2), 3, 1, "SAME_UPPER"),
            F.max_pool1d(line, 3, 1, 1).numpy(),
        ),
        "3d": (
            lambda x: op.avg_pool(op.repeat(op.unsqueeze(x, 2), 4, 2), 2),
            F.avg_pool3d(volume, 2).numpy(),
        ),
        "dilated": (
            lambda x: op.max_pool(x, 2, 2, 1, 2),
            F.max_pool2d(tensor, 2, 2, 1, 2).numpy(),
        ),
        "divisor": (
            lambda x: op.avg_pool(x, 2, divisor_override=3),
            F.avg_pool2d(tensor, 2, divisor_override=3).numpy(),
        ),
        "norm": (
            lambda x: op.lp_pool(abs(x), 2, 3.0, 2),
            F.lp_pool2d(tensor.abs(), 3.0, 2, 2).numpy(),
        ),
        "global mean": (op.global_avg_pool, x.mean((2, 3), keepdims=True)),
        "global max": (op.global_max_pool, x.max((2, 3), keepdims=True)),
        "global norm": (
            op.global_lp_pool,
            np.sqrt((x * x).sum((2, 3), keepdims=True)),
        ),
    }
    check(cases, x, tolerance=1e-6)


def test_dilated_means_count_what_is_inside() -> None:
    x = np.ones((1, 1, 7, 6), np.float32)
    cases: Cases = {
        "mean": (lambda x: op.avg_pool(x, 3, 1, 2, dilation=2), x),
        "ceil": (
            lambda x: op.avg_pool(x, 3, 2, 1, True, dilation=2),
            np.ones((1, 1, 3, 3), np.float32),
        ),
    }
    check(cases, x, tolerance=1e-7)


@pytest.mark.parametrize("size", [1, (3, 5), (6, 2)])
def test_adaptive_pools(size: Any) -> None:
    x = integers(2, 3, 6, 7)
    tensor = torch.tensor(x)
    cases: Cases = {
        "mean": (
            lambda x: op.adaptive_avg_pool(x, size),
            F.adaptive_avg_pool2d(tensor, size).numpy(),
        ),
        "max": (
            lambda x: op.adaptive_max_pool(x, size),
            F.adaptive_max_pool2d(tensor, size).numpy(),
        ),
    }
    check(cases, x, tolerance=1e-6)


def test_gradients() -> None:
    pairs: dict[str, tuple[Operation, Operation]] = {
        "max": (
            lambda x: op.max_pool(x, 3, 2, 1),
            lambda x: F.max_pool2d(x, 3, 2, 1),
        ),
        "mean": (
            lambda x: op.avg_pool(x, 3, 2, 1, True),
            lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
        ),
        "adaptive": (
            lambda x: op.adaptive_avg_pool(x, 4),
            lambda x: F.adaptive_avg_pool2d(x, 4),
        ),
    }
    check_slopes(pairs, normals(2, 2, 7, 6))
