"""The network that start-up is measured with, against the reference interpreter."""

from __future__ import annotations

import numpy as np

import gingham
from gingham.bench.resnet import resnet50


def test_the_network_is_one() -> None:
    text, shapes = resnet50(size=32, channels=2)
    assert text.count("+(") - 2 == 53
    generator = np.random.default_rng(5)
    arrays = [
        generator.normal(0, np.prod(shape[:-1], dtype=int) ** -0.5, shape).astype(
            np.float32
        )
        for shape in shapes
    ]
    results = gingham.compile(text)(*arrays)
    assert results.shape == (1, 1000)
    expected = gingham.compile(text, device="reference")(*arrays)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(results, expected, rtol=2e-3, atol=1e-4)
