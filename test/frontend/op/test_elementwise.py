"""Functions of each element: activations beside torch, arithmetic beside NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from operation_checks import Cases, Operation, check, check_slopes, integers, normals

from gingham import op


def test_arithmetic() -> None:
    x, y = integers(4, 5), integers(5, seed=2)
    y[y == 0] = 3
    cases: Cases = {
        "add": (op.add, x + y),
        "subtract": (op.subtract, x - y),
        "multiply": (op.multiply, x * y),
        "divide": (op.divide, x / y),
        "mod": (op.mod, np.mod(x, y)),
        "fmod": (op.fmod, np.fmod(x, y)),
        "floor_divide": (op.floor_divide, x // y),
        "negative": (lambda x, y: op.negative(x), -x),
        "square": (lambda x, y: op.square(x), x * x),
        "reciprocal": (lambda x, y: op.reciprocal(y), 1 / y),
        "equal": (op.equal, x == y),
        "not_equal": (op.not_equal, x != y),
        "less": (op.less, x < y),
        "less_equal": (op.less_equal, x <= y),
        "greater": (op.greater, x > y),
        "greater_equal": (op.greater_equal, x >= y),
        "lerp": (lambda x, y: op.lerp(x, y, 0.25), x + np.float32(0.25) * (y - x)),
        "cast": (lambda x, y: op.cast(x, "int8"), x.astype("i1")),
    }
    check(cases, x, y, tolerance=1e-6)


def test_arithmetic_of_integers() -> None:
    x, y = integers(4, 5, dtype="int32"), integers(5, seed=2, dtype="int32")
    y[y == 0] = -3
    cases: Cases = {
        "mod": (op.mod, np.mod(x, y)),
        "fmod": (op.fmod, np.fmod(x, y)),
        "floor_divide": (op.floor_divide, x // y),
        "true_divide": (op.true_divide, (x / y).astype("f4")),
        "divide": (op.divide, np.trunc(x / y).astype("i4")),
    }
    check(cases, x, y, tolerance=1e-6)


def test_activations() -> None:
    pytest.importorskip("torch")
    import torch
    import torch.nn.functional as F

    pairs: dict[str, tuple[Operation, Operation]] = {
        "relu": (op.relu, F.relu),
        "leaky_relu": (lambda x: op.leaky_relu(x), F.leaky_relu),
        "relu6": (op.relu6, F.relu6),
        "hardtanh": (
            lambda x: op.hardtanh(x, -2.0, 1.5),
            lambda x: F.hardtanh(x, -2, 1.5),
        ),
        "elu": (lambda x: op.elu(x, 0.5), lambda x: F.elu(x, 0.5)),
        "selu": (lambda x: op.selu(x), F.selu),
        "celu": (lambda x: op.celu(x, 0.7), lambda x: F.celu(x, 0.7)),
        "gelu": (lambda x: op.gelu(x), F.gelu),
        "gelu by tanh": (
            lambda x: op.gelu(x, "tanh"),
            lambda x: F.gelu(x, approximate="tanh"),
        ),
        "silu": (op.silu, F.silu),
        "swish": (lambda x: op.swish(x, 2.0), lambda x: x * torch.sigmoid(x * 2)),
        "mish": (op.mish, F.mish),
        "hardswish": (op.hardswish, F.hardswish),
        "hard_sigmoid": (lambda x: op.hard_sigmoid(x, 1 / 6), F.hardsigmoid),
        "softplus": (
            lambda x: op.softplus(x, 2.0, 3.0),
            lambda x: F.softplus(x, 2.0, 3.0),
        ),
        "softsign": (op.softsign, F.softsign),
        "log_sigmoid": (op.log_sigmoid, F.logsigmoid),
        "hardshrink": (lambda x: op.hardshrink(x), F.hardshrink),
        "softshrink": (lambda x: op.softshrink(x), F.softshrink),
        "tanhshrink": (op.tanhshrink, F.tanhshrink),
        "glu": (lambda x: op.glu(x), F.glu),
        "prelu": (
            lambda x: op.prelu(x, np.array([[0.5], [2.0]], np.float32)),
            lambda x: torch.where(x < 0, x * torch.tensor([[0.5], [2.0]]), x),
        ),
        "thresholded_relu": (
            lambda x: op.thresholded_relu(x, 0.5),
            lambda x: torch.where(x > 0.5, x, 0),
        ),
        "softmax": (lambda x: op.softmax(x, 0), lambda x: F.softmax(x, 0)),
        "log_softmax": (lambda x: op.log_softmax(x), lambda x: F.log_softmax(x, -1)),
    }
    x = normals(3, 2, 8) * 3
    tensor = torch.tensor(x)
    cases: Cases = {
        name: (operation, np.asarray(_applied(reference, tensor)))
        for name, (operation, reference) in pairs.items()
    }
    check(cases, x, tolerance=1e-6)
    check_slopes(pairs, x)


def _applied(reference: Operation, tensor: object) -> object:
    from operation_checks import any_function

    return any_function(reference)(tensor)


def test_large_arguments_do_not_overflow() -> None:
    x = np.array([-1e4, -100, 0, 100, 1e4], np.float32)
    zero = math.log(2)
    cases: Cases = {
        "softplus": (
            lambda x: op.softplus(x),
            np.array([0, 0, zero, 100, 1e4], np.float32),
        ),
        "log_sigmoid": (
            op.log_sigmoid,
            np.array([-1e4, -100, -zero, 0, 0], np.float32),
        ),
        "softmax": (lambda x: op.softmax(x), np.array([0, 0, 0, 0, 1], np.float32)),
        "mish": (op.mish, np.array([0, 0, 0, 100, 1e4], np.float32)),
        "elu": (lambda x: op.elu(x), np.array([-1, -1, 0, 100, 1e4], np.float32)),
    }
    check(cases, x, tolerance=1e-7)


def test_hardmax_has_one_of_equal_elements() -> None:
    x = np.array([[1, 3, 3], [2, 2, 1]], np.float32)
    cases: Cases = {
        "rows": (lambda x: op.hardmax(x), np.array([[0, 1, 0], [1, 0, 0]], np.float32)),
        "columns": (
            lambda x: op.hardmax(x, 0),
            np.array([[0, 1, 1], [1, 0, 0]], np.float32),
        ),
    }
    check(cases, x)


def test_gradients_can_be_scaled_and_stopped() -> None:
    pytest.importorskip("torch")
    pairs: dict[str, tuple[Operation, Operation]] = {
        "scaled": (
            lambda x: op.scale_gradient(x, 0.5),
            lambda x: x * 0.5 + (x * 0.5).detach(),
        ),
        "stopped": (
            lambda x: op.stop_gradient(x) * x,
            lambda x: x.detach() * x,
        ),
    }
    check_slopes(pairs, normals(5))
