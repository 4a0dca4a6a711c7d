"""What is known of sizes already, so that a mistake is an error at its line."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from counted_calls import count_calls

from gingham import edsl
from gingham.edsl import (
    Placeholder,
    Program,
    Tensor,
    TensorDim,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorOutput,
    layer,
)
from gingham.errors import GinghamError


def contraction(A: Tensor) -> Tensor:
    """A tensor of 3 by 5 cells, whatever A is."""
    i, j = TensorIndexes(2)
    O = TensorOutput(3, 5)
    O[i, j] += A[i, j]
    return O


def square(A: Tensor) -> None:
    N = TensorDim()
    A.bind_dims(N, N)


def same(A: Tensor, B: Tensor) -> None:
    D0 = TensorDim()
    A.bind_dims(D0, None)
    B.bind_dims(D0, None)


def next_size(A: Tensor, B: Tensor) -> None:
    M, N = TensorDims(2)
    A.bind_dims(M, N)
    B.bind_dims(M + 1, N)


A, B = Placeholder("float32", [8, 10], "A"), Placeholder("float32", [12, 10], "B")
C, D = Placeholder("float32", [None, 10], "C"), Placeholder("float32", [3, 5], "D")
I = Placeholder("int32", [4], "I")


def with_a(x: Tensor) -> Tensor:
    return x + contraction(A)


def nested(x: Tensor) -> Tensor:
    return layer("in", [A], None, edsl.exp) + x


MISTAKES: list[tuple[str, Callable[[], Any]]] = [
    ("sizes 8 and 12 of axis -2 do not match", lambda: A + B),
    ("sizes 8 and 12 of axis -2 do not match", lambda: (C * A + 1) / -B),
    ("sizes 3 and 8 of axis -2 do not match", lambda: contraction(A) * A),
    ("axis 0 of 'B' has size 12, not D0 = 8", lambda: same(A, B)),
    ("axis 0 of 'B' has size 12, not 9", lambda: next_size(A, B)),
    ("axis 1 of 'A' has size 10, not N = 8", lambda: square(A)),
    ("axis 1 of 'A' has size 10, not 9", lambda: A.bind_dims(None, 9)),
    ("axis 1 of 'O' has size 5, not 4", lambda: contraction(A).bind_dims(3, 4)),
    ("'index': the tensor has 0 axes, so there is no axis 0",
     lambda: edsl.index([], 0)),
    ("'index': the tensor has 2 axes, so there is no axis 2", lambda: edsl.index(A, 2)),
    ("'argsort': the tensor has 2 axes, so there is no axis -3",
     lambda: edsl.argsort(A, -3)),
    ("'reshape': 8x10 has 80 elements and 3x3 has 9 elements",
     lambda: edsl.reshape(A, [3, 3])),
    ("'gather': the tensor of values has 2 axes, so there is no axis 2",
     lambda: edsl.gather(A, I, axis=2)),
    ("'scatter': expected updates of shape 4x5, got 3x5",
     lambda: edsl.scatter(D, I, Placeholder("float32", [6]))),
    ("'A' is neither an input of rank 0 nor computed of such", lambda: edsl.as_dim(A)),
    ("'A' is no operand of the layer 'sum', which uses it",
     lambda: layer("sum", [B], None, partial(operator.mul, A))),
    ("'A' is no operand of the layer 'sum', which uses it",
     lambda: layer("sum", [B], None, with_a)),
    ("'A' is no operand of the layer 'outer', which uses it",
     lambda: layer("outer", [B], None, nested)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "mistake"), MISTAKES)
def test_mistakes(message: str, mistake: Callable[[], Any]) -> None:
    with pytest.raises(GinghamError) as caught:
        mistake()
    assert caught.value.message.endswith(message)
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_what_may_be_right_is_accepted() -> None:
    """An unknown size, one that is 1, and bounds that no tensor of the program has."""
    x: Any = A + C * Placeholder("float32", [1, 10]) + Placeholder("float32", [])
    same(C, A)
    M = TensorDim()
    C.bind_dims(M, 10)
    edsl.reshape(C, [5, 7])
    edsl.reshape(A, [M, 3])
    assert (x.ndim, edsl.index([M, M], -2).ndim) == (2, 2)


def test_a_layer_may_use_what_is_no_tensor_of_the_program() -> None:
    """Constants, numbers and sizes, and what it made itself."""
    M, N = TensorDims(2)
    D.bind_dims(M, N)
    weights = edsl.Constant(np.arange(5, dtype=np.float32))

    def scaled(x: Tensor) -> Any:
        y = x * weights

        def inner(z: Tensor) -> Any:
            return z / N + y * 0

        return layer("in", [y], None, inner)

    E = layer("scale", [D], None, scaled)
    found = Program("layers", [D], [E]).compile("reference")
    array = np.arange(15, dtype=np.float32).reshape(3, 5)
    np.testing.assert_allclose(found(array), array * np.arange(5) / 5, rtol=1e-6)


def test_floor_division_of_indices_is_exact() -> None:
    """PlaidML's Python has no other spelling of the division in an index."""

    A1 = Placeholder("float32", [4], "A")
    i = TensorIndex("i")
    array = np.array([1, 2, 3, 4], np.float32)
    expected = np.zeros(9, np.float32)
    expected[1::2] = array
    for place in ((i - 1) // 2, (i - 1) / 2):
        O = TensorOutput(9)
        O[i] += A1[place]
        found = Program("spread", [A1], [O]).compile("reference")
        np.testing.assert_array_equal(found(array), expected)
    with pytest.raises(GinghamError, match="division of an index by zero"):
        _ = i // 0


def test_an_output_without_sizes_has_those_of_its_indices() -> None:
    """As the first average of PlaidML's tutorial is written."""

    def average(I: Tensor) -> Tensor:
        X, Y = TensorDims(2)
        x, y = TensorIndexes(2)
        I.bind_dims(X, Y)
        Sum = TensorOutput()
        Sum[y] += I[x, y]
        return Sum / X

    I = Placeholder("float32", [None, None], "I")
    found = Program("average", [I], [average(I)]).compile("reference")
    for shape in ((3, 4), (2, 7)):
        array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        np.testing.assert_allclose(found(array), array.mean(0), rtol=1e-6)
    i, j = TensorIndexes(2)
    Sum = TensorOutput()
    with pytest.raises(GinghamError, match="'Sum' has 0 axes, got 1 index"):
        Sum[i + 1] += I[i, j]


def test_what_is_computed_of_integers_is_a_size() -> None:
    K = Placeholder("int32", [], "K")
    I = Placeholder("float32", [None], "I")
    N, i = TensorDim(), TensorIndex()
    I.bind_dims(N)
    P = edsl.as_dim((K + 3) / 2 - N)
    O = TensorOutput(N + P)
    O[i] += I[i]
    found = Program("padded", [I, K], [O]).compile("reference")
    for number in (5, 8):
        expected = np.zeros((number + 3) // 2, np.float32)
        expected[:2] = 1
        array = np.ones(2, np.float32)
        np.testing.assert_array_equal(found(array, np.int32(number)), expected)


def test_asking_for_types_takes_no_longer_in_a_deep_program() -> None:
    """What was asked before is not found out again, nor what it is computed of."""

    def asked(x: Tensor, steps: int) -> int:
        for _ in range(steps):
            x = edsl.relu(x) + 1.0
            assert x.dtype.value == "float32"
        return count_calls(lambda: (x + 1.0).dtype)

    x = Placeholder("float32", [2, 3])
    asked(x, 1)  # Where the lines stand is found out once.
    assert asked(x, 40) <= 1.1 * asked(x, 4)

    @edsl.jit(device="reference")
    def traced(y: Tensor) -> Tensor:
        assert asked(y, 40) <= 1.1 * asked(y, 4)
        return y

    traced(np.ones((2, 3), np.float32))
