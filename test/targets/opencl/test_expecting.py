"""Helpers start while the passes run, where there will be much to build."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gingham
from gingham.targets.opencl import expecting
from gingham.targets.opencl.devices.device import OpenCLDevice


def layers(count: int, *, gradients: bool = False, is_equal: bool = False) -> str:
    """So many products in a row, with weights of different or equal shapes."""
    widths = [4 if is_equal else 4 + n for n in range(count + 1)]
    weights = [f"W{n}[A{n}, B{n}]" for n in range(count)]
    lines = [
        f"T{n + 1}[i, j : 2, {width}] = +(T{n}[i, k] * W{n}[k, j]);"
        for n, width in enumerate(widths[1:])
    ]
    if gradients:
        lines += [f"L[] = +(T{count}[i, j]);", "D = gradient(L, W0);"]
    result = "D" if gradients else f"T{count}"
    body = " ".join(lines)
    return f"function (T0[N, M], {', '.join(weights)}) -> ({result}) {{ {body} }}"


def arrays(count: int, *, is_equal: bool = False) -> list[np.ndarray]:
    widths = [4 if is_equal else 4 + n for n in range(count + 1)]
    shapes = [(2, widths[0]), *pairwise(widths)]
    return [np.ones(shape, np.float32) for shape in shapes]


@pytest.mark.parametrize(
    ("count", "gradients", "is_equal", "expected"),
    [(5, False, False, 5), (5, True, False, 18), (5, False, True, 1)],
)
def test_different_contractions_count(
    count: int, gradients: bool, is_equal: bool, expected: int
) -> None:
    text = layers(count, gradients=gradients, is_equal=is_equal)
    module = gingham.compile(text).specialized(*arrays(count, is_equal=is_equal))
    assert expecting.contraction_count(module) == expected


def test_many_are_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    device = gingham.default_device()
    if not isinstance(device, OpenCLDevice) or not device.details.builds_whole_binaries:
        pytest.skip("its binaries save nothing")
    asked: list[OpenCLDevice] = []
    monkeypatch.setattr(expecting.helpers, "expect", asked.append)
    monkeypatch.setattr(expecting, "_MANY_CONTRACTIONS", 3)
    gingham.compile(layers(2)).prepare(arrays(2))
    gingham.compile(layers(3)).source(*arrays(3))
    assert not asked
    gingham.compile(layers(4)).prepare(arrays(4))
    assert asked == [device]
