"""Keras 2.2.4 trains by PlaidML 0.6.4's own backend, neither of them changed.

What it computes is compared with NumPy: the models once more, in float64, and their
slopes by differences. The packages are those of `scripts/keras.txt`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import distributions
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plaidml_tensors import Array

import gingham

NEEDED = {"keras", "keras-applications", "keras-preprocessing", "plaidml-keras"}
pytestmark = pytest.mark.skipif(
    not {d.name.lower().replace("_", "-") for d in distributions()} >= NEEDED,
    reason="needs the packages of scripts/keras.txt",
)

FIRST = next(d for d in gingham.devices() if d.failure() is None).name
RATE = 0.1
EPOCHS = 2
Weights = Sequence[Array]


def run(device: str, *arguments: str) -> str:
    """What a program for PlaidML prints."""
    done = subprocess.run(
        [sys.executable, "-m", "gingham.plaidml", *arguments],
        env={**os.environ, "PLAIDML_DEVICE_IDS": device},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def trained(device: str, models: Sequence[str], folder: Path) -> dict[str, Array]:
    """What `training.py` writes of these models on a device."""
    output = folder / "trained.npz"
    program = Path(__file__).with_name("training.py")
    run(device, str(program), str(output), *models)
    with np.load(output) as found:
        return dict(found)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def dense(x: Array, weights: Weights, training: bool) -> Array:
    w, b, v, c = weights
    return softmax(np.maximum(x @ w + b, 0) @ v + c)


def convolved(x: Array, kernel: Array) -> Array:
    """A convolution of 3x3 whose results have the size of x."""
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.einsum("nyxcij,ijcd->nyxd", windows, kernel)


def convolution(x: Array, weights: Weights, training: bool) -> Array:
    kernel, b, v, c = weights
    y = np.maximum(convolved(x, kernel) + b, 0)
    n, height, width, channels = y.shape
    y = y.reshape(n, height // 2, 2, width // 2, 2, channels).max((2, 4))
    return softmax(y.reshape(n, -1) @ v + c)


def normalization(x: Array, weights: Weights, training: bool) -> Array:
    w, b, gamma, beta, mean, variance, v, c = weights
    y = x @ w + b
    if training:
        mean, variance = y.mean(0), y.var(0)
    y = np.tanh(gamma * (y - mean) / np.sqrt(variance + 1e-3) + beta)
    return sigmoid(y @ v + c)


def recurrence(x: Array, weights: Weights, training: bool) -> Array:
    kernel, recurrent, b, v, c = weights
    h = cell = np.zeros((len(x), recurrent.shape[0]))
    for step in range(x.shape[1]):
        z = np.split(x[:, step] @ kernel + h @ recurrent + b, 4, -1)
        i, f, o = (np.clip(0.2 * z[n] + 0.5, 0, 1) for n in (0, 1, 3))
        cell = f * cell + i * np.tanh(z[2])
        h = o * np.tanh(cell)
    return softmax(h @ v + c)


def crossentropy(y: Array, p: Array) -> float:
    return float(-(y * np.log(p)).sum(-1).mean())


def squared_error(y: Array, p: Array) -> float:
    return float(((y - p) ** 2).mean())


def slope_along(
    loss: Callable[[Weights], float], weights: Weights, number: int, direction: Array
) -> float:
    """The slope of a loss as one of the weights goes a way, by differences."""
    sides: list[float] = []
    for step in (1e-7, -1e-7):
        moved = list(weights)
        moved[number] = weights[number] + step * direction
        sides.append(loss(moved))
    return (sides[0] - sides[1]) / 2e-7


def own(found: dict[str, Array], name: str) -> dict[str, Array]:
    """What was found for a model."""
    return {
        key.partition(".")[2]: value.astype(np.float64)
        for key, value in found.items()
        if key.startswith(f"{name}.")
    }


MODELS: list[Any] = [
    (dense, crossentropy),
    (convolution, crossentropy),
    (normalization, squared_error),
    (recurrence, crossentropy),
]


# Kernels of one model are built. What the backend of Keras asks for is the same for an
# interpreter, which takes a fifth of the time.
@pytest.mark.parametrize(
    ("device", "models"), [(FIRST, MODELS[:1]), ("reference", MODELS[1:])]
)
def test_keras_trains(device: str, models: list[Any], tmp_path: Path) -> None:
    found = trained(device, [model.__name__ for model, _ in models], tmp_path)
    assert found["backend"] == "plaidml"
    for model, loss in models:
        check_training(own(found, model.__name__), model, loss)


def test_keras_draws_and_predicts(tmp_path: Path) -> None:
    found = trained("reference", ["dropout", "seeds"], tmp_path)
    check_dropout(own(found, "dropout"))
    check_predictions(own(found, "seeds"))


def test_the_example_learns() -> None:
    example = Path(__file__).parents[3] / "examples" / "keras_digits.py"
    assert run("reference", str(example)) == "100% are told apart\n"


def check_training(found: dict[str, Array], model: Any, loss: Any) -> None:
    """Losses and weights are what gradients say, and predictions what weights say."""
    x, y = found["x"], found["y"]
    count = sum(key.startswith("weights0.") for key in found)
    steps = [
        [found[f"weights{epoch}.{number}"] for number in range(count)]
        for epoch in range(EPOCHS + 1)
    ]
    random = np.random.default_rng(0)
    for epoch, (weights, changed) in enumerate(pairwise(steps)):
        value = loss(y, model(x, weights, True))
        assert found["losses"][epoch] == pytest.approx(value, rel=1e-4), model
        means = moving_means(model, x, weights)
        for number, (old, new) in enumerate(zip(weights, changed, strict=True)):
            if number in means:
                moved = 0.99 * old + 0.01 * means[number]
                np.testing.assert_allclose(new, moved, rtol=1e-5, atol=1e-6)
                continue
            slope = (old - new) / RATE
            assert slope.any()
            # As steep the way it went as it says, and so other ways.
            for way in (slope, *random.normal(size=(2, *old.shape))):
                unit = way / np.linalg.norm(way)
                steepness = slope_along(
                    lambda ws: loss(y, model(x, ws, True)), weights, number, unit
                )
                found_so = float((slope * unit).sum())
                assert found_so == pytest.approx(steepness, rel=1e-3, abs=1e-6), number
    predicted = model(x, steps[-1], False)
    np.testing.assert_allclose(found["predicted"], predicted, rtol=0, atol=1e-5)
    assert found["evaluated"] == pytest.approx(loss(y, predicted), rel=1e-4)
    assert found["losses"][-1] < found["losses"][0]


def moving_means(model: Any, x: Array, weights: Weights) -> dict[int, Array]:
    """Weights that no gradient changes: towards which values they move."""
    if model is not normalization:
        return {}
    y = x @ weights[0] + weights[1]
    # Keras estimates the variance of what the batch is a sample of.
    unbiased = y.var(0) * len(x) / (len(x) - 1.001)
    return {4: y.mean(0), 5: unbiased}


def check_dropout(found: dict[str, Array]) -> None:
    """It is random, other in each call, and a model with it learns."""
    np.testing.assert_array_equal(found["none"], 1)
    for name in ("first", "second"):
        kept = found[name] != 0
        np.testing.assert_allclose(found[name][kept], 1 / 0.6, rtol=1e-6)
        # 10,000 draws deviate by 0.005; both axes are drawn on.
        assert kept.mean() == pytest.approx(0.6, abs=0.025)
        assert kept.mean(0).std() > 0.05
        assert kept.mean(1).std() > 0.005
    assert (found["first"] != found["second"]).mean() == pytest.approx(0.48, abs=0.03)
    assert found["after"] < 0.7 * found["before"]
    assert len(set(found["losses"])) == len(found["losses"])


def check_predictions(found: dict[str, Array]) -> None:
    """A sum; a convolution and a dense layer of any weights."""
    np.testing.assert_array_equal(found["sum"], [6, 8, 10, 12])
    windows = np.lib.stride_tricks.sliding_window_view(found["image"], (3, 3), (1, 2))
    filtered = np.einsum("nyxcij,ijcd->nyxd", windows, found["kernel"]) + found["bias"]
    assert filtered.shape == (1, 30, 30, 32)
    np.testing.assert_allclose(
        found["filtered"], np.maximum(filtered, 0), rtol=1e-4, atol=1e-5
    )
    activated = np.maximum(found["vector"] @ found["weights"] + found["offset"], 0)
    np.testing.assert_allclose(found["activated"], activated, rtol=1e-5, atol=1e-6)
