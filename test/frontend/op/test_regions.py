"""Regions of images and convolutions with offsets, compared with torchvision's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
vision: Any = pytest.importorskip("torchvision.ops")


def _regions(x: Any, boxes: Any, batch: Any, aligned: bool) -> Any:
    return op.roi_align(x, boxes, batch, (3, 2), 2, 0.5, aligned)


def _aligned(aligned: bool) -> Operation:
    return lambda x, boxes, batch: _regions(x, boxes, batch, aligned)


def test_regions() -> None:
    x = normals(2, 3, 9, 7)
    boxes = np.random.default_rng(1).uniform(-6, 22, (8, 4)).astype(np.float32)
    boxes[:6, 2:] = boxes[:6, :2] + abs(boxes[:6, 2:])
    batch = np.array([0, 1, 1, 0, 1, 0, 0, 1], np.int32)
    rows = torch.tensor(np.column_stack([batch, boxes]).astype(np.float32))
    cases: Cases = {}
    for aligned in (False, True):
        expected = vision.roi_align(torch.tensor(x), rows, (3, 2), 0.5, 2, aligned)
        cases[f"aligned {aligned}"] = (_aligned(aligned), expected.numpy())
    check(cases, x, boxes, batch, tolerance=1e-5)


def _deformed(x: Any, weight: Any, offset: Any, bias: Any, mask: Any) -> Any:
    return op.deform_conv(
        x, weight, offset, bias, mask, (2, 1), (1, 2), (1, 2), 2, offset_groups=2
    )


def _of_torchvision(x: Any, weight: Any, offset: Any, bias: Any, mask: Any) -> Any:
    return vision.deform_conv2d(
        x, offset, weight, bias, (2, 1), (1, 2), (1, 2), mask=mask
    )


def _arrays() -> list[Any]:
    shapes = (2, 4, 6, 7), (6, 2, 3, 2), (2, 2 * 6 * 2, 3, 9), (6,), (2, 2 * 6, 3, 9)
    return [normals(*shape, seed=n) for n, shape in enumerate(shapes)]


def test_convolutions_with_offsets() -> None:
    arrays = _arrays()
    expected = _of_torchvision(*map(torch.tensor, arrays)).numpy()
    check({"all": (_deformed, expected)}, *arrays, tolerance=1e-5)


def test_gradients_of_convolutions_with_offsets() -> None:
    check_slopes({"all": (_deformed, _of_torchvision)}, *_arrays(), tolerance=1e-4)
