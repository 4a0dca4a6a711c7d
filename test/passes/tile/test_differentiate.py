"""`tile-differentiate` as a whole: programs of many ops, sizes, names, errors."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from differentiable_models import MODELS
from gradients import assert_gradient, differentiated, gradients, specialized
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp

import gingham
from gingham.dialects.tile.gradient import GradientOp
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.targets.reference import interpret


def count(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


class RandomProgram:
    """A smooth program of tensors of shape [N, M], each made of earlier ones."""

    STATEMENTS = (
        "{z} = {x} * {y};",
        "{z} = {x} - {y} * 0.5;",
        "{z} = {x} / (1.0 + {y} * {y});",
        "{z} = tanh({x}) + {y};",
        "{z} = sin({x}) * {y};",
        "{z} = sqrt(1.0 + {x} * {x}) - {y};",
        "{z} = ({x} < {y} ? {x} * {y} : {y} - {x});",
        "{z} = max({x}, {y}) * 0.7;",
        "{z} = erf({x} * {y});",
        "R{z}[i : N] = +({x}[i, j] * {y}[i, j]); C{z}[i, j : N, M] = =(R{z}[i]);"
        " {z} = tanh(C{z});",
        "R{z}[0, j : 1, M] = >({x}[i, j]); {z} = R{z} * {y};",
        "R{z}[i, 0 : N, 1] = <({x}[i, j] + {y}[i, k]); {z} = R{z} - {y};",
        "{z}[i, j : N, M] = +({x}[i - k, j] * {y}[i, j - k]), k < 2;",
        "{z}[i, j : N, M] = *({x}[i, j + k]), k < 2 default {y};",
        "{z}[i, j : N, M] = =({x}[N - 1 - i, j]);",
        "{z}[2 * i, j : N, M] = +({x}[i, j + k]), k < 2 default {y};",
        "{z} = reverse_grad(reverse_grad({x}, 1.0), 1.0) * {y};",
    )

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        names = ["X", "Y"]
        body: list[str] = []
        for number in range(choose.randint(3, 7)):
            x, y = (choose.choice(names[-3:]) for _ in range(2))
            names.append(f"Z{number}")
            body.append(choose.choice(self.STATEMENTS).format(x=x, y=y, z=names[-1]))
        self.body = "\n".join(body)
        self.last = names[-1]
        self.inputs = [
            np.random.default_rng(seed + n).uniform(-1, 1, (3, 4)) for n in range(2)
        ]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    program = RandomProgram(seed)
    text = (
        f"function (X[N, M], Y[N, M]) -> (L) {{ {program.body} L = {program.last}; }}"
    )
    assert_gradient(text, program.inputs, tolerance=1e-5, seed=seed)


@pytest.mark.parametrize("seed", range(8))
def test_second_derivatives_of_random_programs(seed: int) -> None:
    """The gradient of a product with a gradient, against differences of it."""
    program = RandomProgram(seed)
    text = f"""function (X[N, M], Y[N, M]) -> (S) {{
      {program.body} G = gradient({program.last}, X); S = G * sin(X + 2.0 * Y);
    }}"""
    assert_gradient(text, program.inputs, tolerance=1e-4, seed=seed)


@pytest.mark.parametrize("name", ["perceptron", "cross_entropy", "attention"])
def test_second_derivatives_of_models_by_pytorch(name: str) -> None:
    torch: Any = pytest.importorskip("torch")
    model = MODELS[name]
    arrays = model.inputs(np.random.default_rng(4))
    wrt = model.trained[0]
    text = f"""function ({model.header}) -> (HV) {{ {model.body}
      G1 = gradient(L, {wrt}); G2 = G1 * G1; HV = gradient(G2, {wrt});
    }}"""
    (found,) = interpret(specialized(text, arrays), arrays)
    tensors = {
        n: torch.tensor(a, requires_grad=n == wrt)
        for n, a in zip(model.names, arrays, strict=True)
    }
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    body = "\n  ".join(model.torch.splitlines())
    exec(f"def loss({', '.join(model.names)}):\n  {body}", scope)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        first = torch.autograd.grad(
            scope["loss"](**tensors), tensors[wrt], create_graph=True
        )
        (second,) = torch.autograd.grad((first[0] ** 2).sum(), tensors[wrt])
    np.testing.assert_allclose(found, second.numpy(), rtol=1e-8, atol=1e-8)


def test_size_is_linear_in_the_program() -> None:
    """A value used twice, again and again, is differentiated once."""

    def size(depth: int) -> int:
        body = "".join(f"X{n + 1} = X{n} * X{n} + sin(X{n});" for n in range(depth))
        text = f"function (X0[N]) -> (L) {{ {body} L = X{depth}; }}"
        return count(differentiated(text, [np.ones(3)]))

    assert size(60) - size(40) == size(40) - size(20) < 300


def test_gradients_of_one_loss_share_their_ops() -> None:
    """One by one as in text, they are not more than all at once."""
    inputs = [f"W{n}" for n in range(12)]
    body = "Y0 = X;" + "".join(f"Y{n + 1} = tanh(Y{n} * W{n});" for n in range(12))
    header = ", ".join(f"{name}[N]" for name in ["X", *inputs])
    calls = "".join(f"D{name} = gradient(L, {name});" for name in inputs)
    arrays = [np.ones(3)] * 13
    apart = f"function ({header}) -> (DW0, DW11) {{ {body} L = Y12 * Y12; {calls} }}"
    at_once = f"function ({header}) -> (L) {{ {body} L = Y12 * Y12; }}"
    assert count(specialized(apart, arrays)) <= count(
        differentiated(at_once, arrays, inputs)
    )


def test_the_order_of_ops_is_that_of_the_tensors() -> None:
    """The same program gives the same ops, in any run of Python."""
    names = [f"W{n}" for n in range(9)]
    body = "L = " + " + ".join(f"{n} * {n}" for n in names) + ";"
    calls = "".join(f"D{n} = gradient(L, {n});" for n in names)
    text = f"function ({', '.join(names)}) -> (L, DW0) {{ {body} {calls} }}"
    module = specialized(text, [np.ones(2)] * 9)
    sums = [op.results[0].name_hint for op in module.walk() if op.name == "eltwise.add"]
    assert sums[-9:] == [f"d{n}" for n in names]


def test_the_loss_itself_and_values_between() -> None:
    """By a value between, and by what it is made of; by the loss it is 1."""
    text = """function (X[N]) -> (DX, DY, DL) {
      Y = X * X; L = Y * Y;
      DX = gradient(L, X); DY = gradient(L, Y); DL = gradient(L, L);
    }"""
    x = np.array([1.0, -2, 3])
    by_x, by_y, by_loss = interpret(specialized(text, [x]), [x])
    np.testing.assert_array_equal(by_x, 4 * x**3)
    np.testing.assert_array_equal(by_y, 2 * x**2)
    np.testing.assert_array_equal(by_loss, np.ones(3))


def test_a_loss_that_depends_on_nothing() -> None:
    text = """function (X[N], Y[N]) -> (D, E) {
      L = Y * 2.0; D = gradient(L, X); E = gradient(X, L);
    }"""
    found = interpret(specialized(text, [np.ones(3), np.ones(3)]), [np.ones(3)] * 2)
    np.testing.assert_array_equal(found, np.zeros((2, 3)))


def test_the_gradient_of_a_gradient_by_another_gradient() -> None:
    text = """function (X[N]) -> (D) {
      L = X * X * X; G = gradient(L, X); M = G * G * X; D = gradient(M, G);
    }"""
    x = np.array([1.0, -2, 3])
    (found,) = interpret(specialized(text, [x]), [x])
    np.testing.assert_array_equal(found, 2 * 3 * x**2 * x)


@pytest.mark.parametrize("type", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_types_of_gradients(type: Any) -> None:
    """Each has the type of its tensor, whatever types come between."""
    text = "function (X[N], Y[N]) -> (L) { L = as_float(X, 64) * Y * X; }"
    x, y = np.array([1, 2, 3]).astype(type), np.array([1.0, 4, -2], np.float32)
    by_x, by_y = gradients(text, [x, y])
    assert (by_x.dtype, by_y.dtype) == (x.dtype, y.dtype)
    np.testing.assert_array_equal(by_x.astype(np.float32), [2, 16, -12])
    np.testing.assert_array_equal(by_y, [1, 4, 9])


def test_empty_tensors() -> None:
    text = "function (X[N], Y[M]) -> (L) { S[] = +(X[i]); L = S * Y; }"
    by_x, by_y = gradients(text, [np.zeros(0), np.ones(2)])
    assert by_x.shape == (0,)
    np.testing.assert_array_equal(by_y, [0, 0])


def test_new_ops_are_where_the_old_ones_were() -> None:
    text = "function (X[N]) -> (L) {\n  Y = sin(X);\n  L[] = +(Y[i]);\n}"
    lines = {
        op.name: op.location.line.data
        for op in differentiated(text, [np.ones(3)]).walk()
        if isinstance(op.location, FileLineColLoc)
    }
    assert lines["eltwise.cos"] == 2
    assert lines["tile.contract"] == 3


def test_text_keeps_one_op_until_shapes_are_known() -> None:
    text = "function (X[N]) -> (G) { L = X * X; G = gradient(L, X); }"
    (op,) = [op for op in parse_tile(text).walk() if isinstance(op, GradientOp)]
    assert len(op.gradients) == 1


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("G = gradient(X);", "'gradient' takes 2 arguments, got 1"),
        ("G = gradient(N, X);", "expected the loss to be a tensor, got a size"),
        (
            "G = gradient(X, 2.0);",
            "expected what to differentiate by to be a tensor, got a literal",
        ),
        (
            "S = as_int(X, 32); G = gradient(X, S);",
            "expected S to be a tensor of floats, got elements of type si32",
        ),
        (
            "S = N * 0.5; G = gradient(X, S);",
            "expected S to be a tensor of floats, got the number 1.5",
        ),
        (
            "B = X < 2.0; G = gradient(B, X);",
            "expected B to be a tensor of floats, got 3xi1",
        ),
    ],
)
def test_errors(statement: str, message: str) -> None:
    text = f"function (X[N]) -> (G) {{\n  {statement}\n}}"
    with pytest.raises(GinghamError) as caught:
        gingham.compile(text, device="reference")(np.ones(3))
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def test_training_reduces_the_loss() -> None:
    """Gradient descent on the default device."""
    generator = np.random.default_rng(0)
    model = MODELS["perceptron"]
    step = gingham.compile(model.with_gradients)
    x, *weights, t = [a.astype(np.float32) for a in model.inputs(generator)]
    t = (t > 0).astype(np.float32)
    losses: list[float] = []
    for _ in range(60):
        loss, _, *slopes = step(x, *weights, t)
        losses.append(float(loss))
        weights = [w - 0.5 * g for w, g in zip(weights, slopes, strict=True)]
    assert losses[-1] < 0.2 * losses[0]
