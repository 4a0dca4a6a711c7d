"""`tile-expand-gather`: what it makes means what the definition says, everywhere.

Values and cube coefficients are such that f32 is exact up to a few roundings; indices
are multiples of 1/8, among them integers and halves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import special_definitions as definition
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from special_programs import levels, module_of, operation, program, run

import gingham
from gingham.errors import GinghamError
from gingham.targets.reference import interpret

Array = NDArray[Any]

NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")
INTERPOLATIONS = ("linear", "cubic", *NEAREST)


def options_of(kind: str, axis: int, batch: int, zero: bool) -> tuple[str, str, str]:
    """The options as text, the interpolation and the nearest mode."""
    interpolation = "nearest" if kind in NEAREST else kind
    mode = kind if kind in NEAREST else NEAREST[0]
    text = f"axis {axis} batch_dims {batch} interpolation {interpolation} "
    text += f"nearest_mode {mode} cube_coefficient -0.5 "
    return text + ("out_of_bounds zero" if zero else ""), interpolation, mode


def inputs_of(
    seed: int, values: tuple[int, ...], indices: tuple[int, ...], axis: int
) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    low, high = -16, 8 * values[axis] + 16
    return (
        np.asarray(random.integers(-9, 9, values), np.float32),
        np.asarray(random.integers(low, high, indices) / 8, np.float32),
    )


def text_and_result(
    values: Array, indices: Array, kind: str, axis: int, batch: int, zero: bool
) -> tuple[str, Array]:
    """A program, and what it has to give."""
    options, interpolation, mode = options_of(kind, axis, batch, zero)
    exact = definition.interpolated_gather(
        values, indices, axis, batch, zero, interpolation, mode, -0.5
    )
    expected = exact.astype(values.dtype)
    operands = {"V": values, "X": indices}
    body = operation("gather", operands, expected, options)
    return program(body, operands, {"R": expected}), expected


def assert_close(got: Array, expected: Array) -> None:
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, strict=True)


@settings(max_examples=60)
@given(data=st.data())
def test_random_gathers(data: st.DataObject) -> None:
    sizes = st.integers(1, 4)
    values = tuple(data.draw(st.lists(sizes, min_size=1, max_size=3), label="values"))
    axis = data.draw(st.integers(0, len(values) - 1), label="axis")
    batch = data.draw(st.integers(0, axis), label="batch")
    more = data.draw(st.lists(sizes, max_size=2), label="indices")
    kind = data.draw(st.sampled_from(INTERPOLATIONS), label="kind")
    seed = data.draw(st.integers(0, 99), label="seed")
    arrays = inputs_of(seed, values, (*values[:batch], *more), axis)
    zero = data.draw(st.booleans(), label="zero")
    text, expected = text_and_result(*arrays, kind, axis, batch, zero)
    module = module_of(text, "tile-expand-gather")
    assert "interpolation" not in str(module)
    (result,) = interpret(module, arrays)
    assert_close(result, expected)
    (direct,) = interpret(module_of(text), arrays)
    assert_close(direct, expected)


@settings(max_examples=40)
@given(data=st.data())
def test_random_gathers_along_several_axes(data: st.DataObject) -> None:
    sizes = st.integers(1, 4)
    batch = data.draw(st.lists(sizes, max_size=1), label="batch")
    chosen = data.draw(st.lists(sizes, max_size=3), label="chosen")
    inner = data.draw(st.lists(sizes, max_size=1), label="inner")
    more = data.draw(st.lists(sizes, max_size=1), label="more")
    kind = data.draw(st.sampled_from(INTERPOLATIONS), label="kind")
    zero = data.draw(st.booleans(), label="zero")
    random = np.random.default_rng(data.draw(st.integers(0, 99), label="seed"))
    shape = (*batch, *chosen, *inner)
    values = np.asarray(random.integers(-9, 9, shape), np.float32)
    places = random.integers(-16, 48, (*batch, *more, len(chosen)))
    arrays = (values, np.asarray(places / 8, np.float32))
    options, interpolation, mode = options_of(kind, 0, len(batch), zero)
    options = options.replace("interpolation", "mode nd interpolation")
    expected = definition.interpolated_gather_nd(
        *arrays, len(batch), zero, interpolation, mode, -0.5
    ).astype(np.float32)
    operands = {"V": arrays[0], "X": arrays[1]}
    body = operation("gather", operands, expected, options)
    text = program(body, operands, {"R": expected})
    (result,) = interpret(module_of(text, "tile-expand-gather"), arrays)
    assert_close(result, expected)
    (direct,) = interpret(module_of(text), arrays)
    assert_close(direct, expected)


@pytest.mark.parametrize("level", [levels()[0], levels()[-1]])
@pytest.mark.parametrize("kind", ["linear", "cubic", "round_prefer_floor"])
def test_whole_way(kind: str, level: str) -> None:
    arrays = inputs_of(len(kind), (3, 9, 20), (3, 14), 1)
    for zero in (False, True):
        text, expected = text_and_result(*arrays, kind, 1, 1, zero)
        (result,) = run(text, arrays, level)
        assert_close(result, expected)


@pytest.mark.parametrize("level", [levels()[0], levels()[-1]])
def test_strange_indices(level: str) -> None:
    """Indices that no integer holds are out of bounds; NaN means cell 0."""
    values = np.asarray([3, 5, 7], np.float32)
    indices = np.asarray([1e30, -1e30, np.inf, -np.inf, np.nan], np.float32)
    for zero, expected in ((False, [7, 3, 7, 3, 3]), (True, [0, 0, 0, 0, 3])):
        options, _, _ = options_of("floor", 0, 0, zero)
        result = np.asarray(expected, np.float32)
        operands = {"V": values, "X": indices}
        body = operation("gather", operands, result, options)
        text = program(body, operands, {"R": result})
        (got,) = run(text, [values, indices], level)
        np.testing.assert_array_equal(got, result, strict=True)


def test_one_kernel() -> None:
    """All cells of an interpolation are read by one block, which weighs them too."""
    arrays = inputs_of(0, (9, 40), (7,), 0)
    text, _ = text_and_result(*arrays, "linear", 0, 0, False)
    module = module_of(
        text, "tile-expand-gather,tile-canonicalize,lower-tile-to-stripe,stripe-fuse"
    )
    assert str(module).count("stripe.block") == 2


@pytest.mark.parametrize("level", [levels()[0], levels()[-1]])
def test_positions_outside_are_zero(level: str) -> None:
    """PlaidML's numbers: the neighbours of a position inside are clamped."""
    values = np.asarray([0, 1, 8, 5, 5, 2], np.float32)
    indices = np.asarray([-0.25, 4.25, 4.75, 5, 5.25], np.float32)
    for kind, expected in (
        ("linear", [0, 4.25, 2.75, 2, 0]),
        ("cubic", [0, 4.390625, 2.609375, 2, 0]),
    ):
        text, defined = text_and_result(values, indices, kind, 0, 0, True)
        (result,) = run(text, [values, indices], level)
        assert_close(result, np.asarray(expected, np.float32))
        assert_close(defined, result)


def test_too_many_cells() -> None:
    arrays = np.zeros((2,) * 4, np.float32), np.zeros((3, 4), np.float32)
    text = "function (V, I) -> (O) { O = gather(V, I, mode=nd, interpolation=cubic); }"
    with pytest.raises(GinghamError, match="along 4 axes is between 256 cells"):
        gingham.compile(text, device="reference")(*arrays)
