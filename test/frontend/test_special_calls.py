"""Calls of special operations in Tile text: what is wrong with them, and sizes."""

from __future__ import annotations

import numpy as np
import pytest
from tile_texts import run, specialized

from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile

HEAD = "function (A[M, N], B[N], S, Z[]) -> (O) {\n"
DIMENSIONS = "the dimensions are M, N"

ERRORS = [
    # Numbers of arguments.
    ("O = reshape();", "2:13", "expected an expression, got ')'",
     "a function takes at least one argument"),
    ("O = shape(A, 1);", "2:5",
     "'shape' takes 1 argument, got 2", "shape(X): a tensor"),
    ("O = index(A);", "2:5", "'index' takes 2 arguments, got 1",
     "index(X, 0): a tensor and an axis"),
    ("O = gather(A);", "2:5", "'gather' takes 2 arguments, got 1",
     "gather(V, I): values and indices, then options such as axis=1"),
    ("O = argsort(A, 0, 1);", "2:5", "'argsort' takes 1 to 2 arguments, got 3",
     "argsort(X, 0, order=descending): a tensor and an axis, the last by default"),
    ("O = mad(A, 2);", "2:5", "'mad' takes 3 arguments, got 2",
     "mad(A, B, C): A * B + C"),
    # Sorts of arguments.
    ("O = reshape(A, B);", "2:16", "expected argument 2 of 'reshape' to be an integer "
     "expression of dimensions, got a tensor", DIMENSIONS),
    ("O = reshape(A, M, 2.5);", "2:19", "expected argument 3 of 'reshape' to be an "
     "integer expression of dimensions, got a float", DIMENSIONS),
    ("O = reshape(A, 2 - 5);", "2:16", "the size is negative: -3", None),
    ("O = index(A, M);", "2:14", "expected argument 2 of 'index' to be an integer, got "
     "a dimension", None),
    ("O = index(A, 2);", "2:5", "'index': the tensor has 2 axes, so there is no axis 2",
     None),
    ("O = argsort(B, -2);", "2:5",
     "'argsort': the tensor has 1 axis, so there is no axis -2", None),
    ("O = gather(A, as_float(B, 32));", None, None, None),
    ("X = as_float(A, 32); O = gather(X, X);", "2:26",
     "'gather': expected integers as indices, got f32",
     "convert them with as_int(X, 32), or say how to interpolate: "
     "interpolation=linear"),
    ("O = gather(A, as_float(A, 32), mode=nd, interpolation=linear);", None, None,
     None),
    ("O = gather(A, B, mode=nd, axis=1);", "2:5", "'gather' in mode nd has no axis",
     "the last axis of the indices holds coordinates of the first axes"),
    ("O = gather(B, A, axis=1);", "2:5",
     "'gather': the tensor of values has 1 axis, so there is no axis 1", None),
    ("O = scatter(A, B, A, axis=2);", "2:5",
     "'scatter': the result has 2 axes, so there is no axis 2", None),
    ("O = scatter(A, B, A, mode=update_nd, axis=1);", "2:5",
     "'scatter' in mode update_nd has no axis",
     "the last axis of the indices holds coordinates of the first axes"),
    ("O = prng_step(A, 3) + 1;", "2:5", "expected a tensor, a dimension or a number, "
     "got the result of 'prng_step'",
     "prng_value(P) gives the numbers, prng_state(P) the new state"),
    ("P = prng_step(Z, 3); O = prng_value(P);", "2:5",
     "'prng': expected a state of shape 3xL (for L lanes) or 1x3, got 0-D", None),
    ("O = prng_value(A);", "2:5", "expected the argument of 'prng_value' to be the "
     "result of 'prng_step'", "P = prng_step(S, M, N); V = prng_value(P); "
     "T = prng_state(P);"),
    ("P = prng_step(S, 3); O = element(P, 2);", "2:26",
     "the tuple has 2 parts, counted from 0: got 2", None),
    ("T = tuple(A, B); O = T + 1;", "2:22", "expected a tensor, a dimension or a "
     "number, got a tuple", "element(T, 0) gives its first part"),
    ("T = tuple(A, B); O = exp(T);", "2:26", "argument 1 of 'exp' is a tuple",
     "element(T, 0) gives its first part"),
    ("T = tuple(A, B); O = gather(T, B);", "2:29", "argument 1 of 'gather' is a tuple",
     "element(T, 0) gives its first part"),
    ("T = tuple(A, B); O[i : 3] = +(T[i]);", "2:31",
     "expected a tensor, a dimension or "
     "a number, got a tuple", "element(T, 0) gives its first part"),
    ("T = tuple(M, B); O[i : T] = +(B[i]);", "2:24",
     "expected the size of 'O' to be an "
     "integer expression of dimensions: 'T' is a tuple", DIMENSIONS),
    ("T = tuple(M, B); O[i + T : M] = +(B[i]);", "2:24", "expected indices, dimensions "
     "and integers in an index expression: 'T' is a tuple", DIMENSIONS),
    ("O = tuple(A, B);", "1:38", "expected a tensor, a dimension or a number, got a "
     "tuple", "element(T, 0) gives its first part"),
    ("O = element(A, 0);", "2:13",
     "expected argument 1 of 'element' to be a tuple, got "
     "a tensor", "write tuple(A, B)"),
    ("O = element(tuple(A, B), 2);", "2:5",
     "the tuple has 2 parts, counted from 0: got 2", None),
    ("O = assert_square(A);", "2:5", "expected the condition of 'assert_square' to be "
     "an integer expression of dimensions, got a tensor", None),
    ("O = assert_same(2 == 3);", "2:5", "assertion failure: assert_same", None),
    ("O = broadcast(M, -1);", "2:18", "the size is negative: -1", None),
    ("O[i : match(M - N, -1) + 2] = +(B[i]);", None, None, None),
    ("O = match(2, 3);", "2:5", "assertion failure: match", None),
    ("O = broadcast(2, 3);", "2:5", "assertion failure: broadcast", None),
    ("O = match(A, B);", "2:11", "expected argument 1 of 'match' to be an integer "
     "expression of dimensions, got a tensor", DIMENSIONS),
    ("O[i : gather(M, 2)] = +(B[i]);", "2:7",
     "expected the size of 'O' to be an integer "
     "expression of dimensions: 'gather' is no function of integers", DIMENSIONS),
    # Options.
    ("O = gather(A, B, axes=1);", "2:18", "'gather' has no option 'axes'",
     "did you mean 'axis'?"),
    ("O = scatter(A, B, A, interpolation=linear);", "2:22",
     "'scatter' has no option 'interpolation'",
     "the options are axis, mode, out_of_bounds"),
    ("O = exp(A, axis=1);", "2:12", "'exp' has no options", None),
    ("O = as_float(A, 32, axis=1);", "2:21", "'as_float' has no options", None),
    ("O = gather(A, B, axis=1, axis=0);", "2:26", "a second option 'axis'", None),
    ("O = gather(A, B, axis=last);", "2:23",
     "expected 'axis' to be an integer, got last", None),
    ("O = gather(A, B, axis=1.0);", "2:23",
     "expected 'axis' to be an integer, got 1.0", None),
    ("O = gather(A, B, cube_coefficient=big);", "2:35",
     "expected 'cube_coefficient' to be a number, got big", None),
    ("O = gather(A, B, interpolation=lienar);", "2:32",
     "expected 'interpolation' to be "
     "one of none, nearest, linear, cubic, got lienar", "did you mean 'linear'?"),
    ("O = gather(A, B, mode=2);", "2:23",
     "expected 'mode' to be one of normal, nd, got "
     "2", None),
    ("O = argsort(A, 0, axis=0);", "2:5", "'argsort' has the axis twice",
     "leave one of them out"),
    # The grammar of options.
    ("O = gather(axis=1, A, B);", "2:12", "'axis' is not a tensor or a dimension", ...),
    ("O = gather(A, axis=1, B);", "2:23", "expected a name that begins with a "
     "lower-case letter, got 'B'", None),
    ("O = gather(A, B, axis=M);", "2:23", ..., ...),
    ("O = gather(A, B, axis 1);", "2:18", "'axis' is not a tensor or a dimension", ...),
    ("O = gather(A, b);", "2:15", "'b' is not a tensor or a dimension", ...),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "place", "message", "hint"), ERRORS, ids=[row[0] for row in ERRORS]
)
def test_mistakes(
    statement: str, place: str | None, message: object, hint: object
) -> None:
    text = f"{HEAD}{statement}\n}}"
    if place is None:
        parse_tile(text)
        return
    with pytest.raises(GinghamError) as caught:
        parse_tile(text, "test.tile")
    error = caught.value
    assert error.location is not None
    assert f"{error.location.line}:{error.location.column}" == place
    if message is not ...:
        assert error.message == message
    if hint is not ...:
        assert error.hint == hint


SPECIALIZED = [
    ("reshape(A, M + 1)", [(2, 3)],
     "'reshape': 2x3 has 6 elements and 3 has 3 elements"),
    ("reshape(A, M - N)", [(2, 3)],
     "the size of axis 0 of R is negative: M - N = -1 (M = 2, N = 3)"),
    ("simple_reduce(A, N, M)", [(2, 3)],
     "'simple_reduce': 3x2 does not broadcast to 2x3"),
    ("index(B, 1)", [(2, 3), (3,)], "'index': B has 1 axis, so there is no axis 1"),
    ("argsort(B, -2)", [(2, 3), (3,)],
     "'argsort': B has 1 axis, so there is no axis -2"),
    ("gather(A, B)", [(2, 3), (3,)],
     "'gather': expected integers as indices, got f32 for B"),
    ("gather(A, B == B)", [(2, 3), (3,)],
     "'gather': expected integers as indices, got i1 for the tensor"),
    ("scatter(A, A, B)", [(2, 3), (3,)],
     "'scatter': expected integers as indices, got f32 for A"),
    ("gather(A, shape(A), axis=1, batch_dims=1)", [(3, 2)],
     "'gather': the batch axes of the values are 3 and those of the indices 2, "
     "expected the same"),
    ("gather(A, shape(C), mode=nd)", [(3, 2), (3,), (3, 1, 1)],
     "'gather': the last axis of the indices has 3 coordinates, but the values have 2 "
     "axes behind the batch"),
    ("scatter(B, shape(A), A)", [(2, 3), (3,)],
     "'scatter': expected updates of shape 2, got 3"),
    ("scatter(B, shape(A), B, mode=update_slice)", [(2, 3), (3,)],
     "'scatter': expected updates of shape 2, got 3"),
    ("prng_value(prng_step(B, M))", [(2, 3), (3,)],
     "'prng': expected B to be a state of type ui32, got 3xf32"),
    ("prng_value(prng_step(as_uint(B, 32), M))", [(2, 3), (3,)],
     "'prng': expected a state of shape 3xL (for L lanes) or 1x3, got 3"),
    ("A * assert_square(M == N)", [(2, 3)],
     "assertion failure: assert_square: M == N does not hold (M = 2, N = 3)"),
    ("reshape(A, match(M, N), 1)", [(2, 3)],
     "assertion failure: match: M == N does not hold (M = 2, N = 3)"),
    ("reshape(A, broadcast(M, N), 1)", [(2, 3)],
     "assertion failure: broadcast: max(M == N, max(M == 1, N == 1)) does not hold "
     "(M = 2, N = 3)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "shapes", "message"),
    SPECIALIZED,
    ids=[row[0] for row in SPECIALIZED],
)
def test_mistakes_that_sizes_and_types_show(
    expression: str, shapes: list[tuple[int, ...]], message: str
) -> None:
    names = ["A[M, N]", "B", "C"][: len(shapes)]
    text = f"function ({', '.join(names)}) -> (R) {{ R = {expression}; }}"
    with pytest.raises(GinghamError) as caught:
        specialized(text, *(np.zeros(shape, np.float32) for shape in shapes))
    assert caught.value.message == message
    assert caught.value.location is not None
    assert caught.value.location.line == 1


@pytest.mark.parametrize(
    ("size", "value"),
    [
        ("N / 2", 3),
        ("(2 - N) / 2", -2),
        ("mod(N, 4)", 3),
        ("mod(2 - N, 4)", -1),
        ("max(N, 9) - min(N, 2)", 7),
        ("abs(2 - N) + relu(2 - N)", 5),
        ("N > 3 ? N + 1 : 0", 8),
        ("-N + 2 * N", 7),
        ("broadcast(1, N) + broadcast(N, 1) + broadcast(N, N)", 21),
        ("match(N, 3 + 4)", 7),
        ("assert_it(N == 7) + ceil(N) + floor(N) + ident(N)", 22),
    ],
)
def test_sizes_are_folded(size: str, value: int) -> None:
    """The same expression of a dimension and of numbers, as a size and as a value."""
    text = f"""function (A[N]) -> (V, W, R) {{
      V = ({size}) + 0;
      W = ({size.replace("N", "7")}) + 0;
      R[i : ({size}) + 3] = +(A[i]);
    }}"""
    as_value, of_numbers, tensor = run(text, np.ones(7, np.float32))
    assert as_value.tolist() == of_numbers.tolist() == value
    assert tensor.shape == (value + 3,)


def test_attributes_of_statements_stay_through_specialization() -> None:
    text = """function (A[M, N], S) -> (R, G, V) {
      [[pid(flat)]] R = reshape(A, M * N);
      [[pid(chosen)]] [[note]] G = gather(A, 0);
      [[pid(random)]] P = prng_step(S, 3);
      V = prng_value(P);
    }"""
    module = specialized(
        text, np.zeros((2, 3), np.float32), np.zeros((1, 3), np.uint32)
    )
    printed = str(module)
    assert 'tile.reshape %A -> [6] {tile.pid = "flat"}' in printed
    assert 'tile.gather %A, %0 {tile.pid = "chosen", tile.note}' in printed
    assert 'tile.prng %S -> [3] {tile.pid = "random"}' in printed
