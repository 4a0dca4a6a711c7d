"""What is measured: a Tile program, its inputs, and the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """One benchmark.

    `work` is what one call does: floating-point operations, or bytes that must be read
    and written at least, as `unit` (`flop` or `byte`) says. `numpy` writes into the
    array that it is given.
    """

    name: str
    program: str
    inputs: Callable[[np.random.Generator], tuple[Array, ...]]
    numpy: Callable[[tuple[Array, ...], Array], object]
    work: float
    unit: str
    tolerance: float = 1e-4


def _random(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], Any]:
    def make(generator: np.random.Generator) -> tuple[Array, ...]:
        return tuple(
            generator.standard_normal(shape, dtype=np.float32) for shape in shapes
        )

    return make


def matrix_product(m: int, k: int, n: int) -> Case:
    """A product of matrices of m x k and k x n numbers."""
    return Case(
        f"matrix product {m}x{k}x{n}",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        _random((m, k), (k, n)),
        lambda inputs, out: np.matmul(*inputs, out=out),
        2.0 * m * k * n,
        "flop",
    )


def convolution(size: int, channels: int, batch: int = 1) -> Case:
    """A 3x3 convolution with padding, NHWC, as many output as input channels."""

    def with_numpy(inputs: tuple[Array, ...], out: Array) -> None:
        image, kernel = inputs
        padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
        # Axes of the windows: batch, row, column, channel, kernel row, kernel column.
        columns = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, 9 * channels)
        np.matmul(
            columns,
            kernel.reshape(9 * channels, channels),
            out=out.reshape(-1, channels),
        )

    return Case(
        f"convolution 3x3 {channels}-{channels} at {size}, batch {batch}",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] ="
        " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        _random((batch, size, size, channels), (3, 3, channels, channels)),
        with_numpy,
        2.0 * 9 * channels * channels * size * size * batch,
        "flop",
    )


def softmax(rows: int, columns: int) -> Case:
    """The softmax of each row."""

    def with_numpy(inputs: tuple[Array, ...], out: Array) -> None:
        (x,) = inputs
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)

    return Case(
        f"softmax {rows}x{columns}",
        "function (X[M, N]) -> (Y) {"
        " Top[m, 0 : M, 1] = >(X[m, n]);"
        " E = exp(X - Top);"
        " Sum[m, 0 : M, 1] = +(E[m, n]);"
        " Y = E / Sum; }",
        _random((rows, columns)),
        with_numpy,
        8.0 * rows * columns,
        "byte",
    )


def chain(elements: int) -> Case:
    """An element-wise chain: the tanh form of gelu, of `a * b + c`."""

    def with_numpy(inputs: tuple[Array, ...], out: Array) -> None:
        a, b, c = inputs
        x = a * b
        x += c
        np.multiply(x, x, out=out)
        out *= 0.044715
        out += 1
        out *= x
        out *= 0.7978846
        np.tanh(out, out=out)
        out += 1
        out *= x
        out *= 0.5

    return Case(
        f"gelu(a * b + c), {elements} elements",
        "function (A[N], B[N], C[N]) -> (Y) {"
        " X = A * B + C;"
        " Y = 0.5 * X * (1.0 + tanh(0.7978846 * X * (1.0 + 0.044715 * X * X))); }",
        _random((elements,), (elements,), (elements,)),
        with_numpy,
        16.0 * elements,
        "byte",
    )


CASES: tuple[Case, ...] = (
    matrix_product(512, 512, 512),
    matrix_product(1000, 1000, 1000),
    matrix_product(1024, 1024, 1024),
    convolution(56, 64),
    convolution(56, 64, batch=8),
    softmax(4096, 4096),
    chain(2**24),
)
"""All benchmarks, in the order in which they run."""
