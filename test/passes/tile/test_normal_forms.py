"""Programs that say the same in other indices become the same kernels."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.dialects.stripe.scheduled import SCHEDULED

Array = NDArray[Any]


def correlation(x: Array, k: Array) -> Array:
    """Sums of `x[i + j] * k[j]`."""
    return np.correlate(x, k, "valid")


def same_convolution(image: Array, kernel: Array) -> Array:
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))
    return np.einsum("xyiab,abio->xyo", windows, kernel)


def strided_maxima(x: Array) -> Array:
    return np.lib.stride_tricks.sliding_window_view(x, 3)[::2].max(1)


def running(x: Array) -> Array:
    return np.cumsum(x)


def running_from_the_end(x: Array) -> Array:
    return np.cumsum(x[::-1])[::-1]


def summed_area(x: Array) -> Array:
    return np.cumsum(np.cumsum(x, axis=0), axis=1)


def toeplitz(t: Array, x: Array) -> Array:
    n = len(x)
    return np.array([t[i : i + n][::-1] @ x for i in range(n)])


FAMILIES: dict[str, tuple[list[str], list[tuple[int, ...]], Callable[..., Array]]] = {
    "running sums": (
        [
            "function (X[N]) -> (O) { O[i : N] = +(X[k]), i - k < N; }",
            "function (X[N]) -> (O) { O[i : N] = +(X[i - j]), j < N; }",
            "function (X[N]) -> (O)"
            " { O[i + j : N] = +(X[i]), j < N, 2 * j < 3 * N, i + j < 5 * N; }",
        ],
        [(301,)],
        running,
    ),
    "running sums from the end": (
        [
            "function (X[N]) -> (O) { O[i : N] = +(X[k]), k - i < N; }",
            "function (X[N]) -> (O) { O[i : N] = +(X[i + j]), j < N; }",
        ],
        [(301,)],
        running_from_the_end,
    ),
    "summed areas": (
        [
            "function (X[N, M]) -> (O) { O[i, j : N, M] = +(X[k, l]),"
            " i - k < N, j - l < M; }",
            "function (X[N, M]) -> (O) { O[i, j : N, M] = +(X[i - a, j - b]),"
            " b < M, a < N; }",
        ],
        [(6, 9)],
        summed_area,
    ),
    "correlations": (
        [
            "function (X[N], K[M]) -> (O) { O[i : N - M + 1] = +(X[i + j] * K[j]); }",
            "function (X[N], K[M]) -> (O) { O[i : N - M + 1] = +(X[p] * K[p - i]); }",
            "function (X[N], K[M]) -> (O)"
            " { O[p - j : N - M + 1] = +(X[p] * K[j]), j < 2 * M; }",
            "function (X[N], K[M]) -> (O)"
            " { O[i : N - M + 1] = +(X[i - j + 3] * K[3 - j]); }",
        ],
        [(3000,), (17,)],
        correlation,
    ),
    "convolutions": (
        [
            "function (I[X, Y, C], K[A, B, C, D]) -> (O) { O[x, y, d : X, Y, D]"
            " = +(I[x + a - 1, y + b - 1, c] * K[a, b, c, d]); }",
            "function (I[X, Y, C], K[A, B, C, D]) -> (O) { O[x, y, d : X, Y, D]"
            " = +(I[u, v, c] * K[u - x + 1, v - y + 1, c, d]); }",
            "function (I[X, Y, C], K[A, B, C, D]) -> (O)"
            " { O[X - 1 - x, y, d : X, Y, D]"
            " = +(I[X - x + a, y + 1 - b, c] * K[a + 2, 2 - b, c, d]); }",
        ],
        [(14, 15, 4), (3, 3, 4, 8)],
        same_convolution,
    ),
    "maxima of windows": (
        [
            "function (X[N]) -> (O) { O[i : N / 2] = >(X[2 * i + j]), j < 3; }",
            "function (X[N]) -> (O) { O[i : N / 2] = >(X[k]), k - 2 * i < 3; }",
            "function (X[N]) -> (O) { O[i : N / 2] = >(X[2 * i - j]), j + 2 < 3; }",
        ],
        [(4001,)],
        strided_maxima,
    ),
    "Toeplitz products": (
        [
            "function (T[S], X[N]) -> (O) { O[i : N] = +(T[i - j + N - 1] * X[j]); }",
            "function (T[S], X[N]) -> (O) { O[i : N] = +(T[t] * X[i - t + N - 1]); }",
        ],
        [(401,), (201,)],
        toeplitz,
    ),
    "products": (
        [
            "function (A[M, L], B[L, N]) -> (C) { C[i, j : M, N]"
            " = +(A[i, k] * B[k, j]); }",
            "function (A[M, L], B[L, N]) -> (C) { C[i, j : M, N]"
            " = +(A[i, k + 2 * i - j] * B[k + 2 * i - j, j]), i < 2 * M; }",
        ],
        [(33, 65), (65, 40)],
        np.matmul,
    ),
}


def kernels(program: str, inputs: list[Array]) -> str:
    """The final IR without names, of which notes of schedules have some, too.

    Symbols are numbered by their first use.
    """
    text = gingham.compile(program).ir(*inputs, stage="opencl")
    module = Parser(make_context(), text).parse_module()
    for operation in module.walk():
        operation.attributes.pop(SCHEDULED, None)
        blocks = [block for region in operation.regions for block in region.blocks]
        for value in (*operation.results, *(a for block in blocks for a in block.args)):
            value.name_hint = None
    numbers: dict[str, str] = {}

    def number(name: re.Match[str]) -> str:
        return numbers.setdefault(name[0], f"@{len(numbers)}")

    return re.sub(r"@\w+", number, str(module))


@pytest.mark.parametrize("family", FAMILIES)
def test_other_indices_same_kernels(family: str) -> None:
    programs, shapes, expected = FAMILIES[family]
    random = np.random.default_rng(3)
    inputs: list[Array] = [
        random.integers(-3, 4, shape).astype(np.float32) for shape in shapes
    ]
    first, *others = programs
    result = np.asarray(gingham.compile(first)(*inputs))
    np.testing.assert_array_equal(result, expected(*inputs))
    source = kernels(first, inputs)
    for other in others:
        assert kernels(other, inputs) == source, other


def test_gradients_of_other_indices() -> None:
    statements = [
        "O[x, y, d : X, Y, D] = +(I[x + a - 1, y + b - 1, c] * K[a, b, c, d]);",
        "O[x, y, d : X, Y, D] = +(I[u, v, c] * K[u - x + 1, v - y + 1, c, d]);",
    ]
    programs = [
        "function (I[X, Y, C], K[A, B, C, D]) -> (GI, GK) {"
        f" {statement} S = O * O;"
        " GI = gradient(S, I); GK = gradient(S, K); }"
        for statement in statements
    ]
    inputs: list[Array] = [
        np.zeros(shape, np.float32) for shape in ((6, 7, 4), (3, 3, 4, 8))
    ]
    first, second = (kernels(program, inputs) for program in programs)
    assert first == second
