"""Fourier transforms, compared with NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Array, check, normals, run

from gingham import GinghamError, op
from gingham.edsl import Placeholder


def pairs(x: Any) -> Array:
    return np.stack([x.real, x.imag], -1).astype(np.float32)


def complex_of(x: Array) -> Array:
    return x[..., 0] + 1j * x[..., 1]


@pytest.mark.parametrize("length", [None, 5, 12, 9])
def test_transforms_of_any_length(length: int | None) -> None:
    x = normals(3, 9, 4, 2)
    z = complex_of(x)
    real = 16 if length is None else length
    check(
        {
            "complex": (
                lambda x: op.dft(x, length, 1),
                pairs(np.fft.fft(z, length, 1)),
            ),
            "inverse": (
                lambda x: op.dft(x, length, 1, inverse=True),
                pairs(np.fft.ifft(z, length, 1)),
            ),
            "real": (
                lambda x: op.dft(op.slice(x, 0, 1, -1), length, 1, onesided=True),
                pairs(np.fft.rfft(x[..., 0], length, 1)),
            ),
            "back": (
                lambda x: op.dft(x, length, 1, inverse=True, onesided=True),
                np.fft.irfft(z, real, 1)[..., None].astype(np.float32),
            ),
        },
        x,
        tolerance=1e-6,
    )


def test_transforms_of_doubles() -> None:
    x = np.random.default_rng(3).normal(size=(2, 1000, 1))
    expected = np.fft.fft(x[..., 0], axis=1)
    found = np.asarray(run(lambda x: op.dft(x), x))
    np.testing.assert_allclose(complex_of(found), expected, rtol=0, atol=1e-11)


def test_transforms_of_frames() -> None:
    x, window = normals(2, 21, 1), np.hanning(8).astype(np.float32)
    frames = np.stack([x[:, n * 3 : n * 3 + 8, 0] for n in range(5)], 1)
    check(
        {
            "window": (
                lambda x, w: op.stft(x, 3, w),
                pairs(np.fft.rfft(frames * window)),
            ),
            "length": (
                lambda x, w: op.stft(x, 3, None, 8, onesided=False),
                pairs(np.fft.fft(frames)),
            ),
        },
        x,
        window,
        tolerance=1e-6,
    )


def test_mistakes() -> None:
    x = Placeholder("float32", [4, 3], "x")
    with pytest.raises(GinghamError, match="expected an axis before the last one"):
        op.dft(x, axis=1)
    with pytest.raises(GinghamError, match="the size of the last axis"):
        op.dft(x)
    with pytest.raises(GinghamError, match="has no element"):
        op.dft(Placeholder("float32", [4, 2], "x"), 0)
    with pytest.raises(GinghamError, match="a step of at least 1, got 0"):
        op.stft(Placeholder("float32", [1, 4, 2], "x"), 0)
