"""Scatter means the same at every level and on the device.

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

from gingham.passes.convert.lower_tile_to_stripe import LowerTileToStripePass

Array = NDArray[Any]

LEVELS = compiled_levels()


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
