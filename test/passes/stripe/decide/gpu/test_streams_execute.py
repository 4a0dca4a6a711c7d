"""Blocks in which nothing aggregates, shared by lanes, against NumPy."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.passes.pipelines import PIPELINES

Array = NDArray[Any]
HARDWARE = PIPELINES["opencl-gpu"].hardware


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(len(shape)).integers(-99, 99, shape).astype(dtype)


def compiled(text: str) -> gingham.Function:
    return gingham.compile(text, hardware=HARDWARE)


@pytest.mark.parametrize("size", [1, 3, 5, 255, 1024, 4099, 100_001])
def test_a_range_of_any_length(size: int) -> None:
    x, y = numbers(size), numbers(size)[::-1].copy()
    f = compiled("function (A[N], B[N]) -> (O) { O = A * B + A; }")
    np.testing.assert_array_equal(f(x, y), x * y + x)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int64, np.bool_])
def test_elements_of_other_sizes(dtype: Any) -> None:
    x = numbers(77, 131, dtype=dtype)
    f = compiled("function (A[M, N]) -> (O) { O = A == A; }")
    np.testing.assert_array_equal(f(x), x == x)


@pytest.mark.parametrize(
    "shape", [(70, 65), (33, 129), (5, 300), (300, 3), (1, 77), (64, 128), (700, 2)]
)
def test_a_matrix_is_transposed(shape: tuple[int, int]) -> None:
    x = numbers(*shape)
    f = compiled("function (A[M, N]) -> (O) { O[j, i : N, M] = =(A[i, j]); }")
    np.testing.assert_array_equal(f(x), x.T)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_axes_in_any_order(order: tuple[int, ...]) -> None:
    x, indices, sizes = numbers(9, 66, 35), "ijk", "LMN"
    access = ", ".join(indices[axis] for axis in order)
    shape = ", ".join(sizes[axis] for axis in order)
    f = compiled(
        f"function (A[L, M, N]) -> (O) {{ O[{access} : {shape}] = =(A[i, j, k]); }}"
    )
    np.testing.assert_array_equal(f(x), x.transpose(order))


def test_one_input_across_and_one_along() -> None:
    x, y, z = numbers(70, 65), numbers(65, 70), numbers(70)
    f = compiled(
        "function (A[M, N], B[N, M], C[M]) -> (O) {"
        " T[j, i : N, M] = =(A[i, j]); O = T * B + C; }"
    )
    np.testing.assert_array_equal(f(x, y, z), x.T * y + z)


def test_rows_are_gathered() -> None:
    x, rows = numbers(50, 33), np.arange(200, dtype=np.int32) * 7 % 50
    f = compiled("function (T[V, D], I[N]) -> (O) { O = gather(T, I); }")
    np.testing.assert_array_equal(f(x, rows), x[rows])


def test_a_copy_with_a_border() -> None:
    x = numbers(37, 130)
    f = compiled(
        "function (A[M, N]) -> (O) { O[i + 1, j + 2 : M + 3, N + 3] = =(A[i, j]); }"
    )
    np.testing.assert_array_equal(f(x), np.pad(x, ((1, 2), (2, 1))))


@pytest.mark.parametrize(
    "text",
    [
        # Windows that overlap, and channels as vectors.
        "O[n, i, j, c : 2, 9, 13, 12] = >(A[n, 2 * i + a, j + b, c]), a < 3, b < 3;",
        # Each channel has weights of its own.
        "O[n, i, j, c : 2, 9, 13, 12] = +(A[n, 2 * i + a, j + b, c] * W[a, b, c]);",
    ],
)
def test_cells_of_several_points(text: str) -> None:
    x, w = numbers(2, 20, 15, 12), numbers(3, 3, 12)
    program = f"function (A[N, H, Y, C], W[P, Q, C]) -> (O) {{ {text} }}"
    expected = gingham.compile(program, device="reference")(x, w)
    np.testing.assert_array_equal(compiled(program)(x, w), expected)


def test_places_on_which_points_meet() -> None:
    x, rows = numbers(300, 70), np.arange(300, dtype=np.int32) * 7 % 50
    f = compiled("function (T[N, D], I[N], U[V, D]) -> (O) { O = scatter(T, I, U); }")
    expected = np.zeros((50, 70), np.float32)
    np.add.at(expected, rows, x)
    np.testing.assert_array_equal(f(x, rows, np.zeros((50, 70), np.float32)), expected)


def test_a_nest_whose_points_are_for_single_work_items() -> None:
    x = numbers(300, 70)
    f = compiled("function (A[M, N]) -> (O) { O = argsort(A, 1); }")
    np.testing.assert_array_equal(f(x), np.argsort(x, 1, kind="stable"))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sizes", [(50, 30), (64, 64, 7), (3, 1)])
def test_arrays_one_behind_the_other(sizes: tuple[int, ...], axis: int) -> None:
    parts = [numbers(size, 20) if axis == 0 else numbers(20, size) for size in sizes]
    names = "ABC"[: len(sizes)]
    total = " + ".join(f"{name}L" for name in names)
    inputs: list[str] = []
    steps: list[str] = []
    before, default = "", ""
    for name in names:
        inputs.append(f"{name}[{name}L, N]" if axis == 0 else f"{name}[M, {name}L]")
        rows = f"i{before}, j : {total}, N"
        columns = f"i, j{before} : M, {total}"
        access = rows if axis == 0 else columns
        steps.append(f"O{name}[{access}] = =({name}[i, j]){default};")
        before, default = f"{before} + {name}L", f" default O{name}"
    outputs = f"O{names[-1]}"
    text = f"function ({', '.join(inputs)}) -> ({outputs}) {{ {' '.join(steps)} }}"
    np.testing.assert_array_equal(compiled(text)(*parts), np.concatenate(parts, axis))


@pytest.mark.parametrize("count", [320, 333])
def test_random_numbers_step_by_step(count: int) -> None:
    state = np.random.default_rng(1).integers(0, 2**32, (3, 64), dtype=np.uint32)
    text = (
        f"function (S[K, L]) -> (O, T) {{ R = prng_step(S, {count}, 1);"
        " O = prng_value(R); T = prng_state(R); }"
    )
    expected = gingham.compile(text, device="reference")(state)
    for found, wanted in zip(compiled(text)(state), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("aggregation", ["+", ">"])
@pytest.mark.parametrize(
    ("size", "channels", "taps", "step"),
    [(56, 32, 3, 1), (29, 64, 3, 1), (33, 36, 3, 2), (7, 128, 3, 1)],
)
def test_windows_are_in_registers(
    aggregation: str, size: int, channels: int, taps: int, step: int
) -> None:
    x, k = numbers(2, size, size, channels), numbers(taps, taps, channels)
    border, count = taps // 2, -(-size // step)
    f = gingham.compile(
        "function (I[N, X, Y, C], K[P, Q, C]) -> (O) {"
        f" O[n, x, y, c : N, {count}, {count}, C] = {aggregation}(I[n,"
        f" {step} * x + p - {border}, {step} * y + q - {border}, c] * K[p, q, c]); }}",
        hardware="nvidia-h200:lanes.loop_cycles=999",
    )
    padded = np.full((2, size + 2 * border, size + 2 * border, channels), np.nan)
    padded[:, border : border + size, border : border + size] = x
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), (1, 2))
    products = windows[:, ::step, ::step] * k.transpose(2, 0, 1)
    sums = {"+": np.nansum, ">": np.nanmax}[aggregation](products, (-2, -1))
    np.testing.assert_allclose(f(x, k), sums, rtol=1e-5)
    assert "_stage[" in f.source(x, k)
