"""Convolutions and their transposes, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, integers, normals

from gingham import op

torch: Any = pytest.importorskip("torch")
F: Any = torch.nn.functional


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions(rank: int, groups: int) -> None:
    x = integers(2, 4, *(7, 6, 5)[:rank])
    w = integers(8, 4 // groups, *(3, 2, 2)[:rank], seed=1)
    b = integers(8, seed=2)
    reference = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    cases: Cases = {}
    for options in [(1, 0, 1), (2, 1, 1), (1, 2, 2)]:
        want = reference(*map(torch.tensor, (x, w, b)), *options, groups).numpy()
        cases[f"first {options}"] = (_conv(options, groups, False), want)
        cases[f"last {options}"] = (_conv(options, groups, True), want)
    check(cases, x, w, b)


def _conv(options: tuple[int, int, int], groups: int, channels_last: bool) -> Operation:
    """The convolution of tensors whose channels are first, in either way."""

    def first(x: Any, w: Any, b: Any) -> Any:
        return op.conv(x, w, b, *options, groups)

    def last(x: Any, w: Any, b: Any) -> Any:
        x, w = op.moveaxis(x, 1, -1), op.moveaxis(w, (0, 1), (-1, -2))
        y = op.conv(x, w, b, *options, groups, channels_last=True)
        return op.moveaxis(y, -1, 1)

    return last if channels_last else first


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("rank", [1, 2])
def test_transposed_convolutions(rank: int, groups: int) -> None:
    x = integers(2, 4, *(5, 6)[:rank])
    w = integers(4, 6, *(3, 2)[:rank], seed=1)
    b = integers(6 * groups, seed=2)
    reference = (F.conv_transpose1d, F.conv_transpose2d)[rank - 1]
    cases: Cases = {}
    for options in [(1, 0, 0, groups, 1), (2, 1, 1, groups, 1), (3, 1, 2, groups, 2)]:
        want = reference(*map(torch.tensor, (x, w, b)), *options).numpy()
        cases[f"first {options}"] = (_transposed(options, False), want)
        cases[f"last {options}"] = (_transposed(options, True), want)
    check(cases, x, w, b)


def _transposed(options: tuple[int, ...], channels_last: bool) -> Operation:
    def first(x: Any, w: Any, b: Any) -> Any:
        return op.conv_transpose(x, w, b, *options)

    def last(x: Any, w: Any, b: Any) -> Any:
        x, w = op.moveaxis(x, 1, -1), op.moveaxis(w, (0, 1), (-1, -2))
        y = op.conv_transpose(x, w, b, *options, channels_last=True)
        return op.moveaxis(y, -1, 1)

    return last if channels_last else first


def test_padding_on_each_side() -> None:
    x, w = integers(1, 2, 6, 7), integers(3, 2, 2, 3, seed=1)
    kernel = torch.tensor(w)

    def padded(top: int, bottom: int, left: int, right: int, stride: int) -> Any:
        image = F.pad(torch.tensor(x), (left, right, top, bottom))
        return F.conv2d(image, kernel, stride=stride).numpy()

    cases: Cases = {
        "pairs": (
            lambda x, w: op.conv(x, w, padding=[(1, 0), (2, 3)]),
            padded(1, 0, 2, 3, 1),
        ),
        "upper": (
            lambda x, w: op.conv(x, w, padding="SAME_UPPER"),
            padded(0, 1, 1, 1, 1),
        ),
        "lower": (
            lambda x, w: op.conv(x, w, padding="same_lower"),
            padded(1, 0, 1, 1, 1),
        ),
        "strided": (
            lambda x, w: op.conv(x, w, None, 2, "SAME_UPPER"),
            padded(0, 0, 1, 1, 2),
        ),
        "valid": (lambda x, w: op.conv(x, w, padding="VALID"), padded(0, 0, 0, 0, 1)),
    }
    check(cases, x, w)


def test_a_transposed_convolution_of_a_given_shape() -> None:
    x, w = integers(1, 2, 3, 3), integers(2, 2, 3, 3, seed=1)
    whole = F.conv_transpose2d(torch.tensor(x), torch.tensor(w), stride=3).numpy()
    longer = np.pad(whole, [(0, 0), (0, 0), (0, 1), (0, 1)])
    cases: Cases = {
        "shape": (
            lambda x, w: op.conv_transpose(x, w, None, 3, output_shape=[10, 8]),
            longer[:, :, :, 1:9],
        ),
        "same": (
            lambda x, w: op.conv_transpose(x, w, None, 3, "SAME_UPPER"),
            whole,
        ),
    }
    check(cases, x, w)


def test_gradients() -> None:
    pairs: dict[str, tuple[Operation, Operation]] = {
        "conv": (
            lambda x, w, b: op.conv(x, w, b, 2, 1),
            lambda x, w, b: F.conv2d(x, w, b, 2, 1),
        ),
        "groups": (
            lambda x, w, b: op.conv(x, op.slice(w, 0, 2, 1), b, 1, 0, 2, 2),
            lambda x, w, b: F.conv2d(x, w[:, :2], b, 1, 0, 2, 2),
        ),
        "transposed": (
            lambda x, w, b: op.conv_transpose(x, w, b, 2, 1, 1),
            lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1),
        ),
    }
    check_slopes(pairs, normals(2, 4, 6, 5), normals(4, 4, 3, 2), normals(4))
