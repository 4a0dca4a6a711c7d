"""The library of operations computes what NumPy does, for sizes known or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plaidml_tensors import Array
from plaidml_values import Function, evaluated, floats

from gingham import plaidml
from gingham.plaidml import op, tile

X, Y, Z = floats(3, 4), floats(4, seed=1), floats(3, 4, 2)
BITS = (floats(3, 4, seed=5) > 0).astype(np.float32)
INDICES = np.array([[4, 0], [2, 2], [1, 3]], np.int32)
FEW = np.random.default_rng(2).integers(0, 2, (3, 4)).astype(np.float32)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def where(condition: Any, x: Any, y: Any) -> Array:
    numpy: Any = np  # Its stubs do not know all of this.
    return numpy.where(condition, x, y)


def logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def rows(x: Array) -> Array:
    return x.reshape(x.shape[0], -1)


CASES: list[tuple[str, Function, Function, list[Array]]] = [
    ("ceiling", op.ceiling, np.ceil, [X * 9]),
    ("floor", op.floor, np.floor, [X * 9]),
    ("cos", op.cos, np.cos, [X]),
    ("sin", op.sin, np.sin, [X]),
    ("exp", op.exp, np.exp, [X]),
    ("log", op.log, np.log, [abs(X)]),
    ("tanh", op.tanh, np.tanh, [X]),
    ("sigmoid", op.sigmoid, logistic, [X]),
    ("identity", op.identity, np.copy, [X]),
    ("sqrt", op.sqrt, lambda x: np.sqrt(np.maximum(x, 0)), [X]),
    ("pow", lambda x: op.pow(x, 3), lambda x: x**3, [X]),
    ("pow of values", op.pow, np.power, [abs(X), Y]),
    ("clip", lambda x: op.clip(x, -0.5, 0.5), lambda x: x.clip(-0.5, 0.5), [X]),
    ("clip above", lambda x: op.clip(x, None, 0), lambda x: np.minimum(x, 0), [X]),
    ("maximum", op.maximum, np.maximum, [X, Y]),
    ("minimum", lambda x: op.minimum(x, 0.1), lambda x: np.minimum(x, 0.1), [X]),
    ("equal", op.equal, np.equal, [FEW, FEW[1]]),
    ("equal number", lambda x: op.equal(x, 1), lambda x: x == 1, [FEW]),
    ("not_equal", op.not_equal, np.not_equal, [FEW, FEW[1]]),
    (
        "cast",
        lambda x: op.cast(x, plaidml.DType.INT16),
        lambda x: x.astype(np.int16),
        [X * 9],
    ),
    (
        "cast to truth",
        lambda x: op.cast(x, plaidml.DType.BOOLEAN),
        lambda x: x.astype(bool),
        [FEW],
    ),
    ("elu", op.elu, lambda x: where(x < 0, np.expm1(x), x), [X]),
    (
        "elu alpha",
        lambda x: op.elu(x, 0.3),
        lambda x: where(x < 0, 0.3 * np.expm1(x), x),
        [X],
    ),
    ("relu", op.relu, lambda x: np.maximum(x, 0), [X]),
    (
        "leaky relu",
        lambda x: op.relu(x, 0.1),
        lambda x: where(x < 0, 0.1 * x, x),
        [X],
    ),
    (
        "relu of everything",
        lambda x: op.relu(x, 0.1, 0.5, 0.2),
        lambda x: np.minimum(where(x < 0.2, 0.1 * (x - 0.2), x), 0.5),
        [X],
    ),
    (
        "relu with a threshold",
        lambda x: op.relu(x, None, None, 0.2),
        lambda x: where(x < 0.2, 0, x),
        [X],
    ),
    ("all", op.all, lambda x: np.uint8(x.all()), [BITS]),
    (
        "all of an axis",
        lambda x: op.all(x, 0, True),
        lambda x: x.all(0, keepdims=True).astype(np.uint8),
        [BITS + FEW],
    ),
    (
        "any",
        lambda x: op.any(x, [1]),
        lambda x: x.any(1).astype(np.uint8),
        [BITS * FEW],
    ),
    ("argmax", op.argmax, lambda x: x.argmax(-1).astype(np.uint32), [X]),
    (
        "argmax of an axis",
        lambda x: op.argmax(x, 1),
        lambda x: x.argmax(1).astype(np.uint32),
        [Z],
    ),
    ("max_reduce", op.max_reduce, np.max, [X]),
    (
        "min_reduce",
        lambda x: op.min_reduce(x, (0, -1), True),
        lambda x: x.min((0, -1), keepdims=True),
        [Z],
    ),
    ("ismax", lambda x: op.ismax(x, 1), lambda x: x == x.max(1, keepdims=True), [X]),
    ("summation", lambda x: op.summation(x, [0, 2]), lambda x: x.sum((0, 2)), [Z]),
    (
        "summation of truth",
        lambda x: op.summation(x > 0, 0),
        lambda x: (x > 0).sum(0).astype(np.float32),
        [X],
    ),
    ("summation of none", lambda x: op.summation(x, []), np.copy, [X]),
    ("prod", op.prod, np.prod, [X]),
    ("mean", op.mean, np.mean, [X]),
    (
        "mean of an axis",
        lambda x: op.mean(x, 1, True),
        lambda x: x.mean(1, keepdims=True),
        [Z],
    ),
    ("variance", lambda x: op.variance(x, [0, 2]), lambda x: x.var((0, 2)), [Z]),
    (
        "cumulative_sum",
        lambda x: op.cumulative_sum(x, 1),
        lambda x: x.cumsum(1),
        [X],
    ),
    (
        "cumulative_prod",
        lambda x: op.cumulative_prod(x, -1),
        lambda x: x.cumprod(-1),
        [X],
    ),
    (
        "concatenate",
        lambda x, y, z: op.concatenate([x, y, z], 1),
        lambda x, y, z: np.concatenate([x, y, z], 1),
        [Z, floats(3, 1, 2), floats(3, 5, 2)],
    ),
    (
        "concatenate last",
        lambda x, y: op.concatenate([x, y]),
        lambda x, y: np.concatenate([x, y], -1),
        [X, floats(3, 5)],
    ),
    ("flatten", op.flatten, np.ravel, [Z]),
    ("reshape", lambda x: op.reshape(x, (2, 6)), lambda x: x.reshape(2, 6), [X]),
    ("reshape rest", lambda x: op.reshape(x, (0, -1)), rows, [Z]),
    (
        "reshape to a value",
        lambda x: op.reshape(x, (x.shape.dims[0], -1, 1)),
        lambda x: x.reshape(3, 8, 1),
        [Z],
    ),
    (
        "squeeze",
        lambda x: op.squeeze(x, [-2]),
        lambda x: x.squeeze(1),
        [floats(3, 1, 4)],
    ),
    (
        "unsqueeze",
        lambda x: op.unsqueeze(x, [0, 2]),
        lambda x: x[None, :, None],
        [X],
    ),
    ("gather", op.gather, lambda v, i: v[i], [floats(5, 2), INDICES]),
    (
        "slice_tensor",
        lambda x: op.slice_tensor(x, [1, 0], [-1, 99], [1, -2]),
        lambda x: x[-2:99, 1:-1],
        [Z],
    ),
    ("shape_of", op.shape_of, lambda x: np.int32(x.shape), [Z]),
    ("dot", op.dot, np.dot, [X, floats(4, 5)]),
    ("dot of more", op.dot, np.dot, [floats(2, 5, 4), floats(2, 4, 3)]),
    ("dot of a vector", op.dot, np.dot, [Y, floats(2, 4, 3)]),
    ("dot of vectors", op.dot, np.multiply, [Y, X[0]]),
    ("matmul", op.matmul, np.matmul, [floats(2, 3, 4), floats(2, 4, 5)]),
    ("matmul by a vector", op.matmul, np.matmul, [X, Y]),
    ("matmul of a vector", op.matmul, np.matmul, [Y, floats(2, 4, 3)]),
    ("matmul of vectors", op.matmul, np.matmul, [Y, X[0]]),
    ("gemm", op.gemm, lambda a, b, c: a @ b + c, [X, floats(4, 5), floats(5)]),
    (
        "gemm of everything",
        lambda a, b, c: op.gemm(a, b, c, 0.5, 2.0, True, True, True),
        lambda a, b, c: 0.5 * a.T @ b.T + 2 * c,
        [floats(4, 3), floats(5, 4), floats(3, 5)],
    ),
    (
        "gemm of rows",
        op.gemm,
        lambda a, b, c: rows(a) @ b + c,
        [Z, floats(8, 5), floats(5)],
    ),
    ("softmax", op.softmax, softmax, [X]),
    ("softmax of rows", op.softmax, lambda x: softmax(rows(x)).reshape(x.shape), [Z]),
    ("softmax of the last", lambda x: op.softmax(x, axis=-1), softmax, [Z]),
    ("log_softmax", lambda x: op.log_softmax(x, 2), lambda x: np.log(softmax(x)), [Z]),
    (
        "hardmax",
        op.hardmax,
        lambda x: (x == x.max(1, keepdims=True)).astype(np.float32),
        [X],
    ),
    (
        "binary_crossentropy",
        lambda t, o: op.binary_crossentropy(t, o, 1e-7, from_logits=True),
        lambda t, o: np.logaddexp(0, o) - t * o,
        [BITS, X],
    ),
    (
        "reflection_padding",
        lambda x: op.reflection_padding(x, [0, (2, 1), 1]),
        lambda x: np.pad(x, [(0, 0), (2, 1), (1, 1)], "reflect"),
        [Z],
    ),
    (
        "gradients",
        lambda x, y: op.gradients(op.tanh(x) * y, [x])[0],
        lambda x, y: (1 - np.tanh(x) ** 2) * y,
        [X, Y],
    ),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    ("function", "expected", "arrays"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_operations_are_those_of_numpy(
    function: Function, expected: Any, arrays: list[Array], known: bool
) -> None:
    found, wanted = evaluated(function, *arrays, known=known), expected(*arrays)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


def test_sizes_of_one_are_broadcast_by_matmul() -> None:
    a, b = floats(2, 1, 3, 4), floats(5, 4, 2)
    np.testing.assert_allclose(
        evaluated(op.matmul, a, b, known=True), a @ b, rtol=1e-5, atol=1e-6
    )


def test_operations_are_recognised_by_their_classes() -> None:
    x = tile.Value.from_ndims(2)
    value: tile.Value = op.softmax(x)
    assert value.source is not None
    assert isinstance(value.source.op, op.Softmax)
    assert value.source.op.inputs["I"] is x


def test_wrong_operations() -> None:
    x, y = tile.Value.from_dimensions([3, 4]), tile.Value.from_dimensions([2, 4])
    number = tile.Value.from_ndims(0)
    for error, message, mistake in (
        (ValueError, "no axis 2", lambda: op.concatenate([x, y], 2)),
        (ValueError, "differ in axis 0", lambda: op.concatenate([x, y], 1)),
        (tile.LogicError, "at most one size", lambda: op.reshape(x, (-1, -1))),
        (tile.LogicError, "as many starts", lambda: op.slice_tensor(x, [0], [1])),
        (tile.LogicError, "2 and 3 do not fit", lambda: x + y),
        (tile.LogicError, "no matrix", lambda: op.matmul(x, number)),
        (tile.LogicError, "at least 2 axes", lambda: op.gemm(number, x, y)),
        (IndexError, "axis 2 is out of bounds", lambda: op.summation(x, 2)),
        (ValueError, "named twice", lambda: op.summation(x, [0, -2])),
        (NotImplementedError, "expected a matrix", lambda: op.Softmax(number)),
        (plaidml.PlaidMLError, "padded by 3", lambda: op.reflection_padding(x, [3, 0])),
    ):
        with pytest.raises(error, match=message):
            mistake()
