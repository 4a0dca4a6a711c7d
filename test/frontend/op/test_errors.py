"""What operations say of arguments that do not fit, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operation_checks import normals

import gingham
from gingham import GinghamError, op
from gingham.edsl import Placeholder, Tensor


def image() -> Tensor:
    return Placeholder("float32", [2, 4, 8, 8], "x")


CASES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: op.softmax(x, 4), "'x' has 4 axes, so there is no axis 4"),
    (lambda x: op.sum(x, (0, -4)), "an axis is said twice: (0, -4)"),
    (lambda x: op.softmax(x, x), "expected the axis to be an integer, got Tensor"),
    (lambda x: op.reshape(x, -1, -1), "more than one size is -1"),
    (lambda x: op.reshape(x, -1, 7), "512 elements are no multiple of 7"),
    (lambda x: op.squeeze(x, 0), "axis 0 of 'x' has size 2, not 1"),
    (lambda x: op.transpose(x, (0, 1)), "expected each of 4 axes once, got (0, 1)"),
    (lambda x: op.broadcast_to(x, (3, 4, 8, 8)), "axes of sizes"),
    (
        lambda x: op.concatenate([x, np.zeros((2, 4, 8, 7))], 1),
        "has size 7, not 8: as of the first tensor",
    ),
    (lambda x: op.concatenate([]), "expected at least one tensor to concatenate"),
    (lambda x: op.split(x, [3, 3], 1), "parts of 6 elements in all, of an axis of 4"),
    (lambda x: op.slice(x, 5, 3), "axis 0 of size 2 has nothing from 5 to 3"),
    (lambda x: op.slice(x, 0, 2, steps=0), "the step of a slice is 0"),
    (lambda x: op.pad(x, 8, "reflect", axes=[3]), "mode reflect has at most 7"),
    (lambda x: op.pad(x, -4, axes=[2]), "nothing is left of axis 2 of size 8"),
    (lambda x: op.pad(x, 1, "mirror"), "expected mode to be one of constant, reflect"),
    (lambda x: op.matmul(x, np.ones((7, 3))), "has size 7, not 8"),
    (lambda x: op.matmul(x, np.ones((3, 4, 8, 3))), "axes of sizes"),
    (lambda x: op.tensordot(x, x, ([0], [1, 2])), "1 axes of one tensor and 2"),
    (lambda x: op.conv(x, np.ones((3, 5, 3, 3))), "has size 5, not 4"),
    (lambda x: op.conv(x, np.ones((3, 4, 3))), "expected the weight to have 4 axes"),
    (lambda x: op.conv(x, np.ones((3, 2, 3, 3)), groups=3), "into 3 groups"),
    (lambda x: op.conv(x, np.ones((3, 4, 9, 9))), "no window of 9 elements fits"),
    (lambda x: op.conv(x, np.ones((3, 4, 3, 3)), np.ones(4)), "has size 4, not 3"),
    (
        lambda x: op.conv(x, np.ones((3, 4, 3, 3)), stride=(1, 2, 3)),
        "expected the strides to be 2 integers or one, got (1, 2, 3)",
    ),
    (
        lambda x: op.conv(x, np.ones((3, 4, 3, 3)), padding="FULL"),
        "expected padding to be one of VALID",
    ),
    (lambda x: op.max_pool(x, 2, padding=(1, 2, 3)), "expected padding of 2 axes"),
    (lambda x: op.avg_pool(x, 0), "the sizes of windows to be at least 1, got 0"),
    (lambda x: op.group_norm(x, 3), "4 channels cannot be divided into 3 groups"),
    (lambda x: op.batch_norm(x, np.ones(3), np.ones(4)), "has size 3, not 4"),
    (lambda x: op.topk(x, 9), "there are no 9 elements on axis 3 of size 8"),
    (lambda x: op.resize(x), "expected either sizes or scales"),
    (lambda x: op.resize(x, [3, 3]), "expected something for each of 4 axes"),
    (lambda x: op.cross_entropy(x, np.zeros(2, int)), "expected targets of 3 axes"),
    (lambda x: op.mse_loss(x, x, "median"), "expected reduction to be one of mean"),
    (lambda x: op.take_along_axis(x, np.zeros((3, 4, 8, 8), int)), "3 cells on axis 0"),
    (lambda x: op.gather_nd(x, np.zeros((2, 5), int)), "5 positions on 4 axes"),
    (lambda x: op.depth_to_space(x, 3), "the channels, 4, are no multiple of 9"),
    (lambda x: op.lstm(x, x, x), "expected the sequences to have 3 axes, got 4"),
    (lambda x: op.gelu(x, "erf"), "expected approximate to be one of none, tanh"),
    (lambda x: op.arange(3, 1), "there are no numbers from 3 to 1"),
    (lambda x: op.add(x, np.ones((3, 8))), "do not broadcast"),
]


@pytest.mark.parametrize(("operation", "message"), CASES)
def test_arguments_that_do_not_fit(
    operation: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(GinghamError) as caught:
        operation(image())
    assert message in caught.value.message
    location = caught.value.location
    assert location is not None
    # The place is that of the user's call.
    assert location.file == __file__
    code = operation.__code__
    assert code.co_firstlineno <= location.line <= code.co_firstlineno + 3


def test_sizes_that_differ_when_they_are_known() -> None:
    """They are said of the program, when it is called."""

    def wrapped(x: Tensor) -> Tensor:
        return op.pad(x, 3, "wrap")

    product = gingham.jit(device="reference")(op.matmul)
    with pytest.raises(GinghamError, match="size") as caught:
        product(normals(2, 3, 4), normals(2, 5, 6))
    assert "4" in caught.value.message
    assert "5" in caught.value.message
    with pytest.raises(GinghamError, match="broadcast"):
        product(normals(2, 3, 4), normals(3, 4, 6))
    padded = gingham.jit(device="reference")(wrapped)
    with pytest.raises(GinghamError, match="assert_pad_within_axis"):
        padded(normals(2))


def test_an_axis_that_is_an_argument_has_to_be_static() -> None:
    with pytest.raises(GinghamError) as caught:
        gingham.jit(device="reference")(op.softmax)(normals(2, 3), 1)
    assert caught.value.hint is not None
    assert "static" in caught.value.hint
    softmax = gingham.jit(device="reference", static="axis")(op.softmax)
    np.testing.assert_allclose(np.sum(softmax(normals(2, 3), 0), 0), 1, atol=1e-6)
