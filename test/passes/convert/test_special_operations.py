"""Sorting, random numbers, shapes mean the same at every level and on the device.

What they mean is in `special_definitions`, as loops. Values are small integers, so that
all but random numbers are compared exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import special_definitions as definition
from numpy.typing import NDArray
from special_operands import generator, integers, places
from special_programs import check, compiled_levels, levels, program, run, type_of

from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass

Array = NDArray[Any]

LEVELS = compiled_levels()


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
