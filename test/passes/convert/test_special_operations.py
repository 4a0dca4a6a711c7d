"""The special operations mean the same at every level and on the device.

What they mean is in `special_definitions`, as loops. Values are small integers, so that
all but random numbers are compared exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import special_definitions as definition
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from special_programs import check, levels, operation, program, run, type_of

from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass

Array = NDArray[Any]

INTERPRETED = ("tile", "lowered", "stripe")
"""The levels of the hypothesis tests."""

LEVELS = [level for level in levels() if level not in ("tile", "stripe")]
"""The levels of all other tests; with `opencl` runs what is at `stripe` too."""

INDEX_TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")


def generator(*seed: object) -> np.random.Generator:
    """Random numbers for a test case."""
    return np.random.default_rng([ord(letter) for letter in repr(seed)])


def integers(
    random: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32"
) -> Array:
    """Small integers of a type."""
    return np.asarray(random.integers(0, 9, shape) - 4).astype(dtype)


def places(
    random: np.random.Generator, shape: tuple[int, ...], size: int, dtype: str = "int32"
) -> Array:
    """Indices of an axis of `size`, of which some are out of bounds."""
    low = 0 if dtype.startswith("u") else -2
    return np.asarray(random.integers(low, size + 3, shape)).astype(dtype)


def with_options(options: Mapping[str, object]) -> str:
    """Options as the text of an op; those without a value are left out."""
    return " ".join(f"{name} {value}" for name, value in options.items() if value)


def bounds(zero: bool) -> str:
    return "zero" if zero else ""


# Gather.


def check_gather(
    values: Array, indices: Array, level: str, axis: int, batch: int, zero: bool
) -> None:
    options = {"axis": axis, "batch_dims": batch, "out_of_bounds": bounds(zero)}
    operands = {"V": values, "I": indices}
    expected = definition.gather(values, indices, axis, batch, zero)
    body = operation("gather", operands, expected, with_options(options))
    check(body, operands, {"R": expected}, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("values", "indices", "axis", "batch", "dtype"),
    [
        ((9, 40), (5, 6), 0, 0, "int32"),
        ((9, 40), (7,), 1, 0, "int64"),
        ((9,), (), 0, 0, "uint8"),
        ((5, 9, 33), (5, 4), 1, 1, "int16"),
        ((300,), (11,), 0, 0, "int8"),
        ((3, 4, 5, 2), (3, 4, 6), 2, 2, "uint64"),
    ],
)
def test_gather(
    values: tuple[int, ...],
    indices: tuple[int, ...],
    axis: int,
    batch: int,
    dtype: str,
    level: str,
) -> None:
    random = generator(values, indices)
    for zero in (False, True):
        index = places(random, indices, min(values[axis], 100), dtype)
        check_gather(integers(random, values), index, level, axis, batch, zero)


@settings(max_examples=60)
@given(data=st.data())
def test_random_gathers(data: st.DataObject) -> None:
    sizes = st.integers(1, 4)
    values = data.draw(st.lists(sizes, min_size=1, max_size=3), label="values")
    axis = data.draw(st.integers(0, len(values) - 1), label="axis")
    batch = data.draw(st.integers(0, axis), label="batch")
    more = data.draw(st.lists(sizes, max_size=2), label="indices")
    dtype = data.draw(st.sampled_from(INDEX_TYPES), label="dtype")
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    index = places(random, (*values[:batch], *more), values[axis], dtype)
    element = data.draw(st.sampled_from(["float32", "int8", "bool", "float64"]))
    array = integers(random, tuple(values), element)
    zero = data.draw(st.booleans(), label="zero")
    level = data.draw(st.sampled_from(INTERPRETED), label="level")
    check_gather(array, index, level, axis, batch, zero)


def check_gather_nd(
    values: Array, indices: Array, level: str, batch: int, zero: bool
) -> None:
    options = {"batch_dims": batch, "mode": "nd", "out_of_bounds": bounds(zero)}
    operands = {"V": values, "I": indices}
    expected = definition.gather_nd(values, indices, batch, zero)
    body = operation("gather", operands, expected, with_options(options))
    check(body, operands, {"R": expected}, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("values", "indices", "batch"),
    [((9, 40), (5, 2), 0), ((4, 5, 33), (3, 2, 2), 0), ((4, 5, 6), (4, 3, 1), 1)],
)
def test_gather_nd(
    values: tuple[int, ...], indices: tuple[int, ...], batch: int, level: str
) -> None:
    random = generator(values, indices)
    for zero in (False, True):
        index = places(random, indices, 5)
        check_gather_nd(integers(random, values), index, level, batch, zero)


@settings(max_examples=40)
@given(data=st.data())
def test_random_nd_gathers(data: st.DataObject) -> None:
    sizes = st.integers(1, 4)
    values = data.draw(st.lists(sizes, min_size=1, max_size=4), label="values")
    batch = data.draw(st.integers(0, len(values)), label="batch")
    depth = data.draw(st.integers(0, len(values) - batch), label="depth")
    more = data.draw(st.lists(sizes, max_size=2), label="indices")
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    index = places(random, (*values[:batch], *more, depth), 3)
    array = integers(random, tuple(values))
    zero = data.draw(st.booleans(), label="zero")
    level = data.draw(st.sampled_from(INTERPRETED), label="level")
    check_gather_nd(array, index, level, batch, zero)


# Scatter.


def check_scatter(
    updates: Array,
    indices: Array,
    base: Array,
    level: str,
    mode: str,
    axis: int,
    zero: bool,
) -> None:
    match mode:
        case "normal":
            size = base.shape[axis]
            expected = definition.scatter_add(updates, indices, size, axis, zero)
        case "update_slice":
            expected = definition.scatter_update(updates, indices, base, axis, zero)
        case "update_elt":
            expected = definition.scatter_elements(updates, indices, base, axis, zero)
        case _:
            expected = definition.scatter_nd(updates, indices, base, zero)
    options = {"axis": axis, "mode": mode, "out_of_bounds": bounds(zero)}
    operands = {"U": updates, "I": indices, "B": base}
    body = operation("scatter", operands, expected, with_options(options))
    check(body, operands, {"R": expected}, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("mode", "updates", "indices", "base", "axis"),
    [
        ("normal", (5, 6, 40), (5, 6), (9, 40), 0),
        ("normal", (3, 7, 5), (7,), (1, 9), 1),
        ("normal", (), (), (4,), 0),
        # More indices than cells: parts are added up apart, here of unequal length.
        ("normal", (131,), (131,), (3,), 0),
        ("normal", (2, 75, 3), (75,), (2, 4), 1),
        ("update_slice", (5, 6, 40), (5, 6), (9, 40), 0),
        ("update_slice", (3, 7, 5), (7,), (3, 9, 5), 1),
        ("update_elt", (4, 33), (4, 33), (9, 40), 0),
        ("update_elt", (9, 40), (9, 40), (9, 40), 1),
        ("update_nd", (6, 5, 33), (6, 5, 1), (9, 33), 0),
        ("update_nd", (30,), (30, 2), (9, 4), 0),
    ],
)
def test_scatter(
    mode: str,
    updates: tuple[int, ...],
    indices: tuple[int, ...],
    base: tuple[int, ...],
    axis: int,
    level: str,
) -> None:
    random = generator(mode, updates)
    for zero in (False, True):
        index = places(random, indices, base[axis])
        arrays = integers(random, updates), index, integers(random, base)
        check_scatter(*arrays, level, mode, axis, zero)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("updates", "indices", "base", "axis"),
    [
        ((40,), (40,), (9,), 0),
        ((131,), (131,), (3,), 0),
        ((2, 7, 5), (7,), (2, 9), 1),
        ((30, 2), (30,), (16, 2), 0),
    ],
)
def test_scatter_by_owners(
    monkeypatch: pytest.MonkeyPatch,
    updates: tuple[int, ...],
    indices: tuple[int, ...],
    base: tuple[int, ...],
    axis: int,
    level: str,
) -> None:
    """Points that go through all updates, each for cells of its own."""
    monkeypatch.setattr(LowerTileToStripePass, "owners", 16)
    random = generator(updates, base)
    for zero in (False, True):
        index = places(random, indices, base[axis])
        arrays = integers(random, updates), index, integers(random, base)
        check_scatter(*arrays, level, "normal", axis, zero)


@settings(max_examples=80)
@given(data=st.data())
def test_random_scatters(data: st.DataObject) -> None:
    sizes = st.integers(1, 4)
    mode = data.draw(
        st.sampled_from(["normal", "update_slice", "update_elt", "update_nd"])
    )
    base = tuple(data.draw(st.lists(sizes, min_size=1, max_size=3), label="base"))
    axis = data.draw(st.integers(0, len(base) - 1), label="axis")
    lead = tuple(data.draw(st.lists(sizes, max_size=2), label="lead"))
    if mode == "update_nd":
        axis, depth = 0, data.draw(st.integers(0, len(base)), label="depth")
        indices, updates = (*lead, depth), (*lead, *base[depth:])
    elif mode == "update_elt":
        drawn = [
            data.draw(st.integers(1, 6 if n == axis else size))
            for n, size in enumerate(base)
        ]
        indices = updates = tuple(drawn)
    else:
        indices, updates = lead, (*base[:axis], *lead, *base[axis + 1 :])
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    dtype = data.draw(st.sampled_from(INDEX_TYPES), label="dtype")
    element = data.draw(st.sampled_from(["float32", "int8", "float16", "uint64"]))
    check_scatter(
        integers(random, updates, element),
        places(random, indices, base[axis], dtype),
        integers(random, base, element),
        data.draw(st.sampled_from(INTERPRETED), label="level"),
        mode,
        axis,
        data.draw(st.booleans(), label="zero"),
    )


# Argsort.


def check_argsort(array: Array, axis: int, descending: bool, level: str) -> None:
    direction = "descending" if descending else "ascending"
    expected = definition.argsort(array, axis, descending)
    body = f"%R = tile.argsort %X axis {axis} {direction} : {type_of(array)}"
    check(body, {"X": array}, {"R": expected}, level)


def keys(
    random: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32"
) -> Array:
    """Keys with many ties; of floats some are NaN, infinite or a negative zero."""
    array = integers(random, shape, dtype)
    if array.dtype.kind == "f":
        special = np.asarray([np.nan, np.inf, -np.inf, -0.0], dtype)
        chosen = special[random.integers(0, 4, shape)]
        array = np.where(random.random(shape) < 0.3, chosen, array).astype(dtype)
    return array


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    [
        ((5, 7), 1, "float32"),
        ((9, 5), 0, "int8"),
        ((3, 64), 1, "float64"),
        ((40,), 0, "bool"),
        ((2, 1, 3), 1, "uint64"),
    ],
)
def test_argsort(
    shape: tuple[int, ...], axis: int, dtype: str, descending: bool, level: str
) -> None:
    check_argsort(keys(generator(shape), shape, dtype), axis, descending, level)


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize(
    ("shape", "axis", "dtype", "descending"),
    [
        ((2, 37), 1, "float32", False),
        ((67,), 0, "int16", True),
        ((18, 3), 0, "float16", True),
    ],
)
def test_long_argsort(
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    axis: int,
    dtype: str,
    descending: bool,
    level: str,
) -> None:
    """Merging, by short runs and chunks so that few keys take several rounds."""
    monkeypatch.setattr(LowerTileToStripePass, "run", 4)
    monkeypatch.setattr(LowerTileToStripePass, "chunk", 8)
    check_argsort(keys(generator(shape), shape, dtype), axis, descending, level)


def test_long_argsort_on_device() -> None:
    random = generator("long")
    array = keys(random, (3, 5001))
    expected = np.argsort(array, axis=1, kind="stable").astype(np.int32)
    body = f"%R = tile.argsort %X axis 1 ascending : {type_of(array)}"
    check(body, {"X": array}, {"R": expected}, levels()[-1])


# Random numbers.


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("lanes", "shape"),
    [(1, (2, 3)), (128, (10, 35)), (128, (3, 9)), (7, (4, 7)), (2048, (5000,))],
)
def test_prng(lanes: int, shape: tuple[int, ...], level: str) -> None:
    random = generator(lanes, shape)
    state = random.integers(0, 2**32, (3, lanes), np.uint32)
    if lanes == 1:
        state = state.reshape(1, 3)
    numbers, new_state = definition.prng(state, int(np.prod(shape)))
    outputs = {"R": numbers.reshape(shape), "T": new_state}
    sizes = ", ".join(map(str, shape))
    types = f"{type_of(state)} -> {type_of(outputs['R'])}"
    body = f"%R, %T = tile.prng %S -> [{sizes}] : {types}"
    check(body, {"S": state}, outputs, level)


@pytest.mark.parametrize("level", LEVELS)
def test_published_random_numbers(level: str) -> None:
    """The check vector of PlaidML's own test, which prints six digits."""
    state = np.asarray([[5, 6, 7]], np.uint32)
    types = f"{type_of(state)} -> tensor<2x3xf32>"
    body = f"%R, %T = tile.prng %S -> [2, 3] : {types}"
    printed = [9.31323e-10, 3.8147e-06, 0.0156251, 0.000244171, 0.000125885, 0.515625]
    outputs = {"R": np.zeros((2, 3), np.float32), "T": state}
    numbers, new_state = run(program(body, {"S": state}, outputs), [state], level)
    np.testing.assert_allclose(numbers.reshape(-1), printed, rtol=5e-6)
    np.testing.assert_array_equal(new_state, [[1052804, 0, 0]])


@pytest.mark.parametrize("level", LEVELS)
def test_prng_of_nothing(level: str) -> None:
    """Without a number the state stays."""
    state = np.arange(24, dtype=np.uint32).reshape(3, 8)
    types = f"{type_of(state)} -> tensor<0x3xf32>"
    body = f"%R, %T = tile.prng %S -> [0, 3] : {types}"
    outputs = {"R": np.zeros((0, 3), np.float32), "T": state}
    check(body, {"S": state}, outputs, level)


# Shapes.


@pytest.mark.parametrize("level", LEVELS)
def test_shapes(level: str) -> None:
    """Views, views of views, a view of an input and of a result, all returned."""
    x = integers(generator("x"), (4, 5))
    coordinates = np.broadcast_to(np.arange(5, dtype=np.int32), (4, 5))
    body = """
      %i = tile.index 1 : tensor<4x5xsi32>
      %s = tile.shape %x : tensor<4x5xf32>
      %flat = tile.reshape %x -> [20] : tensor<4x5xf32> -> tensor<20xf32>
      %double = eltwise.add %x, %x : tensor<4x5xf32>
      %other = tile.reshape %double -> [2, 10] : tensor<4x5xf32> -> tensor<2x10xf32>
      %again = tile.reshape %other -> [2, 5, 2] : tensor<2x10xf32> -> tensor<2x5x2xf32>
      %four = eltwise.add %other, %other : tensor<2x10xf32>
      %j = tile.reshape %i -> [20] : tensor<4x5xsi32> -> tensor<20xsi32>
      %one = eltwise.constant 7.0 : tensor<f32>
      %ones = tile.reshape %one -> [1, 1] : tensor<f32> -> tensor<1x1xf32>
    """
    outputs = {
        "i": coordinates.copy(),
        "s": np.asarray([4, 5], np.int32),
        "flat": x.reshape(-1),
        "double": x + x,
        "other": 2 * x.reshape(2, 10),
        "again": 2 * x.reshape(2, 5, 2),
        "four": 4 * x.reshape(2, 10),
        "j": coordinates.reshape(-1),
        "ones": np.full((1, 1), 7, np.float32),
    }
    check(body, {"x": x}, outputs, level)


@pytest.mark.parametrize("level", LEVELS)
def test_coordinates_in_a_contraction(level: str) -> None:
    """A contraction reads coordinates where it would read a buffer."""
    x = integers(generator("c"), (6, 9))
    body = """
      %i = tile.index 1 : tensor<6x9xsi32>
      %w = eltwise.cast %i : tensor<6x9xsi32> to tensor<6x9xf32>
      %y = tile.contract add over [m : 6 | k : 9] %x[m, k] * %w[m, k] -> [m : 6]
          : (tensor<6x9xf32>, tensor<6x9xf32>) -> tensor<6xf32>
      %z = tile.contract max over [m : 6 | k : 4] %i[m, 2 * k + 1] -> [m : 6]
          : (tensor<6x9xsi32>) -> tensor<6xsi32>
    """
    outputs = {"y": x @ np.arange(9, dtype=np.float32), "z": np.full(6, 7, np.int32)}
    check(body, {"x": x}, outputs, level)


@pytest.mark.parametrize("level", LEVELS)
def test_empty_tensors(level: str) -> None:
    """Where there is nothing to do, nothing is done; a base is still copied."""
    arrays = {
        "v": np.zeros((4, 0), np.float32),
        "w": np.ones((3, 2), np.float32),
        "i": np.zeros((0,), np.int32),
        "k": np.zeros((2,), np.int32),
        "u": np.zeros((0, 2), np.float32),
        "e": np.zeros((0, 2), np.float32),
    }
    body = """
      %a = tile.gather %v, %k : (tensor<4x0xf32>, tensor<2xsi32>) -> tensor<2x0xf32>
      %b = tile.gather %w, %i : (tensor<3x2xf32>, tensor<0xsi32>) -> tensor<0x2xf32>
      %c = tile.scatter %u, %i, %w
          : (tensor<0x2xf32>, tensor<0xsi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %d = tile.scatter %u, %i, %w mode update_slice
          : (tensor<0x2xf32>, tensor<0xsi32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %f = tile.argsort %v axis 1 ascending : tensor<4x0xf32>
      %g = tile.gather %e, %k out_of_bounds zero
          : (tensor<0x2xf32>, tensor<2xsi32>) -> tensor<2x2xf32>
      %h = tile.scatter %w, %j, %e out_of_bounds zero
          : (tensor<3x2xf32>, tensor<3xsi32>, tensor<0x2xf32>) -> tensor<0x2xf32>
    """
    arrays["j"] = np.zeros((3,), np.int32)
    outputs = {
        "a": np.zeros((2, 0), np.float32),
        "b": np.zeros((0, 2), np.float32),
        "c": np.zeros((3, 2), np.float32),
        "d": arrays["w"],
        "f": np.zeros((4, 0), np.int32),
        "g": np.zeros((2, 2), np.float32),
        "h": np.zeros((0, 2), np.float32),
    }
    check(body, arrays, outputs, level)


@pytest.mark.parametrize("level", LEVELS)
def test_tensors_without_a_buffer(level: str) -> None:
    """Coordinates and constants are written to memory where places are computed."""
    index, update = places(generator("b"), (7,), 5), integers(generator("u"), (7,))
    body = """
      %c = tile.index 0 : tensor<5xsi32>
      %a = tile.gather %c, %i : (tensor<5xsi32>, tensor<7xsi32>) -> tensor<7xsi32>
      %j = tile.index 0 : tensor<7xsi32>
      %b = tile.scatter %u, %j, %u mode update_slice
          : (tensor<7xf32>, tensor<7xsi32>, tensor<7xf32>) -> tensor<7xf32>
      %k = eltwise.constant 3.0 : tensor<f32>
      %l = tile.reshape %k -> [1] : tensor<f32> -> tensor<1xf32>
      %d = tile.gather %l, %i : (tensor<1xf32>, tensor<7xsi32>) -> tensor<7xf32>
      %m = eltwise.constant 2 : tensor<si32>
      %n = eltwise.constant 5.0 : tensor<f32>
      %e = tile.scatter %n, %m, %u
          : (tensor<f32>, tensor<si32>, tensor<7xf32>) -> tensor<7xf32>
      %s = tile.argsort %j axis 0 descending : tensor<7xsi32>
    """
    outputs = {
        "a": np.clip(index, 0, 4),
        "b": update,
        "d": np.full(7, 3, np.float32),
        "e": np.eye(7, dtype=np.float32)[2] * 5,
        "s": np.arange(7, dtype=np.int32)[::-1].copy(),
    }
    check(body, {"i": index, "u": update}, outputs, level)


# Types of 16 bits, which are stored but never computed with.


@pytest.mark.parametrize("level", LEVELS)
def test_half_precision(level: str) -> None:
    """Sums of f16 are those of f32, rounded once."""
    random = generator("half")
    updates = np.asarray(random.integers(0, 9, (60, 20)) / 8 + 1000).astype(np.float16)
    index, base = places(random, (60,), 3), np.zeros((3, 20), np.float16)
    exact = definition.scatter_add(updates.astype(np.float32), index, 3)
    operands = {"U": updates, "I": index, "B": base}
    expected = exact.astype(np.float16)
    body = operation("scatter", operands, expected)
    check(body, operands, {"R": expected}, level)
