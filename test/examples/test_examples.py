"""The programs under examples/ compute what they say, by NumPy, on odd shapes too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import special_definitions as definition
from numpy.typing import NDArray

import gingham

Array = NDArray[Any]
Shape = tuple[int, ...]
Meaning = Callable[[list[Array]], Array | tuple[Array, ...]]

EXAMPLES = Path(__file__).parents[2] / "examples"


def cross_entropy(targets: Array, predictions: Array) -> Array:
    return -(targets * np.log(predictions)).sum(axis=1)


def pool(values: Array, size: int) -> Array:
    return np.array([values[2 * i : 2 * i + 2].max() for i in range(size)])


def skip(values: Array) -> Array:
    result = np.zeros(values.shape[1])
    for i in range(0, min(values.shape), 2):
        result[i] = values[i].sum()
    return result


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def attention(q: Array, k: Array, v: Array) -> Array:
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
    return np.stack([softmax(head) for head in scores]) @ v


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    variance = x.var(axis=1, keepdims=True)
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(variance + 1e-5) * scale + bias


def conv_1d(image: Array, kernel: Array) -> Array:
    length = image.shape[1] - kernel.shape[0] + 1
    windows = [image[:, k : k + length] @ kernel[k] for k in range(kernel.shape[0])]
    return np.sum(windows, axis=0)


def dilated(image: Array, kernel: Array) -> Array:
    reach = [d * (k - 1) for d, k in zip((2, 3), kernel.shape[:2], strict=True)]
    width, height = image.shape[1] - reach[0], image.shape[2] - reach[1]
    result = np.zeros((image.shape[0], width, height, kernel.shape[3]))
    for kx, ky in np.ndindex(*kernel.shape[:2]):
        part = image[:, 2 * kx : 2 * kx + width, 3 * ky : 3 * ky + height]
        result += part @ kernel[kx, ky]
    return result


def strided(image: Array, kernel: Array) -> Array:
    """Point by point, from the definition."""
    strides, dilations = (2, 3), (3, 2)
    sizes, kernels = image.shape[1:3], kernel.shape[:2]
    outputs = [-(-size // stride) for size, stride in zip(sizes, strides, strict=True)]
    padding = [
        int(((y - 1) * s + d * (k - 1) + 1 - x) / 2)
        for x, y, k, s, d in zip(
            sizes, outputs, kernels, strides, dilations, strict=True
        )
    ]
    groups = kernel.shape[2]
    result = np.zeros((image.shape[0], *outputs, groups, kernel.shape[4]))
    for x0, x1, k0, k1, g in itertools.product(
        *map(range, outputs), *map(range, kernels), range(groups)
    ):
        at0 = strides[0] * x0 + dilations[0] * k0 - padding[0]
        at1 = strides[1] * x1 + dilations[1] * k1 - padding[1]
        if 0 <= at0 < sizes[0] and 0 <= at1 < sizes[1]:
            result[:, x0, x1, g] += image[:, at0, at1, g] @ kernel[k0, k1, g]
    return result


def top_three(x: Array) -> tuple[Array, Array]:
    places = np.argsort(-x, axis=1, kind="stable")[:, :3]
    return np.take_along_axis(x, places, axis=1), places.astype(np.int32)


def histogram(x: Array, bins: int) -> Array:
    count = np.zeros(bins, np.int32)
    for value in x:
        place = math.floor(value * bins)
        if 0 <= place < bins:
            count[place] += 1
    return count


def dropout(x: Array, state: Array) -> tuple[Array, Array]:
    numbers, new_state = definition.prng(state, x.size)
    return np.where(numbers.reshape(x.shape) < 0.25, 0, x / 0.75), new_state


def bilinear(image: Array, height: int, width: int) -> Array:
    def along(image: Array, size: int, axis: int) -> Array:
        place = (np.arange(size) + 0.5) * image.shape[axis] / size - 0.5
        return definition.interpolated_gather(image, place, axis)

    return along(along(image, height, 1), width, 2)


def words(random: np.random.Generator, shapes: list[Shape], dtype: str) -> list[Array]:
    """A table and rows of it."""
    table, rows = shapes
    indices = random.integers(0, table[0], rows)
    return [random.random(table).astype(dtype), indices.astype(np.int32)]


def eighths(
    random: np.random.Generator, shapes: list[Shape], dtype: str
) -> list[Array]:
    """Numbers whose products with small integers are exact; some are out of range."""
    return [(random.integers(-2, 11, shape) / 8).astype(dtype) for shape in shapes]


def with_state(
    random: np.random.Generator, shapes: list[Shape], dtype: str
) -> list[Array]:
    """Numbers, and the state of a random number generator."""
    numbers, state = shapes
    words = random.integers(0, 2**32, state, np.uint32)
    return [random.random(numbers).astype(dtype), words]


INPUTS: dict[str, Callable[[np.random.Generator, list[Shape], str], list[Array]]] = {
    "embedding": words,
    "top_k": eighths,
    "histogram": eighths,
    "dropout": with_state,
}
"""How inputs are made that are more than random floats."""


CASES: dict[str, tuple[Meaning, list[list[Shape]]]] = {
    "categorical_cross_entropy": (
        lambda x: cross_entropy(*x),
        [[(10, 26), (10, 26)], [(1, 3), (1, 3)]],
    ),
    "sum_over_axis": (lambda x: x[0].sum(axis=0), [[(5, 7)], [(1, 4)], [(4, 1)]]),
    "max_over_axis": (lambda x: x[0].max(axis=0), [[(5, 7)], [(1, 4)]]),
    "matrix_product": (
        lambda x: x[0] @ x[1],
        [[(4, 5), (5, 6)], [(1, 7), (7, 3)], [(3, 1), (1, 1)]],
    ),
    "global_min": (lambda x: x[0].min(), [[(2, 3, 4)], [(1, 1, 1)]]),
    "average_over_axis": (lambda x: x[0].mean(axis=0), [[(5, 7)], [(1, 3)]]),
    "average_in_stages": (lambda x: np.asarray(x[0].mean()), [[(5, 7)]]),
    "average": (lambda x: np.asarray(x[0].mean()), [[(5, 7)], [(1, 1)]]),
    "max_pool_1d": (lambda x: pool(x[0], len(x[0]) // 2), [[(10,)], [(7,)], [(2,)]]),
    "max_pool_1d_ceil": (
        lambda x: pool(x[0], (len(x[0]) + 1) // 2),
        [[(10,)], [(7,)], [(1,)]],
    ),
    "skip": (lambda x: skip(x[0]), [[(5, 7)], [(6, 6)], [(9, 4)]]),
    "cumulative_sum": (lambda x: np.cumsum(x[0]), [[(10,)], [(1,)]]),
    "conv_1d": (
        lambda x: conv_1d(*x),
        [[(2, 9, 3), (4, 3, 5)], [(1, 3, 1), (3, 1, 2)]],
    ),
    "conv_2d_dilated": (
        lambda x: dilated(*x),
        [[(2, 9, 10, 3), (3, 2, 3, 4)], [(1, 5, 4, 1), (1, 1, 1, 2)]],
    ),
    "complex_conv_2d": (
        lambda x: strided(*x),
        [
            [(1, 9, 10, 2, 3), (3, 2, 2, 3, 2)],
            [(2, 8, 7, 1, 2), (2, 3, 1, 2, 3)],
            [(1, 7, 9, 1, 1), (1, 1, 1, 1, 1)],
        ],
    ),
    "softmax": (lambda x: softmax(x[0]), [[(4, 7)], [(1, 1)], [(3, 16)]]),
    "attention": (
        lambda x: attention(*x),
        [[(2, 3, 4), (2, 5, 4), (2, 5, 4)], [(1, 1, 1), (1, 1, 1), (1, 1, 1)]],
    ),
    "layer_norm": (
        lambda x: layer_norm(*x),
        [[(4, 7), (7,), (7,)], [(1, 3), (3,), (3,)]],
    ),
    "transpose": (lambda x: x[0].T, [[(3, 5)], [(1, 4)]]),
    "concatenation": (np.concatenate, [[(3, 4), (2, 4)], [(1, 1), (5, 1)]]),
    "embedding": (lambda x: x[0][x[1]], [[(5, 4), (2, 3)], [(1, 1), (1, 1)]]),
    "top_k": (lambda x: top_three(x[0]), [[(4, 7)], [(1, 3)]]),
    "histogram": (lambda x: histogram(x[0], len(x[1])), [[(40,), (4,)], [(1,), (1,)]]),
    "dropout": (
        lambda x: dropout(*x),
        [[(4, 7), (3, 5)], [(1, 1), (1, 3)], [(3, 4), (3, 64)]],
    ),
    "bilinear_resize": (
        lambda x: bilinear(x[0], *x[1].shape),
        [[(2, 3, 4, 2), (6, 8)], [(1, 1, 1, 1), (2, 4)], [(1, 8, 6, 1), (4, 3)]],
    ),
}


# Larger than a tile, a vector and a piece of work, and a multiple of none.
LARGE: dict[str, list[Shape]] = {
    "categorical_cross_entropy": [(131, 67), (131, 67)],
    "sum_over_axis": [(75, 1003)],
    "max_over_axis": [(75, 1003)],
    "matrix_product": [(77, 65), (65, 131)],
    "global_min": [(33, 17, 65)],
    "average_over_axis": [(77, 515)],
    "average_in_stages": [(77, 51)],
    "average": [(77, 51)],
    "max_pool_1d": [(4099,)],
    "max_pool_1d_ceil": [(4099,)],
    "skip": [(69, 131)],
    "cumulative_sum": [(333,)],
    "conv_1d": [(2, 67, 5), (3, 5, 37)],
    "conv_2d_dilated": [(2, 23, 29, 5), (3, 3, 5, 35)],
    "complex_conv_2d": [(2, 21, 23, 3, 5), (3, 3, 3, 5, 19)],
    "softmax": [(67, 515)],
    "attention": [(3, 67, 33), (3, 131, 33), (3, 131, 33)],
    "layer_norm": [(67, 515), (515,), (515,)],
    "transpose": [(129, 257)],
    "concatenation": [(65, 131), (33, 131)],
    "embedding": [(131, 67), (5, 33)],
    "top_k": [(17, 131)],
    "histogram": [(4099,), (16,)],
    "dropout": [(67, 131), (3, 96)],
    "bilinear_resize": [(2, 13, 9, 17), (52, 18)],
}

DEVICES = ["reference", *(d.name for d in gingham.devices() if not d.is_reference)][:2]
"""The reference interpreter, and the first OpenCL device where there is one."""


def test_every_example_is_tested() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.tile")}
    assert names == set(CASES) == set(LARGE)


def check(name: str, device: str, shapes: list[Shape], dtype: str) -> None:
    """Run an example on random numbers and compare it with NumPy."""
    generator = np.random.default_rng(len(name) + sum(map(sum, shapes)))
    # A logarithm needs positive numbers; a maximum goes wrong with negative ones.
    low = 0.1 if name == "categorical_cross_entropy" else -2.0
    if name in INPUTS:
        inputs = INPUTS[name](generator, shapes, dtype)
    else:
        inputs = [generator.uniform(low, 1.0, s).astype(dtype) for s in shapes]
    result = gingham.compile_file(EXAMPLES / f"{name}.tile", device=device)(*inputs)
    meaning, _ = CASES[name]
    exact = [x.astype(np.float64) if x.dtype == dtype else x for x in inputs]
    expected = meaning(exact)
    several = isinstance(result, tuple)
    results = cast("tuple[Array, ...]", result) if several else (result,)
    wanted = expected if isinstance(expected, tuple) else (expected,)
    for got, want in zip(results, wanted, strict=True):
        compare(got, np.asarray(want), dtype)


def compare(got: Array, expected: Array, dtype: str) -> None:
    """Integers must be equal, floats be of the type of the inputs and close."""
    assert got.shape == expected.shape
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, strict=True)
        return
    assert got.dtype == dtype
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        got, expected, rtol=tolerance, atol=tolerance * scale, strict=False
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("name", "shapes"),
    [(name, shapes) for name, (_, cases) in CASES.items() for shapes in cases],
)
def test_small_shapes(name: str, shapes: list[Shape], device: str) -> None:
    check(name, device, shapes, "float32")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", LARGE)
def test_large_odd_shapes(name: str, device: str) -> None:
    check(name, device, LARGE[name], "float32")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_double_precision(name: str, device: str) -> None:
    check(name, device, CASES[name][1][0], "float64")
