"""The examples of PlaidML's tutorial in Python: the IR of their Tile text, and NumPy.

Python and text stand side by side; `ranks` are those of the inputs.
"""

# A comparison that stands alone writes a contraction.
# pyright: reportUnusedExpression=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edsl_programs import Array, integers, same_program

from gingham.edsl import (
    Tensor,
    TensorDim,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorOutput,
    log,
)

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> str:
    return (EXAMPLES / f"{name}.tile").read_text()


# Sum over axis


def sum_over_axis(I: Tensor) -> Tensor:
    M, N = TensorDims(2)
    m, n = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N)
    O[n] += I[m, n]
    return O


def sum_over_axis_padded(I: Tensor) -> Tensor:
    M, N = TensorDims(2)
    m, n = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N + 1)
    O[n] += I[m, n]
    return O


PADDED = "function (I[M, N]) -> (O) { O[n : N + 1] = +(I[m, n]); }"

# Max over axis


def max_over_axis(I: Tensor) -> Tensor:
    M, N = TensorDims(2)
    m, n = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N)
    O[n] >= I[m, n]
    return O


# Matrix multiply


def matmul(A: Tensor, B: Tensor) -> Tensor:
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] += A[i, k] * B[k, j]
    return C


def square(A: Tensor) -> Tensor:
    """`A.bind_dims(K, K)` is for square matrices only."""
    K = TensorDim()
    i, j, k = TensorIndexes(3)
    A.bind_dims(K, K)
    C = TensorOutput(K, K)
    C[i, j] += A[i, k] * A[k, j]
    return C


SQUARE = "function (A[K, K]) -> (C) { C[i, j : K, K] = +(A[i, k] * A[k, j]); }"

# Global min


def global_min(I: Tensor) -> Tensor:
    X, Y, Z = TensorDims(3)
    i, j, k = TensorIndexes(3)
    I.bind_dims(X, Y, Z)
    Neg = -I
    O_Neg = TensorOutput()
    O_Neg[()] >= Neg[i, j, k]
    O = -O_Neg
    return O


def global_min_of_any_size(I: Tensor) -> Tensor:
    i, j, k = TensorIndexes(3)
    Neg = -I
    O_Neg = TensorOutput()
    O_Neg[()] >= Neg[i, j, k]
    O = -O_Neg
    return O


ANY_SIZE = "function (I) -> (O) { Neg = -I; O_Neg[] = >(Neg[i, j, k]); O = -O_Neg; }"

# Average


def average_over_axis(I: Tensor) -> Tensor:
    X, Y = TensorDims(2)
    x, y = TensorIndexes(2)
    I.bind_dims(X, Y)
    Sum = TensorOutput(Y)
    Sum[y] += I[x, y]
    return Sum / X


def average_in_stages(I: Tensor) -> Tensor:
    X, Y = TensorDims(2)
    x, y = TensorIndexes(2)
    I.bind_dims(X, Y)
    Sum = TensorOutput()
    Sum[()] += I[x, y]
    PartialMean = Sum / X
    return PartialMean / Y


def average(I: Tensor) -> Tensor:
    X, Y = TensorDims(2)
    x, y = TensorIndexes(2)
    I.bind_dims(X, Y)
    Sum = TensorOutput()
    Sum[()] += I[x, y]
    return Sum / (X * Y)


# Max pool 1D


def wrong_max_pool_1d(I: Tensor) -> Tensor:
    N = TensorDim()
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N // 2)
    O[i] >= I[2 * i + j]
    return O


WRONG_POOL = "function (I[N]) -> (O) { O[i : N / 2] = >(I[2 * i + j]); }"


def max_pool_1d(I: Tensor) -> Tensor:
    N = TensorDim()
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N // 2)
    O[i] >= I[2 * i + j]
    O.add_constraint(j < 2)
    return O


def max_pool_1d_ceil(I: Tensor) -> Tensor:
    N = TensorDim()
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput((N + 1) / 2)
    O[i] >= I[2 * i + j]
    O.add_constraint(j < 2)
    return O


# Skipping


def skip(I: Tensor) -> Tensor:
    M, N = TensorDims(2)
    i, j = TensorIndexes(2)
    I.bind_dims(M, N)
    O = TensorOutput(N)
    O[2 * i] += I[2 * i, j]
    return O


# Cumulative sum


def csum(I: Tensor) -> Tensor:
    N = TensorDim()
    i, k = TensorIndexes(2)
    I.bind_dims(N)
    O = TensorOutput(N)
    O[i] += I[k]
    O.add_constraint(i - k < N)
    return O


# Convolutions


def conv_1d(I: Tensor, K: Tensor) -> Tensor:
    N, X, KX, CI, CO = TensorDims(5)
    n, x, k, ci, co = TensorIndexes(5)
    I.bind_dims(N, X, CI)
    K.bind_dims(KX, CI, CO)
    O = TensorOutput(N, X - KX + 1, CO)
    O[n, x, co] += I[n, x + k, ci] * K[k, ci, co]
    return O


def conv_2d_dilated(I: Tensor, K: Tensor) -> Tensor:
    N, X, Y, KX, KY, CI, CO = TensorDims(7)
    n, x, y, kx, ky, ci, co = TensorIndexes(7)
    I.bind_dims(N, X, Y, CI)
    K.bind_dims(KX, KY, CI, CO)
    O = TensorOutput(N, X - 2 * (KX - 1), Y - 3 * (KY - 1), CO)
    O[n, x, y, co] += I[n, x + 2 * kx, y + 3 * ky, ci] * K[kx, ky, ci, co]
    return O


def complex_conv_2d(
    I: Tensor, K: Tensor, s: Sequence[int] = (2, 3), d: Sequence[int] = (3, 2)
) -> Tensor:
    N, G, GCI, GCO = TensorDims(4)
    X = TensorDims(2)
    KX = TensorDims("K0 K1")
    n, g, gci, gco = TensorIndexes(4)
    x, k = TensorIndexes("x0 x1"), TensorIndexes("k0 k1")
    I.bind_dims(N, X, G, GCI)
    K.bind_dims(KX, G, GCI, GCO)
    # The sizes of the output, the reach of the dilated kernel, the padding.
    Y = [(X[i] + s[i] - 1) // s[i] for i in range(2)]
    EK = [d[i] * (KX[i] - 1) + 1 for i in range(2)]
    P = [((Y[i] - 1) * s[i] + EK[i] - X[i]) // 2 for i in range(2)]
    O = TensorOutput(N, Y, G, GCO)
    O[n, x, g, gco] += (
        I[n, [s[i] * x[i] + d[i] * k[i] - P[i] for i in range(2)], g, gci]
        * K[k, g, gci, gco]
    )
    return O


# Element-wise operations in the reference of the tutorial


def cross_entropy(T: Tensor, O: Tensor) -> Tensor:
    X, Y = TensorDims(2)
    x, y = TensorIndexes(2)
    T.bind_dims(X, Y)
    O.bind_dims(X, Y)
    LO = log(O)
    Temp = TensorOutput(X)
    Temp[x] += LO[x, y] * T[x, y]
    R = -Temp
    return R


# What they compute


def pool(arrays: list[Array]) -> Array:
    (x,) = arrays
    return np.array([x[2 * i : 2 * i + 2].max() for i in range(len(x) // 2)])


def pool_ceil(arrays: list[Array]) -> Array:
    (x,) = arrays
    return np.array([x[i : i + 2].max() for i in range(0, len(x), 2)])


def skipped(arrays: list[Array]) -> Array:
    (x,) = arrays
    result = np.zeros(x.shape[1], x.dtype)
    for i in range(0, min(x.shape), 2):
        result[i] = x[i].sum()
    return result


def convolved(arrays: list[Array], dilation: Sequence[int]) -> Array:
    """By the definition, for any number of spatial axes, without padding."""
    image, kernel = arrays
    spatial = len(dilation)
    sizes = [
        image.shape[1 + axis] - dilation[axis] * (kernel.shape[axis] - 1)
        for axis in range(spatial)
    ]
    result = np.zeros((image.shape[0], *sizes, kernel.shape[-1]), image.dtype)
    for taps in product(*map(range, kernel.shape[:spatial])):
        part = tuple(
            slice(d * k, d * k + size)
            for d, k, size in zip(dilation, taps, sizes, strict=True)
        )
        result += image[(slice(None), *part)] @ kernel[taps]
    return result


def grouped(arrays: list[Array]) -> Array:
    """The strided, dilated, padded, grouped convolution, by its definition."""
    image, kernel = arrays
    strides, dilations = (2, 3), (3, 2)
    sizes, taps = image.shape[1:3], kernel.shape[:2]
    out = [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    pad = [
        int(((y - 1) * s + d * (k - 1) + 1 - x) / 2)
        for x, y, k, s, d in zip(sizes, out, taps, strides, dilations, strict=True)
    ]
    result = np.zeros((image.shape[0], *out, *kernel.shape[2::2]), image.dtype)
    for x0, x1, k0, k1 in product(*map(range, (*out, *taps))):
        at0 = strides[0] * x0 + dilations[0] * k0 - pad[0]
        at1 = strides[1] * x1 + dilations[1] * k1 - pad[1]
        if 0 <= at0 < sizes[0] and 0 <= at1 < sizes[1]:
            values = np.einsum("ngi,gio->ngo", image[:, at0, at1], kernel[k0, k1])
            result[:, x0, x1] += values
    return result


@dataclass(frozen=True)
class Case:
    """An example in both forms, its meaning, and shapes to try it on."""

    python: Callable[..., Tensor]
    text: str
    meaning: Callable[[list[Array]], Any]
    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    is_ranked: bool = True


CASES = [
    Case(
        sum_over_axis,
        example("sum_over_axis"),
        lambda x: x[0].sum(axis=0),
        (((5, 7),), ((1, 1),)),
    ),
    Case(
        sum_over_axis_padded,
        PADDED,
        lambda x: np.append(x[0].sum(axis=0), 0),
        (((5, 7),),),
    ),
    Case(
        max_over_axis,
        example("max_over_axis"),
        lambda x: x[0].max(axis=0),
        (((5, 7),), ((3, 1),)),
    ),
    Case(
        matmul,
        example("matrix_product"),
        lambda x: x[0] @ x[1],
        (((4, 5), (5, 6)), ((3, 1), (1, 2))),
    ),
    Case(square, SQUARE, lambda x: x[0] @ x[0], (((4, 4),),)),
    Case(global_min, example("global_min"), lambda x: x[0].min(), (((2, 3, 4),),)),
    Case(
        global_min_of_any_size, ANY_SIZE, lambda x: x[0].min(), (((2, 3, 4),),), False
    ),
    Case(
        average_over_axis,
        example("average_over_axis"),
        lambda x: x[0].mean(axis=0),
        (((4, 7),), ((1, 3),)),
    ),
    Case(
        average_in_stages,
        example("average_in_stages"),
        lambda x: x[0].mean(),
        (((4, 8),),),
    ),
    Case(average, example("average"), lambda x: x[0].mean(), (((4, 8),),)),
    Case(
        wrong_max_pool_1d,
        WRONG_POOL,
        lambda x: np.full(len(x[0]) // 2, x[0].max()),
        (((9,),),),
    ),
    Case(max_pool_1d, example("max_pool_1d"), pool, (((10,),), ((7,),))),
    Case(max_pool_1d_ceil, example("max_pool_1d_ceil"), pool_ceil, (((10,),), ((7,),))),
    Case(skip, example("skip"), skipped, (((5, 7),), ((6, 6),), ((9, 4),))),
    Case(
        csum, example("cumulative_sum"), lambda x: np.cumsum(x[0]), (((10,),), ((1,),))
    ),
    Case(
        conv_1d,
        example("conv_1d"),
        lambda x: convolved(x, [1]),
        (((2, 9, 3), (4, 3, 5)),),
    ),
    Case(
        conv_2d_dilated,
        example("conv_2d_dilated"),
        lambda x: convolved(x, [2, 3]),
        (((2, 9, 10, 3), (3, 2, 3, 4)),),
    ),
    Case(
        complex_conv_2d,
        example("complex_conv_2d"),
        grouped,
        (((1, 9, 10, 2, 3), (3, 2, 2, 3, 2)), ((2, 4, 5, 1, 2), (2, 3, 1, 2, 3))),
    ),
    Case(
        cross_entropy,
        example("categorical_cross_entropy"),
        lambda x: -(x[0] * np.log(x[1])).sum(axis=1),
        (((3, 4), (3, 4)),),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.python.__name__)
def test_python_and_text_are_the_same_program(case: Case) -> None:
    code = case.python.__code__
    names = code.co_varnames[: len(case.shapes[0])]
    ranks = {
        name: len(shape) if case.is_ranked else None
        for name, shape in zip(names, case.shapes[0], strict=True)
    }
    function = same_program(case.python, case.text, ranks)
    for shapes in case.shapes:
        arrays = [integers(shape, seed=number) for number, shape in enumerate(shapes)]
        if case.python is cross_entropy:
            arrays = [np.abs(array) + 1 for array in arrays]
        expected = case.meaning(arrays)
        np.testing.assert_allclose(function(*arrays), expected, rtol=1e-6)


def test_indices_may_be_made_one_by_one() -> None:
    def transpose(A: Tensor) -> Tensor:
        M, N = A.shape
        i = TensorIndex()
        j = TensorIndex()
        B = TensorOutput(N, M)
        B[j, i] = A[i, j]
        return B

    function = same_program(transpose, example("transpose"), {"A": 2})
    a = integers((3, 4))
    np.testing.assert_array_equal(function(a), a.T)
