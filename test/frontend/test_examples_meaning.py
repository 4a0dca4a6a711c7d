"""The programs under examples/ compute what they say, by NumPy, on odd shapes too.

Run on the reference interpreter: this is about the frontend's IR and the programs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType, f64

from gingham.frontend.tile_text import load
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = NDArray[Any]
Shape = tuple[int, ...]
Meaning = Callable[[list[Array]], Array]

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, inputs: list[Array]) -> list[Array]:
    """The outputs of an example, in double precision."""
    types = [TensorType(f64, array.shape) for array in inputs]
    module = specialize(load(EXAMPLES / f"{name}.tile"), types)
    module.verify()
    return interpret(module, inputs)


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
    "layer_norm": (
        lambda x: layer_norm(*x),
        [[(4, 7), (7,), (7,)], [(1, 3), (3,), (3,)]],
    ),
    "transpose": (lambda x: x[0].T, [[(3, 5)], [(1, 4)]]),
    "concatenation": (np.concatenate, [[(3, 4), (2, 4)], [(1, 1), (5, 1)]]),
}


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.tile")} == set(CASES)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [(name, shapes) for name, (_, cases) in CASES.items() for shapes in cases],
    ids=lambda value: value if isinstance(value, str) else str(value).replace(" ", ""),
)
def test_example(name: str, shapes: list[Shape]) -> None:
    generator = np.random.default_rng([len(name), *map(len, shapes), *shapes[0]])
    positive = name == "categorical_cross_entropy"
    inputs: list[Array] = [
        generator.integers(1 if positive else -9, 10, size=shape).astype(np.float64)
        for shape in shapes
    ]
    meaning, _ = CASES[name]
    (result,) = run(name, inputs)
    expected = np.asarray(meaning(inputs))
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
