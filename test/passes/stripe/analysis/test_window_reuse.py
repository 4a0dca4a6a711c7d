"""Loops that read cells again are unrolled with the tile, and compute the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest

import gingham
from gingham.passes.stripe.analysis.window_reuse import places, reusing_loops
from gingham.targets.hardware import load_hardware


@pytest.mark.parametrize("seed", range(50))
def test_counts_places(seed: int) -> None:
    """Exact where one step along an axis is a multiple of the other."""
    random = Random(seed)
    sizes = [random.randint(1, 6) for _ in range(3)]
    small = random.randint(1, 3)
    rows = [
        [small, small * random.randint(1, 4), 0],
        [0, 0, random.randint(0, 2)],
    ]
    points = product(*(range(size) for size in sizes))
    found = {
        tuple(sum(c * p for c, p in zip(row, point, strict=True)) for row in rows)
        for point in points
    }
    assert places(rows, sizes, (0, 1, 2)) == len(found)


AVX512 = load_hardware("cpu-avx512")
IMAGE = [[1, 0, 1, 0], [0, 1, 0, 1]]
WEIGHTS = [[1, 0, 0, 0], [0, 1, 0, 0]]


def _unrolled(
    height: int, width: int, registers: int = 32, copies: int = 64
) -> frozenset[int]:
    """Of the taps 0 and 1 around a tile of pixels 2 and 3, the last the innermost."""
    return reusing_loops(
        (3, 3, height, width),
        (2, 3),
        (0, 1),
        (IMAGE, WEIGHTS),
        replace(
            AVX512.with_vectors(registers=registers),
            overheads=replace(AVX512.overheads, unrolled_copies=copies),
        ),
        height * width,
    )


def test_unrolls_taps_along_the_tile() -> None:
    assert _unrolled(1, 8) == {1}
    assert _unrolled(2, 3) == {0, 1}


def test_unrolls_no_taps_across_the_tile() -> None:
    """The inner one reads nothing again, and the outer one is not next to the tile."""
    assert _unrolled(8, 1) == frozenset()


def test_unrolls_only_what_fits() -> None:
    assert _unrolled(1, 14) == {1}
    assert _unrolled(1, 16) == frozenset()
    assert _unrolled(1, 14, registers=16) == frozenset()
    assert _unrolled(1, 8, copies=20) == frozenset()


@pytest.mark.parametrize(
    ("size", "taps", "channels"), [(9, 3, 16), (23, 5, 20), (14, 3, 7)]
)
def test_depthwise_convolutions(size: int, taps: int, channels: int) -> None:
    random = np.random.default_rng(size)
    image = random.integers(-4, 5, (size, size + 2, channels)).astype(np.float32)
    weights = random.integers(-4, 5, (taps, taps, channels)).astype(np.float32)
    pad = taps // 2
    convolve = gingham.compile(
        "function (I[X, Y, C], K[KX, KY, C]) -> (O) { O[x, y, c : X, Y, C] ="
        f" +(I[x + i - {pad}, y + j - {pad}, c] * K[i, j, c]); }}"
    )
    padded = np.pad(image, ((pad, pad), (pad, pad), (0, 0)))
    wanted = np.zeros_like(image)
    for i, j in product(range(taps), repeat=2):
        wanted += padded[i : i + size, j : j + size + 2] * weights[i, j]
    np.testing.assert_array_equal(np.asarray(convolve(image, weights)), wanted)
