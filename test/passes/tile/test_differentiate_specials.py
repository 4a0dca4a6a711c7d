"""Gradients through what moves elements: reshape, gather and scatter of every mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gradients import Array, assert_gradient, gradients, specialized

from gingham.targets.reference import interpret

NAMES = {
    "float64": "f64",
    "int8": "si8",
    "uint8": "ui8",
    "int32": "si32",
    "uint32": "ui32",
    "int64": "si64",
    "uint64": "ui64",
}


def tensor_type(array: Array) -> str:
    return f"tensor<{'x'.join([*map(str, array.shape), NAMES[array.dtype.name]])}>"


def function(op: str, arrays: Sequence[Array], shape: tuple[int, ...]) -> str:
    """An op of all arguments, its result multiplied by itself."""
    values = [f"%a{number}" for number in range(len(arrays))]
    types = [tensor_type(array) for array in arrays]
    declared = ", ".join(f"{v}: {t}" for v, t in zip(values, types, strict=True))
    result = tensor_type(np.zeros(shape))
    name, _, options = op.partition(" ")
    return f"""func.func @main({declared}) -> {result} {{
      %r = {name} {", ".join(values)} {options} : ({", ".join(types)}) -> {result}
      %s = eltwise.mul %r, %r : {result}
      func.return %s : {result}
    }}"""


def some(*shape: int, seed: int = 1) -> Array:
    """Small integers as f64: differences of squares of these are exact."""
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    return np.asarray(values, np.float64)


def indices(size: int, *shape: int, type: Any = np.int32, seed: int = 2) -> Array:
    """Indices with duplicates, some of them out of bounds."""
    low = 0 if np.issubdtype(type, np.unsignedinteger) else -2
    return np.random.default_rng(seed).integers(low, size + 2, shape).astype(type)


def check(op: str, arrays: list[Array], shape: tuple[int, ...]) -> None:
    """The function is quadratic, so that differences of any step are exact."""
    text = function(op, arrays, shape)
    found = assert_gradient(text, arrays, step=1, tolerance=1e-12)
    assert all(np.any(gradient != 0) for gradient in found)


@pytest.mark.parametrize("bounds", ["", " out_of_bounds zero"])
@pytest.mark.parametrize(
    ("options", "values", "index", "result"),
    [
        ("", (5,), (7,), (7,)),
        ("", (5, 3), (2, 4), (2, 4, 3)),
        ("axis 1", (3, 5), (4,), (3, 4)),
        ("axis 1", (2, 5, 3), (2, 2), (2, 2, 2, 3)),
        ("axis 1 batch_dims 1", (3, 5), (3, 4), (3, 4)),
        ("axis 2 batch_dims 1", (3, 2, 5, 2), (3, 4), (3, 2, 4, 2)),
        ("axis 2 batch_dims 2", (3, 2, 5), (3, 2, 6), (3, 2, 6)),
        ("mode nd", (5, 4), (6, 2), (6,)),
        ("mode nd", (5, 4, 2), (3, 2, 1), (3, 2, 4, 2)),
        ("batch_dims 1 mode nd", (3, 5, 4, 2), (3, 6, 2), (3, 6, 2)),
        ("batch_dims 1 mode nd", (3, 5, 2), (3, 1), (3, 2)),
    ],
)
def test_gather(
    options: str,
    values: tuple[int, ...],
    index: tuple[int, ...],
    result: tuple[int, ...],
    bounds: str,
) -> None:
    arrays = [some(*values), indices(4, *index)]
    check(f"tile.gather {options}{bounds}", arrays, result)


@pytest.mark.parametrize("type", [np.int8, np.uint8, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("options", ["", "mode nd out_of_bounds zero"])
def test_gather_by_indices_of_any_type(type: Any, options: str) -> None:
    index = indices(300, 40, 1, type=type)
    if not options:
        index = index[:, 0]
    check(f"tile.gather {options}", [some(300, seed=3), index], (40,))


@pytest.mark.parametrize("bounds", ["", " out_of_bounds zero"])
@pytest.mark.parametrize(
    ("options", "updates", "index", "base"),
    [
        ("", (7,), (7,), (5,)),
        ("", (2, 4, 3), (2, 4), (5, 3)),
        ("axis 1", (3, 4, 2), (4,), (3, 5, 2)),
        ("mode update_slice", (4, 3), (4,), (5, 3)),
        ("mode update_slice", (8,), (8,), (4,)),
        ("axis 1 mode update_slice", (3, 2, 2, 2), (2, 2), (3, 5, 2)),
        ("mode update_elt", (8,), (8,), (5,)),
        ("mode update_elt", (6, 2), (6, 2), (5, 3)),
        ("axis 1 mode update_elt", (2, 6), (2, 6), (3, 4)),
        ("mode update_nd", (6, 3), (6, 1), (5, 3)),
        ("mode update_nd", (9,), (9, 2), (4, 4)),
    ],
)
def test_scatter(
    options: str,
    updates: tuple[int, ...],
    index: tuple[int, ...],
    base: tuple[int, ...],
    bounds: str,
) -> None:
    arrays = [some(*updates), indices(4, *index), some(*base, seed=5)]
    text = function(f"tile.scatter {options}{bounds}", arrays, base)
    by_updates, by_base = assert_gradient(text, arrays, step=1, tolerance=1e-12)
    assert np.any(by_updates != 0)
    # Sums do not read the base.
    assert np.any(by_base != 0) == ("mode" in options)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
@pytest.mark.parametrize("options", ["", "mode=nd", "mode=nd, batch_dims=1"])
def test_gather_between_cells_along_axes(kind: str, options: str) -> None:
    """By values and by positions; a position outside has nothing of either."""
    random = np.random.default_rng(7)
    values = random.normal(size=(3, 3, 4) if "batch" in options else (3, 4))
    places = random.uniform(-1, 4, (3, 5, 2) if options else (5,))
    # No difference crosses an edge between two cells.
    places = np.where(abs(places - np.rint(places)) < 0.1, 0.5, places)
    for bounds in ("", ", out_of_bounds=zero"):
        text = f"""function (V, I) -> (Z) {{
          Y = gather(V, I, {options or "axis=1"}, interpolation={kind}{bounds});
          Z = Y * Y;
        }}"""
        found = assert_gradient(text, [values, places])
        assert all(np.any(gradient != 0) for gradient in found)


def test_second_derivatives() -> None:
    """A scatter is the derivative of a gather, and has one itself."""
    v, i, w = some(5, 2), indices(4, 6), some(5, 2, seed=7)
    types = [tensor_type(a) for a in (v, i, w)]
    text = f"""func.func @main(%v: {types[0]}, %i: {types[1]}, %w: {types[2]})
        -> {types[0]} {{
      %r = tile.gather %v, %i : ({types[0]}, {types[1]}) -> tensor<6x2xf64>
      %s = eltwise.mul %r, %r : tensor<6x2xf64>
      %g = tile.gradient %s, %v : tensor<6x2xf64>, {types[0]}
      %t = eltwise.mul %g, %w : {types[0]}
      %h = tile.gradient %t, %v : {types[0]}, {types[0]}
      func.return %h : {types[0]}
    }}"""
    (found,) = interpret(specialized(text, []), [v, i, w])
    counts = np.bincount(np.clip(i, 0, 4), minlength=5)
    np.testing.assert_array_equal(found, 2 * counts[:, None] * w)


@pytest.mark.parametrize("interpolation", ["nearest", "linear", "cubic"])
def test_gather_between_cells(interpolation: str) -> None:
    """By the values, and, where cells are weighted, by the indices."""
    random = np.random.default_rng(3)
    values = random.uniform(-1, 1, (6, 2))
    places = random.uniform(-0.4, 5.4, 9)
    op = f"tile.gather interpolation {interpolation}"
    by_values, by_indices = assert_gradient(
        function(op, [values, places], (9, 2)), [values, places]
    )
    assert np.any(by_values != 0)
    assert np.any(by_indices != 0) == (interpolation != "nearest")


def test_reshape() -> None:
    text = """function (X[N, M], W) -> (Y) {
      R = reshape(X, M, N) * W; T[i, j : N, M] = =(R[j, i]); Y = T * X;
    }"""
    assert_gradient(text, [some(3, 4), some(3)], step=0.5, tolerance=1e-12)


@pytest.mark.parametrize(
    "expression",
    [
        "as_float(index(X, 0), 64)",
        "as_float(argsort(X), 64)",
        "as_float(as_int(X, 32), 64)",
        "as_float(X > 0, 64)",
    ],
)
def test_integers_stop_gradients(expression: str) -> None:
    x = some(4)
    (found,) = gradients(f"function (X) -> (Y) {{ Y = {expression} * X; }}", [x])
    (held,) = interpret(
        specialized(f"function (X) -> (Y) {{ Y = {expression}; }}", [x]), [x]
    )
    np.testing.assert_array_equal(found, held)


def test_random_numbers_are_constants() -> None:
    text = """function (X[N], S) -> (Y) {
      R = prng_step(S, N); Y = as_float(prng_value(R), 64) * X;
    }"""
    state = np.array([[5, 6, 7]], np.uint32)
    (found,) = gradients(text, [some(3), state], ["X"])
    assert np.all((found >= 0) & (found < 1))
    assert np.unique(found).size == 3
