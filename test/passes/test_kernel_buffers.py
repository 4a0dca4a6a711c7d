"""No kernel has more buffers than every device has room for."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gingham

COUNT = 300
ROOM = 1024 // 8
"""Pointers, of each device by the specification."""


def names(letter: str) -> list[str]:
    return [f"{letter}{n}" for n in range(COUNT)]


def most_buffers(source: str) -> int:
    kernels = re.findall(r"__kernel.*?\)\s*\{", source, re.DOTALL)
    return max(kernel.count("__global") for kernel in kernels)


@pytest.mark.parametrize("hardware", [None, "nvidia-h200"])
def test_many_results(hardware: str | None) -> None:
    body = " ".join(f"O{n} = X + {n}.0;" for n in range(COUNT))
    text = f"function (X) -> ({', '.join(names('O'))}) {{ {body} }}"
    function = gingham.compile(text, hardware=hardware)
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(function(x), x + np.arange(COUNT)[:, None])
    assert most_buffers(function.source(x)) <= ROOM


def test_a_sum_of_many_inputs() -> None:
    text = (
        f"function ({', '.join(names('X'))}) -> (O) {{ O = {' + '.join(names('X'))}; }}"
    )
    function = gingham.compile(text)
    x = np.random.default_rng(0).integers(-9, 9, (COUNT, 3)).astype(np.float32)
    np.testing.assert_array_equal(function(*x), x.sum(0))
    assert 2 < most_buffers(function.source(*x)) <= ROOM


def test_launches_that_are_joined() -> None:
    """Of different shapes, so that they are one launch, and not one block."""
    body = " ".join(f"O{n} = 2.0 * X{n};" for n in range(COUNT))
    text = (
        f"function ({', '.join(names('X'))}) -> ({', '.join(names('O'))}) {{ {body} }}"
    )
    function = gingham.compile(text)
    inputs = [np.full(n + 1, n, np.float32) for n in range(COUNT)]
    for got, x in zip(function(*inputs), inputs, strict=True):
        np.testing.assert_array_equal(got, 2 * x)
    assert 2 < most_buffers(function.source(*inputs)) <= ROOM
