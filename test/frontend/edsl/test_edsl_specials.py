"""The special functions in Python: the IR of their Tile text, NumPy, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from edsl_programs import floats, integers, program_of, same_program

from gingham.edsl import (
    Call,
    GatherMode,
    InterpolationMode,
    NearestMode,
    OutOfBoundsMode,
    Placeholder,
    Program,
    ScatterMode,
    SortDirection,
    Tensor,
    TensorIndexes,
    TensorOutput,
    argsort,
    as_int,
    element,
    floor,
    gather,
    gradients,
    index,
    prng,
    prng_state,
    prng_step,
    prng_value,
    reshape,
    scatter,
    select,
    shape,
    zero,
)
from gingham.errors import GinghamError
from gingham.plaidml import edsl as plaidml

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape(A, 6)": lambda a, b: reshape(a, 6),
    "reshape(A, 2, 3)": lambda a, b: a.reshape([2, 3]),
    "shape(A)": lambda a, b: shape(a),
    "index(A, 1)": lambda a, b: index(a, 1),
    "gather(A, B)": lambda a, b: gather(a, b),
    "gather(A, B, axis=1, out_of_bounds=zero)": lambda a, b: gather(
        a, b, 1, out_of_bounds="zero"
    ),
    "gather(A, B, mode=nd)": lambda a, b: gather(a, b, mode=GatherMode.ND),
    "gather(A, B, batch_dims=1, axis=1)": lambda a, b: gather(
        a, b, axis=1, batch_dims=1
    ),
    "gather(A, B, interpolation=cubic, cube_coefficient=-0.5)": lambda a, b: gather(
        a, b, interpolation=InterpolationMode.CUBIC, cube_coefficient=-0.5
    ),
    "gather(A, B, interpolation=nearest, nearest_mode=ceil)": lambda a, b: gather(
        a, b, interpolation="NEAREST", nearest_mode=NearestMode.CEIL
    ),
    "scatter(A, B, A)": lambda a, b: scatter(a, b, a),
    "scatter(A, B, A, mode=update_elt, axis=1)": lambda a, b: scatter(
        a, b, a, 1, mode=ScatterMode.UPDATE_ELT
    ),
    "scatter(A, B, A, mode=update_nd, out_of_bounds=zero)": lambda a, b: scatter(
        a, b, a, mode="update_nd", out_of_bounds=OutOfBoundsMode.ZERO
    ),
    "scatter(A, B, A, mode=update_slice)": lambda a, b: scatter(
        a, b, a, mode="update_slice"
    ),
    "argsort(A)": lambda a, b: argsort(a),
    "argsort(A, 0)": lambda a, b: argsort(a, 0),
    "argsort(A, -1, order=descending)": lambda a, b: argsort(a, -1, SortDirection.DESC),
    "argsort(A, 1, order=descending)": lambda a, b: argsort(a, 1, order="descending"),
    "argsort(A, 1, order=ascending)": lambda a, b: argsort(
        a, 1, "descending", order="ascending"
    ),
    "A + 0": lambda a, b: a + zero(),
    "gradient(A, B)": lambda a, b: gradients(a, [b])[0],
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions(text: str) -> None:
    source = f"function (A, B) -> (O) {{ O = {text}; }}"
    program = program_of(FUNCTIONS[text], {"A": None, "B": None})
    same_program(FUNCTIONS[text], source, {"A": None, "B": None})
    program.module.verify()


def dropout(X: Tensor, State: Tensor) -> list[Tensor]:
    M, N = X.shape
    Drawn = prng_step(State, M, N)
    O = select(prng_value(Drawn) < 0.25, 0, X / 0.75)
    NewState = prng_state(Drawn)
    return [O, NewState]


def top_k(X: Tensor) -> list[Tensor]:
    M = X.shape[0]
    m, k = TensorIndexes(2)
    Order = argsort(X, 1, "descending")
    Places = TensorOutput(M, 3)
    Places[m, k] = Order[m, k]
    Values = gather(X, Places, axis=1, batch_dims=1)
    return [Values, Places]


def histogram(X: Tensor, Bins: Tensor) -> Tensor:
    X.bind_dims(X.shape[0])
    (B,) = Bins.shape
    Bin = as_int(floor(X * B))
    Ones = as_int(X == X)
    Count = scatter(Ones, Bin, Bins, out_of_bounds="zero")
    return Count


def test_top_k() -> None:
    """`X.shape[0]` gives a size no name, so that only the numbers are compared."""
    x = integers((4, 9))
    values, places = program_of(top_k, {"X": 2}).compile("reference")(x)
    np.testing.assert_array_equal(values, -np.sort(-x, axis=1)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(x, places, axis=1), values)


def test_histogram() -> None:
    x = np.random.default_rng(0).random(50, np.float32)
    bins = np.zeros(7, np.float32)
    count = program_of(histogram, {"X": 1, "Bins": 1}).compile("reference")(x, bins)
    np.testing.assert_array_equal(count, np.histogram(x, 7, (0, 1))[0])


def test_dropout_is_the_program_of_its_text() -> None:
    text = """function (X[M, N], State) -> (O, NewState) {
      Drawn = prng_step(State, M, N);
      O = prng_value(Drawn) < 0.25 ? 0 : X / 0.75;
      NewState = prng_state(Drawn);
    }"""
    same_program(dropout, text, {"X": 2, "State": None})


def test_random_numbers() -> None:
    """The check vector of PlaidML's tests."""
    S = Placeholder("uint32", [1, 3])
    R, T = prng(S, 2, 3)
    assert (R.name, T.name) == ("R", "T")
    assert (R.ndim, T.ndim) == (2, 2)
    again = element(prng_step(S, [2, 3]), 0)
    program = Program("prng", [S], [R, T, again])
    state = np.array([[5, 6, 7]], np.uint32)
    numbers, new_state, same = program.compile("reference")(state)
    np.testing.assert_allclose(
        numbers,
        [[9.31323e-10, 3.8147e-06, 0.0156251], [0.000244171, 0.000125885, 0.515625]],
        rtol=1e-5,
    )
    np.testing.assert_array_equal(new_state, [[1052804, 0, 0]])
    np.testing.assert_array_equal(same, numbers)


def test_index_of_sizes() -> None:
    def program(A: Tensor) -> Tensor:
        M, N = A.shape
        O = index([M, N + 1, 2], 1) + index([M, N + 1, 2], -1)
        return O

    function = program_of(program, {"A": 2}).compile("reference")
    expected = np.indices((3, 5, 2))
    result = function(integers((3, 4)))
    np.testing.assert_array_equal(result, expected[1] + expected[2])
    assert result.dtype == np.int32


def test_ranks_are_known() -> None:
    V = Placeholder("float32", [4, 5, 6])
    I = Placeholder("int32", [4, 3])
    U = Placeholder("float32", [4, 3, 6])
    ranks = {
        4: gather(V, I, axis=1),
        3: gather(V, I, axis=1, batch_dims=1),
        1: gather(V, I, mode="nd"),
        2: scatter(U, I, V),
        6: reshape(V, [120, 1, 1, 1, 1, 1]),
    }
    for rank, tensor in ranks.items():
        assert tensor.ndim == rank
        module = Program("rank", [V, I, U], [tensor]).module
        result = str(module).split(") -> tensor<")[1].split(">")[0]
        assert result.count("x") == rank
    J = Placeholder("int32", [4, 5, 6])
    assert scatter(V, J, V, mode="update_elt").ndim == 3
    assert argsort(V).ndim == 3
    assert shape(V).ndim == 1


def test_options_are_those_of_the_table() -> None:
    """They are said once, and editors see them."""
    normal, clamp = GatherMode.NORMAL, OutOfBoundsMode.CLAMP
    assert list(signature(gather).parameters) == [
        *("values", "indices", "axis", "batch_dims", "mode", "interpolation"),
        *("nearest_mode", "cube_coefficient", "out_of_bounds"),
    ]
    defaults = [p.default for p in signature(gather).parameters.values()][2:5]
    assert defaults == [0, 0, normal]
    for function, first in ((scatter, "updates"), (plaidml.scatter, "data")):
        names = list(signature(function).parameters)
        assert names[0] == first
        assert names[3:] == ["axis", "mode", "out_of_bounds"]
        assert signature(function).parameters["out_of_bounds"].default is clamp


def test_options_by_name() -> None:
    V = Placeholder("float32", [4, 5])
    I = Placeholder("int32", [3, 2])
    by_name = Call("gather", V, I, mode="nd")
    assert by_name.ndim == gather(V, I, 0, mode="nd").ndim == 1
    assert Call("gather", V, I, 1).ndim == 3
    assert Call("argsort", V, order="desc").ndim == 2
    assert Call("simple_reduce", V, 1, 5).ndim == 2
    assert Call("gradient", V, V).ndim == 2


def test_a_gather_of_so_many_coordinates_as_an_input_will_have() -> None:
    """The rank is known when the program runs."""
    V = Placeholder("float32", [2, 3])
    I = Placeholder("int32", [4, None])
    O = gather(V, I, mode="nd")
    run = Program("nd", [V, I], [O]).compile("reference")
    v = integers((2, 3))
    np.testing.assert_array_equal(run(v, np.zeros((4, 2), np.int32)), [v[0, 0]] * 4)
    np.testing.assert_array_equal(run(v, np.ones((4, 1), np.int32)), [v[1]] * 4)


def test_gradients() -> None:
    X = Placeholder("float32", [3])
    W = Placeholder("float32", [3])
    i = TensorIndexes("i")[0]
    L = TensorOutput()
    L[()] += X[i] * W[i]
    dX, dW = gradients(L, [X, W])
    assert (dX.name, dW.name, dX.ndim) == ("dX", "dW", 1)
    function = Program("gradients", [X, W], [dX, dW]).compile("reference")
    x, w = floats(1, 2, 3), floats(4, 5, 6)
    first, second = function(x, w)
    np.testing.assert_array_equal(first, w)
    np.testing.assert_array_equal(second, x)


MISTAKES: list[tuple[str, Callable[[Any], Any]]] = [
    ("expected interpolation to be one of none, nearest, linear, cubic, got 'cube'",
     lambda A: gather(A, A, interpolation="cube")),
    ("expected mode to be one of normal, update_slice, update_elt, update_nd",
     lambda A: scatter(A, A, A, mode="add")),
    ("expected direction to be one of", lambda A: argsort(A, 0, "up")),
    ("expected order to be one of", lambda A: argsort(A, 0, order="up")),
    ("expected the axis to be an integer, got float", lambda A: index(A, A.ndim / 4)),
    ("expected the axis to be an integer, got TensorDim",
     lambda A: gather(A, A, A.shape[0])),
    ("expected a size to be a TensorDim or an integer, got float",
     lambda A: reshape(A, 2.5)),
    ("expected 0 to 1, got 2", lambda A: prng_step(A, 2).element(2)),
    ("'gather' has no option 'mod'", lambda A: gather(A, A, mod="nd")),
    ("'shape' has no options", lambda A: Call("shape", A, axis=1)),
    ("expected cube_coefficient to be a number, got str",
     lambda A: gather(A, A, cube_coefficient="big")),
    ("expected batch_dims to be an integer, got bool",
     lambda A: gather(A, A, batch_dims=True)),
    ("'gather' takes 2 operands, got 1", lambda A: Call("gather", A)),
    ("'gather' has the axis twice", lambda A: Call("gather", A, A, 0, axis=1)),
    ("'mad' takes 3 operands, got 4", lambda A: Call("mad", A, A, A, A)),
    ("'simple_reduce': 2x2 does not broadcast to 2x3",
     lambda A: Call("simple_reduce", A, 2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("message", "mistake"), MISTAKES)
def test_mistakes(message: str, mistake: Callable[[Any], Any]) -> None:
    A = Placeholder("float32", [2, 3], "A")
    with pytest.raises(GinghamError) as caught:
        mistake(A)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_a_wrong_number_of_elements_shows_its_line() -> None:
    A = Placeholder("float32", [2, 3])
    with pytest.raises(GinghamError, match="'reshape'") as caught:
        reshape(A, 7)
    assert "        reshape(A, 7)\n        ^~~~~~~~~~~~~" in str(caught.value)


def test_a_shape_that_fails_later_shows_its_line() -> None:
    A = Placeholder("float32", [None, 3])
    R = reshape(A, 7)
    program = Program("reshape", [A], [R])
    with pytest.raises(GinghamError, match="6") as caught:
        program.compile("reference")(integers((2, 3)))
    assert "    R = reshape(A, 7)\n        ^" in caught.value.render()
