"""Tile programs give the same result before and after each pass down to blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

PASSES = ("tile-canonicalize", "tile-flatten", "lower-tile-to-stripe")


Meaning: TypeAlias = (
    Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
)
"""NumPy arrays in, one array or a tuple of them out."""


@dataclass(frozen=True)
class Program:
    """A Tile program, its meaning in NumPy, and the arguments to run it for."""

    text: str
    meaning: Meaning
    arguments: tuple[tuple[str, ...], ...]
    is_exact: bool = True


def conv(image: Array, kernel: Array) -> Array:
    padded = np.pad(image, ((1, 1), (1, 1), (0, 0)))
    height, width, _ = image.shape
    taps = [
        padded[i : i + height, j : j + width] @ kernel[i, j]
        for i in range(3)
        for j in range(3)
    ]
    return np.sum(taps, axis=0).astype(image.dtype)


def max_pool(values: Array) -> Array:
    """Windows of 3 with stride 2 that may stick out."""
    starts = range(0, len(values), 2)
    return np.array([values[i : i + 3].max() for i in starts], values.dtype)


def sparse_max(values: Array) -> Array:
    """The largest of all before; nothing is before the first."""
    return np.array(
        [values[:i].max() if i else 0 for i in range(len(values))], values.dtype
    )


def full_convolution(left: Array, right: Array) -> Array:
    return np.convolve(left, right) if left.size and right.size else np.zeros(0)


def unpool(values: Array) -> Array:
    result = np.zeros(2 * len(values), values.dtype)
    result[::2] = values
    return result


def softmax(values: Array) -> Array:
    exponents = np.exp(values - values.max(axis=1, keepdims=True))
    return exponents / exponents.sum(axis=1, keepdims=True)


PROGRAMS = {
    "matmul": Program(
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        lambda a, b: (a.astype(np.float64) @ b.astype(np.float64)).astype(
            np.promote_types(a.dtype, b.dtype)
        ),
        (("4x5xf32", "5x6xf32"), ("1x1xsi32", "1x7xsi8"), ("3x0xf64", "0x2xf32")),
    ),
    "matmul of halves": Program(
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        lambda a, b: (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype),
        (("4x300xf16", "300x2xf16"), ("4x5xbf16", "5x2xbf16")),
    ),
    "padded convolution": Program(
        """function (I[H, W, CI], K[KH, KW, CI, CO]) -> (O) {
             O[y, x, co : H, W, CO] = +(I[y + i - 1, x + j - 1, ci] * K[i, j, ci, co]);
           }""",
        conv,
        (("5x4x2xsi32", "3x3x2x3xsi32"), ("1x1x1xf32", "3x3x1x1xf32")),
    ),
    "max pool": Program(
        """function (I[N]) -> (O) {
             O[i : (N + 1) / 2] = >(I[2 * i + j]), j < 3;
           }""",
        max_pool,
        (("7xf32",), ("8xsi8",), ("1xui8",)),
    ),
    "cumulative sum": Program(
        "function (I[N]) -> (O) { O[i : N] = +(I[k]), i - k < N; }",
        lambda i: np.cumsum(i, dtype=i.dtype),
        (("10xf32",), ("1xsi16",), ("0xf32",)),
    ),
    "skip": Program(
        "function (I[N]) -> (O) { O[2 * i : 2 * N] = +(I[i]); }",
        unpool,
        (("5xf32",), ("0xf32",), ("1xui8",)),
    ),
    "maximum skip": Program(
        "function (I[N]) -> (O) { O[2 * i : 2 * N] = >(I[i]); }",
        unpool,
        (("5xf32",), ("4xsi32",)),
    ),
    "sparse maximum": Program(
        "function (I[N]) -> (O) { O[i : N] = >(I[k]), i - k - 1 < N; }",
        sparse_max,
        (("6xf32",), ("5xsi8",), ("1xf32",), ("4xf16",)),
    ),
    "sparse maximum with default": Program(
        "function (I[N], D[N]) -> (O) { O[i : N] = >(I[k]), i - k - 1 < N default D; }",
        lambda i, d: np.concatenate([d[:1], sparse_max(i)[1:]]),
        (("6xf32", "6xf32"), ("5xui8", "5xui8"), ("1xsi32", "1xsi32")),
    ),
    "sum with default": Program(
        """function (I[N], D[M, N]) -> (O) {
             O[2, i : M, N] = +(I[k]), i - k - 1 < N default D;
           }""",
        lambda i, d: np.vstack(
            [d[:2], [[d[2, 0], *np.cumsum(i, dtype=i.dtype)[:-1]]], d[3:]]
        ).astype(i.dtype),
        (("6xf32", "4x6xf32"), ("5xsi8", "3x5xsi8")),
    ),
    "product over a part": Program(
        "function (I[N]) -> (O) { O[i : N + 2] = *(I[i + k]), k < 2; }",
        lambda i: np.array(
            [np.prod(i[k : k + 2]) if k < len(i) else 0 for k in range(len(i) + 2)],
            i.dtype,
        ),
        (("4xsi32",), ("1xf32",)),
    ),
    "full convolution": Program(
        "function (A[N], B[M]) -> (O) { O[i + j : N + M - 1] = +(A[i] * B[j]); }",
        full_convolution,
        (("5xf32", "3xf32"), ("1xf64", "4xf64")),
    ),
    "diagonal": Program(
        "function (V[N]) -> (O) { O[i, i : N, N] = +(V[i]); }",
        lambda v: np.diag(v),
        (("5xf32",), ("0xf32",), ("1xui16",)),
    ),
    "transpose by assignment": Program(
        "function (A[M, N]) -> (O) { O[j, i : N, M] = =(A[i, j]); }",
        lambda a: a.T,
        (("3x4xf16",), ("1x5xi1",)),
    ),
    "concatenation": Program(
        """function (A[M], B[N]) -> (O) {
             Zero[i : M + N] = =(A[i]);
             O[i + M : M + N] = =(B[i]) default Zero;
           }""",
        lambda a, b: np.concatenate([a, b]),
        (("3xf32", "4xf32"), ("0xsi8", "2xsi8"), ("2xf32", "0xf32")),
    ),
    "assignment of a part": Program(
        "function (A[N]) -> (O) { O[i : N] = =(A[i + 1]), N - 3 - i < N; }",
        lambda a: np.array(
            [
                a[i + 1] if i + 1 < len(a) and i <= len(a) - 3 else 0
                for i in range(len(a))
            ]
        ).astype(a.dtype),
        (("6xf32",), ("2xsi32",)),
    ),
    "softmax": Program(
        """function (X[M, N]) -> (R) {
             Top[i, 0 : M, 1] = >(X[i, j]);
             E = exp(X - Top);
             S[i, 0 : M, 1] = +(E[i, j]);
             R = E / S;
           }""",
        softmax,
        (("4x5xf32",), ("1x1xf64",)),
        is_exact=False,
    ),
    "average": Program(
        "function (X[M, N]) -> (A) { S[] = +(X[i, j]); A = S / (M * N); }",
        lambda x: np.asarray(x.sum() / x.size, x.dtype),
        (("4x8xf32",), ("2x2xf64",)),
    ),
    "mixed types": Program(
        """function (A[N], B[N], P[N]) -> (C, D, E) {
             C = A * B + 1; D = A / 2 + P; E = (A < B) ? A : 0.5;
           }""",
        lambda a, b, p: (
            (a.astype(np.float32) * b + 1).astype(np.float32),
            (np.trunc(a / 2) + p).astype(np.int32),
            np.where(a < b, a, 0.5).astype(np.float32),
        ),
        (("5xsi8", "5xf32", "5xsi32"),),
    ),
    "comparisons that aggregate": Program(
        """function (A[M], B[N]) -> (Count, Any, All, Chosen) {
             Count[i : M] = +(A[i] == B[j]);
             Any[i : M] = >(A[i] == B[j]);
             All[i : M] = <(A[i] == B[j]);
             Chosen[i : M] = +(A[i] == B[j] ? B[j]);
           }""",
        lambda a, b: (
            (a[:, None] == b).sum(axis=1).astype(np.int32),
            (a[:, None] == b).any(axis=1),
            (a[:, None] == b).all(axis=1) if len(b) else np.zeros(len(a), np.bool_),
            np.where(a[:, None] == b, b, 0).sum(axis=1).astype(b.dtype),
        ),
        (("7xsi8", "5xsi8"), ("3xf32", "0xf32"), ("4xf32", "1xf32")),
    ),
    "counted points": Program(
        "function (A[N]) -> (C, F) { C[] = +(A[i]), k < 4; F = (A < 0) + (A < 1); }",
        lambda a: (
            np.asarray(4 * a.sum(), a.dtype),
            (a < 0).astype(np.int32) + (a < 1),
        ),
        (("3xf32",), ("0xf32",)),
    ),
    "inputs and results again": Program(
        "function (A[N]) -> (A, B, C, D) { B = A; C = A + A; D = C; }",
        lambda a: (a, a, a + a, a + a),
        (("3xf32",), ("0xf32",)),
    ),
    "literals as results": Program(
        "function (A[N]) -> (Half, Size, Twice) { Half = 0.5; Size = N; Twice = 2*N; }",
        lambda a: (np.float32(0.5), np.int32(len(a)), np.int32(2 * len(a))),
        (("3xf32",), ("0xf32",)),
    ),
    "scalars": Program(
        "function (A[], B) -> (C, D) { C = A * B; D[] = +(A[]); }",
        lambda a, b: (a * b, a),
        (("f32", "3x2xf32"), ("f32", "f32")),
    ),
}

CASES = [
    pytest.param(program, arguments, id=f"{name}: {' '.join(arguments)}")
    for name, program in PROGRAMS.items()
    for arguments in program.arguments
]


def random_input(text: str, random: np.random.Generator) -> Array:
    """Small integers, so that sums and products of floats are exact."""
    type = parse_argument_type(text)
    dtype = numpy_dtype(type.element_type)
    is_signed = dtype.kind in "if" or dtype == ml_dtypes.bfloat16
    low, high = (-4, 5) if is_signed else (0, 2 if dtype.kind == "b" else 5)
    return random.integers(low, high, type.get_shape()).astype(dtype)


def run_pass(name: str, module: ModuleOp) -> None:
    get_all_passes()[name]()().apply(Context(), module)
    module.verify()


def several(result: Any) -> list[Any]:
    """The results of a program that may have but one."""
    return [*cast(tuple[Any, ...], result)] if isinstance(result, tuple) else [result]


def check(got: Sequence[Array], want: Sequence[Array], is_exact: bool) -> None:
    assert len(got) == len(want)
    for actual, desired in zip(got, want, strict=True):
        assert actual.shape == np.shape(desired)
        assert actual.dtype == np.asarray(desired).dtype
        if is_exact:
            np.testing.assert_array_equal(actual, desired)
        else:
            np.testing.assert_allclose(actual, desired, rtol=1e-5)


@pytest.mark.parametrize(("program", "arguments"), CASES)
def test_every_pass_keeps_the_meaning(
    program: Program, arguments: tuple[str, ...]
) -> None:
    random = np.random.default_rng(len(program.text) + len(arguments[0]))
    inputs = [random_input(text, random) for text in arguments]
    expected = several(cast(Any, program.meaning)(*inputs))

    symbolic = parse_tile(program.text)
    before = str(symbolic)
    module = specialize(symbolic, [parse_argument_type(text) for text in arguments])
    module.verify()
    assert str(symbolic) == before
    check(interpret(module, inputs), expected, program.is_exact)
    for name in PASSES:
        run_pass(name, module)
        check(interpret(module, inputs), expected, program.is_exact)


@pytest.mark.parametrize(("program", "arguments"), CASES)
def test_passes_work_without_canonicalization(
    program: Program, arguments: tuple[str, ...]
) -> None:
    random = np.random.default_rng(7)
    inputs = [random_input(text, random) for text in arguments]
    module = specialize(
        parse_tile(program.text), [parse_argument_type(text) for text in arguments]
    )
    expected = interpret(module, inputs)
    for name in ("tile-flatten", "lower-tile-to-stripe"):
        run_pass(name, module)
    check(interpret(module, inputs), expected, program.is_exact)


def test_every_op_keeps_a_location() -> None:
    text = PROGRAMS["sum with default"].text
    types = [parse_argument_type(t) for t in ("6xf32", "4x6xf32")]
    module = specialize(parse_tile(text, "sum.tile"), types)
    for name in PASSES:
        run_pass(name, module)
        places = [str(op.location) for op in module.walk()]
        assert all(place.startswith('loc("sum.tile":') for place in places), places


def test_outputs_are_buffers_of_their_own() -> None:
    program = PROGRAMS["inputs and results again"]
    module = specialize(parse_tile(program.text), [parse_argument_type("3xf32")])
    for name in PASSES:
        run_pass(name, module)
    given = np.array([1, 2, 3], np.float32)
    outputs = interpret(module, [given])
    returned = list(module.walk())[-1].operands
    assert len(set(returned)) == len(returned) == 4
    assert [list(output) for output in outputs] == [[1, 2, 3]] * 2 + [[2, 4, 6]] * 2
