"""Tensors of `gingham.plaidml` from arrays, and functions that tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gingham import plaidml

Array = NDArray[Any]

PRODUCT = """function (A[I, K], B[K, J]) -> (C) {
  C[i, j : I, J] = +(A[i, k] * B[k, j]);
}"""
SCALE = "function (X, F) -> (Y) { Y = X * F; }"
SUM = "function (X[I, J]) -> (S) { S[i : I] = +(X[i, j]); }"


def integers(*shape: int, seed: int = 0) -> Array:
    """Small integers as f32, of which sums and products are exact."""
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def empty(
    ctx: plaidml.Context, dev: plaidml.Device, *sizes: int, dtype: str = "float32"
) -> plaidml.Tensor:
    return plaidml.Tensor(dev, plaidml.Shape(ctx, dtype, *sizes))


def tensor(ctx: plaidml.Context, dev: plaidml.Device, array: Array) -> plaidml.Tensor:
    made = empty(ctx, dev, *array.shape, dtype=array.dtype.name)
    with made.mmap_discard(ctx) as view:
        view.copy_from_ndarray(array)
        view.writeback()
    return made
