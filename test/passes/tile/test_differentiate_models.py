"""Gradients of models that people train: by differences, by PyTorch, on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differentiable_models import MODELS, Model
from gradients import Array, assert_gradient, gradients

import gingham


def drawn(model: Model, seed: int) -> list[Array]:
    return model.inputs(np.random.default_rng(seed))


def run_torch(model: Model, arrays: list[Array]) -> list[Array]:
    """The gradients by the trained inputs that PyTorch finds."""
    torch: Any = pytest.importorskip("torch")
    tensors: dict[str, Any] = {}
    for name, array in zip(model.names, arrays, strict=True):
        tensors[name] = torch.tensor(array, requires_grad=name in model.trained)
    body = "\n  ".join(model.torch.splitlines())
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(f"def loss({', '.join(model.names)}):\n  {body}", scope)
    scope["loss"](**tensors).backward()
    return [tensors[name].grad.numpy() for name in model.trained]


@pytest.mark.parametrize("name", MODELS)
def test_by_differences(name: str) -> None:
    model = MODELS[name]
    assert_gradient(model.text, drawn(model, 1), tolerance=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_by_pytorch(name: str) -> None:
    model = MODELS[name]
    arrays = drawn(model, 2)
    found = gradients(model.text, arrays, model.trained)
    for one, other in zip(found, run_torch(model, arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in MODELS if n != "geometric_mean"])
def test_on_the_default_device(name: str) -> None:
    """In single precision, against the interpreter in double."""
    model = MODELS[name]
    arrays = drawn(model, 3)
    wanted = gradients(model.text, arrays, model.trained)
    single = [a.astype(np.float32) if a.dtype == np.float64 else a for a in arrays]
    _, *found = gingham.compile(model.with_gradients)(*single)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)
