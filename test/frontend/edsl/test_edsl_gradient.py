"""`gingham.gradient`: the same IR as in text, in the shape of what is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gingham
from gingham.dialects.tile.gradient import GradientOp
from gingham.edsl import (
    DType,
    Placeholder,
    Tensor,
    TensorIndexes,
    TensorOutput,
    gather,
    gradients,
    tanh,
)
from gingham.errors import GinghamError
from gingham.runtime.program import Program


def squares(x: Tensor, w: Tensor) -> Tensor:
    """The sum of the squares of `x @ w`, as a tensor of rank 0."""
    (n, _), (_, m) = x.shape, w.shape
    i, j, k = TensorIndexes(3)
    y = TensorOutput(n, m)
    y[i, j] += x[i, k] * w[k, j]
    total, square = TensorOutput(), y * y
    total[()] += square[i, j]
    return total


def inputs() -> tuple[Tensor, Tensor]:
    return (
        Placeholder(DType.FLOAT32, [3, 2], name="X"),
        Placeholder(DType.FLOAT32, [2, 4], name="W"),
    )


@pytest.fixture
def arrays() -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(1)
    return [
        random.integers(-3, 4, shape).astype(np.float32) for shape in ((3, 2), (2, 4))
    ]


def run(outputs: Any, arrays: Any) -> Any:
    return Program("p", outputs).compile("reference")(*arrays)


def test_one_tensor_several_and_a_dictionary(arrays: Any) -> None:
    x, w = inputs()
    loss = squares(x, w)
    one = gingham.gradient(loss, w)
    several = gingham.gradient(loss, [x, w])
    by_name = gingham.gradient(loss, {"w": w, "x": x})
    assert isinstance(one, Tensor)
    assert isinstance(several, list)
    assert list(by_name) == ["w", "x"]
    a, b = arrays
    by_x, by_w = 2 * (a @ b) @ b.T, 2 * a.T @ (a @ b)
    found = run([one, *several, by_name["w"], by_name["x"]], arrays)
    for result, wanted in zip(found, [by_w, by_x, by_w, by_w, by_x], strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_it_is_the_list_of_plaidml(arrays: Any) -> None:
    x, w = inputs()
    loss = squares(x, w)
    found = run([gradients(loss, [x])[0], gingham.gradient(loss, x)], arrays)
    np.testing.assert_array_equal(*found)


def test_one_op_for_all_tensors() -> None:
    x, w = inputs()
    slopes = gingham.gradient(squares(x, w), [x, w])
    module = Program("p", slopes).module
    (op,) = [op for op in module.walk() if isinstance(op, GradientOp)]
    assert len(op.gradients) == 2


def test_second_derivatives() -> None:
    x = Placeholder(DType.FLOAT64, [4], name="X")
    first = gingham.gradient(x * x * x, x)
    second = gingham.gradient(first, x)
    numbers = np.array([1.0, -2, 0.5, 0])
    np.testing.assert_allclose(run([second], [numbers]), 6 * numbers)


def test_training_in_one_program() -> None:
    """The weights that a function returns are those that it is called with next."""

    @gingham.jit(device="reference")
    def step(weights: dict[str, Tensor], words: Tensor, targets: Tensor) -> Any:
        vectors = gather(weights["table"], words)
        error = tanh(vectors * weights["scale"]) - targets
        slopes = gingham.gradient(error * error, weights)
        updated = {name: w - 0.1 * slopes[name] for name, w in weights.items()}
        return error * error, updated

    random = np.random.default_rng(2)
    weights: Any = {
        "table": random.normal(size=(5, 3)).astype(np.float32),
        "scale": np.ones(3, np.float32),
    }
    words = np.array([0, 3, 3, 4], np.int32)
    targets = np.full((4, 3), 0.5, np.float32)
    untouched = weights["table"][1:3].copy()
    losses: list[float] = []
    for _ in range(40):
        loss, weights = step(weights, words, targets)
        losses.append(float(np.sum(loss)))
    assert losses[-1] < 0.05 * losses[0]
    np.testing.assert_array_equal(weights["table"][1:3], untouched)


def test_errors_point_at_the_line_of_python() -> None:
    x, _ = inputs()
    numbers = Placeholder(DType.INT32, [3], name="N")
    number: Any = [2.0]
    with pytest.raises(GinghamError, match="expected N to be a tensor of floats") as at:
        Program("p", gingham.gradient(x, numbers))
    assert at.value.location is not None
    assert at.value.location.file == __file__
    with pytest.raises(GinghamError, match="expected what to differentiate by"):
        Program("p", gradients(x, number))
