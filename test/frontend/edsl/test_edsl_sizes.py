"""`TensorDim` and `bind_dims`: arithmetic, comparison, and when sizes are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from edsl_programs import integers, program_of, same_program

from gingham.edsl import (
    Placeholder,
    Program,
    Tensor,
    TensorDim,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorOutput,
    TensorShape,
    abs,
    as_dim,
    cast,
    max,
    min,
    reshape,
    select,
)
from gingham.errors import GinghamError

SIZES: dict[str, Callable[[Any, Any], Any]] = {
    "M + 3 * N": lambda M, N: M + 3 * N,
    "7 - M": lambda M, N: 7 - M,
    "(M - N) / 2": lambda M, N: (M - N) / 2,
    "(N - M) / 2 + 5": lambda M, N: (N - M) // 2 + 5,
    "15 / M": lambda M, N: 15 // M,
    "mod(M, N) + 1": lambda M, N: M % N + 1,
    "max(M, N) - min(M, 3)": lambda M, N: max(M, N) - min(M, 3),
    "abs(-M)": lambda M, N: abs(-M),
    "select(M < N, 2, M)": lambda M, N: select(M < N, 2, M),
    "select(M == 5, N, 1)": lambda M, N: select(M == 5, N, 1),
    "(M >= N) + (M != 4)": lambda M, N: (M >= N) + (M != 4),
}


@pytest.mark.parametrize("text", SIZES)
def test_arithmetic(text: str) -> None:
    def program(A: Tensor) -> Tensor:
        M, N = A.shape
        O = TensorOutput(SIZES[text](M, N))
        i = TensorIndex("i")
        O[i] = A[i, 0]
        return O

    source = f"function (A[M, N]) -> (O) {{ O[i : {text}] = =(A[i, 0]); }}"
    function = same_program(program, source, {"A": 2})
    expected = {
        "M + 3 * N": 14,
        "7 - M": 2,
        "(M - N) / 2": 1,
        "(N - M) / 2 + 5": 4,
        "15 / M": 3,
        "mod(M, N) + 1": 3,
        "max(M, N) - min(M, 3)": 2,
        "abs(-M)": 5,
        "select(M < N, 2, M)": 5,
        "select(M == 5, N, 1)": 3,
        "(M >= N) + (M != 4)": 2,
    }
    a = integers((5, 3))
    (size,) = function(a).shape
    assert size == expected[text]


def test_sizes_with_tensors_and_floats_are_tensors() -> None:
    def program(A: Tensor) -> Tensor:
        M, N = A.shape
        O = A * M - N / A + 0.5 * N
        return O

    text = "function (A[M, N]) -> (O) { O = A * M - N / A + 0.5 * N; }"
    function = same_program(program, text, {"A": 2})
    a = np.abs(integers((2, 4))) + 1
    np.testing.assert_allclose(function(a), a * 2 - 4 / a + 2, rtol=1e-6)


def test_numbers_of_numpy_are_numbers() -> None:
    def program(A: Tensor) -> Tensor:
        (N,) = A.shape
        i = TensorIndex("i")
        O = TensorOutput(np.int64(2) * N + np.int32(1))
        O[np.int8(2) * i + np.int16(1)] = A[i]
        return O

    text = "function (A[N]) -> (O) { O[2 * i + 1 : 2 * N + 1] = =(A[i]); }"
    same_program(program, text, {"A": 1})


def test_a_dimension_is_compared_where_it_has_a_size() -> None:
    def program(A: Tensor, B: Tensor) -> Tensor:
        M, N = A.shape
        B.bind_dims(N, 2)
        C = cast(B, "float32")
        C.bind_dims(N, 3 - 1)
        R = reshape(A, M * N)
        R.bind_dims(M * N)
        B.bind_dims(2 * M, None)
        return A

    built = program_of(program, {"A": 2, "B": 2})
    function = built.compile("reference")
    function(integers((2, 4)), integers((4, 2)))
    for a, b, message in [
        ((2, 4), (5, 2), "size N is 4 in A but 5 in B"),
        ((2, 4), (4, 3), "axis 1 of 'B'"),
        ((3, 4), (4, 2), "axis 0 of 'B'"),
    ]:
        with pytest.raises(GinghamError, match=message) as caught:
            function(integers(a), integers(b))
        assert "bind_dims(" in caught.value.render()


def test_sizes_of_computed_tensors_have_names() -> None:
    def program(A: Tensor, B: Tensor) -> Tensor:
        C = A + B
        M, N = TensorDims(2)
        C.bind_dims(M, N)
        i, j = TensorIndexes(2)
        O = TensorOutput(N, M)
        O[j, i] = C[i, j]
        return O

    function = program_of(program, {"A": 2, "B": 1}).compile("reference")
    a, b = integers((3, 4)), integers((4,), seed=1)
    np.testing.assert_array_equal(function(a, b), (a + b).T)


def test_declared_sizes_are_numbers() -> None:
    A = Placeholder("float32", [3, None])
    M, N = A.shape
    assert (int(M), M * 2 + 1 == 7, [*range(M)]) == (3, True, [0, 1, 2])
    with pytest.raises(GinghamError, match="the size 'N' has no number here"):
        int(N)


def test_inputs_are_declared_in_many_ways() -> None:
    M, N = TensorDims(2)
    inputs = [
        Placeholder("float32", [M, 4]),
        Placeholder(TensorShape("si8", [0, 2]), name="B"),
        Placeholder(None, "M K", "C"),
        Placeholder(np.float64, [N]),
        Placeholder(np.dtype("uint8")),
        Placeholder(dims=None, name="F"),
        Tensor(TensorShape("bool", [M])),
    ]
    assert M.is_bound
    text = str(Program("inputs", inputs, inputs[0]))
    types = [
        *("tensor<?x4xf32>", "tensor<?x2xsi8>", "tensor<?x?x!eltwise.any>"),
        *("tensor<?xf64>", "tensor<ui8>", "tensor<*x!eltwise.any>", "tensor<?xi1>"),
    ]
    head = text.split("func.func @main(")[1].split(") ->")[0]
    assert [argument.split(": ")[1] for argument in head.split(", ")] == types
    # The two called M are not one.
    assert '["M", "D' in text
    assert '["M_1", "K"]' in text


def test_an_input_of_rank_0_may_be_a_size() -> None:
    def program(A: Tensor, K: Tensor) -> Tensor:
        N = A.shape[0]
        A.bind_dims(N)
        size = as_dim(K)
        i = TensorIndex("i")
        O = TensorOutput(2 * size)
        O[i + size] = A[i]
        return O

    function = program_of(program, {"A": 1, "K": None}).compile("reference")
    a = integers((3,))
    for k in (2, 3):
        expected = np.zeros(2 * k)
        expected[k:] = a[:k]
        np.testing.assert_array_equal(function(a, k), expected)
    with pytest.raises(GinghamError, match="used as a size"):
        function(a, 2.5)


def test_an_input_as_a_size_is_that_of_the_text() -> None:
    def program(A: Tensor, K: Tensor) -> Tensor:
        (N,) = A.shape
        k = as_dim(K)
        i = TensorIndex("i")
        O = TensorOutput(N + k)
        O[i + k] = A[i]
        return O

    text = "function (A[N], K) -> (O) { O[i + K : N + K] = =(A[i]); }"
    same_program(program, text, {"A": 1, "K": None})


# Mistakes


def on_matrix(mistake: Callable[[Tensor, TensorDim], Any]) -> str:
    A = Placeholder("float32", [None, 4], "A")
    M = TensorDim("M")
    with pytest.raises(GinghamError) as caught:
        mistake(A, M)
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    return caught.value.message


MISTAKES: list[tuple[str, Callable[[Tensor, TensorDim], Any]]] = [
    ("the dimension 'M' has no size yet", lambda A, M: M + 1),
    ("'A' has 2 axes, got 1 size", lambda A, M: A.bind_dims(M)),
    ("'A' has 2 axes, got 3 sizes", lambda A, M: A.bind_dims(M, M, M)),
    ("axis 1 of 'A' has size 4, not 5", lambda A, M: A.bind_dims(M, 5)),
    (
        "expected the size of axis 0 to be a TensorDim or an integer, got str",
        lambda A, M: A.bind_dims("M", None),
    ),
    ("division of a size by zero", lambda A, M: A.shape[0] // 0),
    ("the size '?' has no number here", lambda A, M: [*range(A.shape[0])]),
    ("the size '?' has no number here", lambda A, M: 1 if A.shape[0] > 3 else 2),
    ("a TensorDim is one size and cannot be iterated", lambda A, M: [*A.shape[0]]),
    ("a size is negative: -1", lambda A, M: Placeholder("float32", [-1])),
    ("expected a size to be an integer", lambda A, M: Placeholder("float32", [2.5])),
    ("expected an element type, got float31", lambda A, M: Placeholder("float31")),
    (
        "the element type of the tensor is not known",
        lambda A, M: (A + Placeholder(None, [4], "B")).dtype,
    ),
    ("expected either a shape or a value", lambda A, M: Tensor()),
]


@pytest.mark.parametrize(("message", "mistake"), MISTAKES)
def test_mistakes(message: str, mistake: Callable[[Tensor, TensorDim], Any]) -> None:
    assert message in on_matrix(mistake)


def test_a_tensor_of_any_rank_cannot_be_asked_for_sizes() -> None:
    A = Placeholder(None, None, "A")
    B = A + 1
    with pytest.raises(GinghamError, match="number of axes of 'B' is not known"):
        print(B.shape)
    A.bind_dims(None, None)
    assert (A + 1).ndim == 2
