"""Special operations at the tile level, against loops over their definitions."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import special_definitions as defined
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tile_texts import call, run

from gingham.errors import GinghamError
from gingham.targets.reference.special import random_numbers

Array = NDArray[Any]
TYPES = ["float32", "float64", "float16", "int8", "uint8", "int32", "uint64"]
INDEX_TYPES = ["int32", "int64", "int8", "uint8", "uint64", "int16"]

EXAMPLES = 40


class Drawing:
    """Draws arrays and options."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self._random = np.random.default_rng(self.integer(0, 2**32 - 1))

    def integer(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))

    def one_of(self, *options: Any) -> Any:
        return self._data.draw(st.sampled_from(options))

    def shape(self, low: int, high: int) -> tuple[int, ...]:
        return tuple(self.integer(1, 4) for _ in range(self.integer(low, high)))

    def values(self, shape: tuple[int, ...], dtype: str | None = None) -> Array:
        type = np.dtype(dtype or self.one_of(*TYPES))
        low = 0 if type.kind == "u" else -9
        return np.asarray(self._random.integers(low, 10, shape)).astype(type)

    def indices(self, shape: tuple[int, ...], size: int) -> Array:
        """Some of them out of bounds on either side."""
        dtype = np.dtype(self.one_of(*INDEX_TYPES))
        low = 0 if dtype.kind == "u" else -size - 1
        return np.asarray(self._random.integers(low, 2 * size + 2, shape)).astype(dtype)

    def bounds(self) -> tuple[bool, str]:
        zero = self.one_of(False, True)
        return zero, ", out_of_bounds=zero" if zero else ""

    def interpolation(self) -> tuple[dict[str, Any], str]:
        """How a gather interpolates, and the same as text."""
        options: dict[str, Any] = {
            "interpolation": self.one_of("nearest", "linear", "cubic"),
            "nearest_mode": self.one_of(
                "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"
            ),
            "cube_coefficient": self.one_of(-0.75, -0.5, 0.25),
        }
        return options, "".join(f", {key}={value}" for key, value in options.items())


def equal(result: Array, expected: Array) -> None:
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


# Gathers.


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_gather(data: st.DataObject) -> None:
    draw = Drawing(data)
    batch = draw.shape(0, 2)
    outer, own, inner = draw.shape(0, 1), draw.shape(0, 2), draw.shape(0, 1)
    size, axis = draw.integer(1, 5), len(batch) + len(outer)
    values = draw.values((*batch, *outer, size, *inner))
    indices = draw.indices((*batch, *own), size)
    zero, option = draw.bounds()
    written = draw.one_of(axis, axis - values.ndim)
    text = f"gather(A, B, axis={written}, batch_dims={len(batch)}{option})"
    expected = defined.gather(values, indices, axis, len(batch), zero)
    equal(call(text, values, indices), expected)


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_gather_nd(data: st.DataObject) -> None:
    draw = Drawing(data)
    batch, chosen, inner = draw.shape(0, 2), draw.shape(1, 2), draw.shape(0, 2)
    values = draw.values((*batch, *chosen, *inner))
    indices = draw.indices((*batch, *draw.shape(0, 1), len(chosen)), max(chosen))
    zero, option = draw.bounds()
    text = f"gather(A, B, mode=nd, batch_dims={len(batch)}{option})"
    equal(
        call(text, values, indices),
        defined.gather_nd(values, indices, len(batch), zero),
    )


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_interpolated_gather(data: st.DataObject) -> None:
    draw = Drawing(data)
    batch, outer, inner = draw.shape(0, 1), draw.shape(0, 1), draw.shape(0, 1)
    size, axis = draw.integer(1, 5), len(batch) + len(outer)
    values = draw.values((*batch, *outer, size, *inner))
    eighths = draw.values((*batch, *draw.shape(0, 1)), "float64")
    dtype = draw.one_of("float32", "float64", "float16")
    indices = np.asarray(eighths * 5 / 8).astype(dtype)
    zero, option = draw.bounds()
    options, words = draw.interpolation()
    text = f"gather(A, B, axis={axis}, batch_dims={len(batch)}{words}{option})"
    result = call(text, values, indices)
    expected = defined.interpolated_gather(
        values, indices, axis, len(batch), zero, **options
    )
    interpolated(result, expected, values, options)


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_interpolated_gather_nd(data: st.DataObject) -> None:
    draw = Drawing(data)
    batch, chosen, inner = draw.shape(0, 1), draw.shape(0, 2), draw.shape(0, 1)
    values = draw.values((*batch, *chosen, *inner))
    eighths = draw.values((*batch, *draw.shape(0, 1), len(chosen)), "float64")
    indices = np.asarray(eighths * 5 / 8).astype(np.float32)
    zero, option = draw.bounds()
    options, words = draw.interpolation()
    text = f"gather(A, B, mode=nd, batch_dims={len(batch)}{words}{option})"
    result = call(text, values, indices)
    expected = defined.interpolated_gather_nd(
        values, indices, len(batch), zero, **options
    )
    interpolated(result, expected, values, options)


def interpolated(
    result: Array, expected: Array, values: Array, options: dict[str, Any]
) -> None:
    """Check a gather that interpolates, and its type."""
    is_nearest = options["interpolation"] == "nearest"
    kept = is_nearest or values.dtype.kind == "f"
    assert result.dtype == (values.dtype if kept else np.float32)
    if is_nearest:
        expected = expected.astype(values.dtype)
    tolerance = 1e-2 if result.dtype == np.float16 else 1e-5
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=20 * tolerance)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("round_prefer_floor", [0, 1, 1, 1, 2, 3]),
        ("round_prefer_ceil", [0, 1, 2, 1, 3, 3]),
        ("floor", [0, 0, 1, 1, 2, 3]),
        ("ceil", [0, 1, 2, 2, 3, 3]),
        ("simple", [0, 0, 1, 1, 2, 3]),
    ],
)
def test_nearest_cells(mode: str, expected: list[int]) -> None:
    values = np.arange(4, dtype=np.int32)
    indices = np.array([-0.5, 0.75, 1.5, 1.25, 2.5, 1e30], np.float32)
    text = f"gather(A, B, interpolation=nearest, nearest_mode={mode})"
    assert call(text, values, indices).tolist() == expected


def test_indices_that_are_no_numbers() -> None:
    values = np.array([3, 4, 5], np.float32)
    indices = np.array([np.nan, np.inf, -np.inf], np.float32)
    nearest = call("gather(A, B, interpolation=nearest)", values, indices)
    assert nearest.tolist() == [3, 5, 3]
    linear = call("gather(A, B, interpolation=linear)", values, indices)
    assert np.isnan(linear).all()


def test_large_indices_are_clamped_and_do_not_wrap_around() -> None:
    values = np.arange(200, dtype=np.float32)
    assert call("gather(A, B)", values, np.array([127, -128], np.int8)).tolist() == [
        127,
        0,
    ]
    large = np.array([2**63 + 5, 2**64 - 1], np.uint64)
    assert call("gather(A, B)", values, large).tolist() == [199, 199]
    zeros = call("gather(A, B, out_of_bounds=zero)", values, large)
    assert zeros.tolist() == [0, 0]
    far = np.array([-(2**63), 2**63 - 1], np.int64)
    assert call("gather(A, B)", values, far).tolist() == [0, 199]


def test_a_literal_index() -> None:
    values = np.array([[3, 4], [5, 6]], np.float32)
    assert call("gather(A, 1)", values).tolist() == [5, 6]
    assert call("gather(A, 1, axis=1)", values).tolist() == [4, 6]
    halves = call("gather(A, 0.5, interpolation=linear)", values)
    assert halves.tolist() == [4, 5]


def test_cells_of_an_axis_without_any() -> None:
    empty, index = np.zeros((0, 2), np.float32), np.zeros(3, np.int32)
    with pytest.raises(GinghamError, match="an axis of A that has no cells"):
        call("gather(A, B)", empty, index)
    zeros = call("gather(A, B, out_of_bounds=zero)", empty, index)
    equal(zeros, np.zeros((3, 2), np.float32))
    equal(call("gather(A, B)", empty, index[:0]), np.zeros((0, 2), np.float32))


# Scatters.


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_scatter(data: st.DataObject) -> None:
    draw = Drawing(data)
    outer, own, inner = draw.shape(0, 1), draw.shape(0, 2), draw.shape(0, 2)
    size, axis = draw.integer(1, 4), len(outer)
    updates = draw.values((*outer, *own, *inner))
    indices = draw.indices(own, size)
    base = draw.values((*outer, size, *inner))
    zero, option = draw.bounds()
    text = f"scatter(A, B, C, axis={axis}{option})"
    with np.errstate(over="ignore"):
        expected = defined.scatter_add(updates, indices, size, axis, zero)
    equal(call(text, updates, indices, base), expected)
    updates = updates.astype(base.dtype)
    text = f"scatter(A, B, C, axis={axis - base.ndim}, mode=update_slice{option})"
    expected = defined.scatter_update(updates, indices, base, axis, zero)
    equal(call(text, updates, indices, base), expected)


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_scatter_of_elements(data: st.DataObject) -> None:
    draw = Drawing(data)
    shape = draw.shape(1, 3)
    axis = draw.integer(0, len(shape) - 1)
    base = draw.values(shape)
    fewer = [draw.integer(1, size) for size in shape]
    fewer[axis] = draw.integer(1, 6)
    updates = draw.values(tuple(fewer), str(base.dtype))
    indices = draw.indices(tuple(fewer), shape[axis])
    zero, option = draw.bounds()
    text = f"scatter(A, B, C, axis={axis}, mode=update_elt{option})"
    expected = defined.scatter_elements(updates, indices, base, axis, zero)
    equal(call(text, updates, indices, base), expected)


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_scatter_nd(data: st.DataObject) -> None:
    draw = Drawing(data)
    chosen, inner, own = draw.shape(1, 2), draw.shape(0, 1), draw.shape(0, 2)
    base = draw.values((*chosen, *inner))
    updates = draw.values((*own, *inner), str(base.dtype))
    indices = draw.indices((*own, len(chosen)), max(chosen))
    zero, option = draw.bounds()
    text = f"scatter(A, B, C, mode=update_nd{option})"
    expected = defined.scatter_nd(updates, indices, base, zero)
    equal(call(text, updates, indices, base), expected)


def test_scatter_types() -> None:
    """Counts of booleans, promotion of updates and base, literals as updates."""
    index = np.array([0, 0, 2], np.int32)
    flags = np.array([True, True, True])
    counts = call("scatter(A, B, C)", flags, index, np.zeros(3, np.float32))
    equal(counts, np.array([2, 0, 1], np.int32))
    mixed = call(
        "scatter(A, B, C, mode=update_slice)",
        np.array([1.5, 2.5, 3.5], np.float32),
        index,
        np.array([7, 8, 9], np.int64),
    )
    equal(mixed, np.array([2.5, 8, 3.5], np.float32))
    literal = call(
        "scatter(7, B, A, mode=update_slice)",
        np.array([1, 2, 3], np.float16),
        np.array(1, np.int32),
    )
    equal(literal, np.array([1, 7, 3], np.float16))


def test_sums_of_halves_are_rounded_once() -> None:
    ones = np.ones(3000, np.float16)
    total = call(
        "scatter(A, B, C)", ones, np.zeros(3000, np.int32), np.zeros(1, np.float16)
    )
    equal(total, np.array([3000], np.float16))


def test_updates_of_a_base_without_cells() -> None:
    empty, index = np.zeros(0, np.float32), np.zeros(2, np.int32)
    with pytest.raises(GinghamError, match="an axis of C that has no cells"):
        call("scatter(A, B, C)", np.ones(2, np.float32), index, empty)
    dropped = call(
        "scatter(A, B, C, out_of_bounds=zero)", np.ones(2, np.float32), index, empty
    )
    equal(dropped, empty)


# Order.


@given(st.data())
@settings(max_examples=EXAMPLES)
def test_argsort(data: st.DataObject) -> None:
    draw = Drawing(data)
    values = draw.values(draw.shape(1, 3), draw.one_of(*TYPES, "bool"))
    axis = draw.integer(0, values.ndim - 1)
    descending = draw.one_of(False, True)
    order = ", order=descending" if descending else draw.one_of("", ", order=ascending")
    text = f"argsort(A, {draw.one_of(axis, axis - values.ndim)}{order})"
    equal(call(text, values), defined.argsort(values, axis, descending))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_argsort_of_zeros_and_of_what_is_no_number(dtype: str) -> None:
    numbers = [np.nan, 0.0, -0.0, np.inf, -np.inf, np.nan, 0.0]
    type = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    values = np.array(numbers).astype(type)
    assert call("argsort(A)", values).tolist() == [4, 1, 2, 6, 3, 0, 5]
    descending = call("argsort(A, order=descending)", values)
    assert descending.tolist() == [3, 1, 2, 6, 4, 0, 5]


def test_argsort_of_the_least_and_greatest_integers() -> None:
    values = np.array([0, 2**63 - 1, -(2**63), 2**63 - 2], np.int64)
    assert call("argsort(A)", values).tolist() == [2, 0, 3, 1]
    assert call("argsort(A, order=descending)", values).tolist() == [1, 3, 0, 2]
    large = np.array([2**64 - 1, 0, 2**63], np.uint64)
    assert call("argsort(A, order=descending)", large).tolist() == [0, 2, 1]


# Random numbers.

PRNG = (
    "function (S) -> (V, T) "
    "{ P = prng_step(S, 2, 3); V = prng_value(P); T = prng_state(P); }"
)
CHECKED = [9.31323e-10, 3.8147e-06, 0.0156251, 0.000244171, 0.000125885, 0.515625]


def test_random_numbers_of_one_lane() -> None:
    """The vector that PlaidML's own test checks."""
    numbers, state = run(PRNG, np.array([[5, 6, 7]], np.uint32))
    assert numbers.dtype == np.float32
    np.testing.assert_allclose(numbers.reshape(-1), CHECKED, rtol=1e-5)
    equal(state, np.array([[1052804, 0, 0]], np.uint32))
    column = np.array([[5], [6], [7]], np.uint32)
    same, below = run(PRNG, column)
    equal(same, numbers)
    equal(below, state.T)


@given(st.integers(1, 9), st.integers(0, 25), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_random_numbers_of_several_lanes(lanes: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    state = random.integers(0, 2**32, (3, lanes)).astype(np.uint32)
    numbers, after = random_numbers(state, count)
    expected, expected_after = defined.prng(state, count)
    equal(numbers, expected)
    equal(after, expected_after)


def test_random_numbers_go_on_from_the_state() -> None:
    random = np.random.default_rng(0)
    state = random.integers(0, 2**32, (3, 4)).astype(np.uint32)
    text = (
        "function (S) -> (V, W, T) { P = prng_step(S, 8); V = prng_value(P); "
        "Q = prng_step(prng_state(P), 5); W = prng_value(Q); T = prng_state(Q); }"
    )
    first, second, after = run(text, state)
    whole, end = random_numbers(state, 13)
    equal(np.concatenate([first, second]), whole)
    equal(after, end)


def test_random_numbers_are_spread_evenly() -> None:
    state = np.random.default_rng(0).integers(2**10, 2**32, (3, 2048)).astype(np.uint32)
    numbers, _ = random_numbers(state, 2**18)
    assert 0 <= numbers.min() <= numbers.max() <= 1
    assert abs(numbers.mean() - 0.5) < 0.005
    assert abs(numbers.std() - math.sqrt(1 / 12)) < 0.005


# Shapes and coordinates.


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 3, 4), (0, 2)])
def test_shape_and_index(shape: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.float16)
    equal(call("shape(A)", values), np.array(shape, np.int32))
    for axis in range(len(shape)):
        expected = np.indices(shape, np.int32)[axis]
        equal(call(f"index(A, {axis})", values), expected)
        equal(call(f"index(A, {axis - len(shape)})", values), expected)


def test_reshape() -> None:
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    equal(call("reshape(A, 4, 6)", values), values.reshape(4, 6))
    equal(call("reshape(A, 24, 1)", values), values.reshape(24, 1))
    equal(call("reshape(A)", values[:1, :1, :1]), values[0, 0, 0])
    equal(call("reshape(2, 1, 1)"), np.array([[2]], np.int32))
    text = "function (A[M, N, K]) -> (R) { R = reshape(A, K, M * N); }"
    equal(run(text, values)[0], values.reshape(4, 6))


@pytest.mark.parametrize(
    ("target", "axes"),
    [("2, 3, 4", ()), ("3, 4", (0,)), ("1, 4", (0, 1)), ("", (0, 1, 2)),
     ("2, 1, 4", (1,)), ("1", (0, 1, 2))],
)  # fmt: skip
def test_simple_reduce(target: str, axes: tuple[int, ...]) -> None:
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    arguments = f"A, {target}" if target else "A"
    result = call(f"simple_reduce({arguments})", values)
    shape = [int(size) for size in target.split(", ")] if target else []
    equal(result, np.sum(values, axis=axes, keepdims=True).reshape(shape))


# Functions that are made of others.


def test_softmax() -> None:
    values = np.random.default_rng(0).normal(0, 30, (3, 5)).astype(np.float32)
    text = """function (X[M, N]) -> (S, L) {
      S = builtin_softmax(X, M, N);
      L = builtin_logsoftmax(X, M, N);
    }"""
    softmax, logarithm = run(text, values)
    exact = values.astype(np.float64)
    powers = np.exp(exact - exact.max(1, keepdims=True))
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(softmax, expected, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(logarithm, np.log(expected), rtol=1e-5, atol=1e-5)


def test_binary_crossentropy() -> None:
    random = np.random.default_rng(0)
    outputs = random.uniform(0.01, 0.99, (2, 3)).astype(np.float32)
    targets = random.uniform(0, 1, (2, 3)).astype(np.float32)
    result = call("builtin_binary_crossentropy(A, B, 6)", outputs, targets)
    expected = -targets * np.log(outputs) - (1 - targets) * np.log(1 - outputs)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_small_functions() -> None:
    a, b = np.array([2, 0, 3], np.int32), np.array([1.5, -0.5, 0], np.float32)
    equal(call("mad(A, B, 1)", a, b), a.astype(np.float32) * b + 1)
    equal(call("as_bool(A)", a), np.array([True, False, True]))
    equal(call("reverse_grad(B, 2)", a, b), b)
