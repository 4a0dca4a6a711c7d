"""Gather means the same at every level and on the device.

What it means is in `special_definitions`, as loops. Values are small integers, so that
all is compared exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import special_definitions as definition
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from special_operands import (
    INDEX_TYPES,
    bounds,
    generator,
    integers,
    places,
    with_options,
)
from special_programs import INTERPRETED, check, compiled_levels, operation

Array = NDArray[Any]

LEVELS = compiled_levels()


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
