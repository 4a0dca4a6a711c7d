"""Gradients of random contractions are what a sum over all points says.

A contraction of integers, held as f64, is drawn with every form that the language has:
fractions, strides, constraints, defaults, all aggregations and combinations. For each
of its points the derivative of the aggregation by that point is known in plain Python,
and so is that of the combination by each operand.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import hypothesis
import numpy as np
import pytest
from brute_force import (
    Condition,
    Contraction,
    Tensor,
    Unclear,
    hold,
    places,
    points,
)
from gradients import Array, assert_gradient, gradients, specialized
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import strategies as st
from random_programs import Drawing, Program
from xdsl.context import Context

from gingham.errors import GinghamError
from gingham.passes.tile.differentiate import TileDifferentiatePass
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.targets.reference import interpret

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "150"))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))

Cell = tuple[int, ...]
Derivatives = dict[str, dict[Cell, Fraction]]


class OneContraction(Drawing):
    """Draws inputs of f64 and one contraction of them."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.program = Program({}, {}, [], [])
        self.drawn: Contraction | None = None
        for name in "ABC"[: self._integer(1, 3)]:
            shape = [self._size() for _ in range(self._integer(0, 2))]
            self._input(name, tuple(shape))
        self.text, self.result = self._contraction("X")

    def _size(self) -> int:
        return self._integer(1, 5)

    def _input(self, name: str, shape: tuple[int, ...]) -> None:
        # Few different numbers: factors that are zero, and maxima that meet.
        values = random.Random(self._integer(0, 2**16))
        cells = {at: hold("f64", values.randint(-1, 2)) for at in places(shape)}
        self.program.inputs[name] = Tensor("f64", shape, cells)
        self.program.tensors[name] = self.program.inputs[name]

    def _show(self, name: str, x: Contraction) -> str:
        self.drawn = x
        return super()._show(name, x)


@st.composite
def contractions(draw: st.DrawFn) -> OneContraction:
    try:
        drawing = OneContraction(draw)
    except Unclear:
        assume(False)
        raise
    assume(drawing.result is not None)
    return drawing


def valid_points(x: Contraction, shapes: list[Cell]) -> Iterator[Cell]:
    """Every point of a contraction; `shapes` are those of the result and operands."""
    conditions = [
        Condition(form, size, True)
        for shape, access in zip(shapes, (x.output, *x.accesses), strict=True)
        for size, form in zip(shape, access, strict=True)
    ]
    conditions += [Condition(form, end, False) for form, end in x.constraints]
    return points(conditions, [(-200, 200) for _ in x.indices])


def place(x: Contraction, number: int, point: Cell) -> Cell:
    """The cell of an operand at a point; number 0 is the result."""
    access = (x.output, *x.accesses)[number]
    forms = [(form, form.limits([(v, v) for v in point])[0]) for form in access]
    return tuple(value // form.divisor for form, value in forms)


def by_operands(combination: str, values: list[int]) -> tuple[int, list[int]]:
    """The value of a combination, and its derivative by each operand."""
    match combination, values:
        case "", (a,):
            return a, [1]
        case "+", (a, b):
            return a + b, [1, 1]
        case "*", (a, b):
            return a * b, [b, a]
        case "==", (a, b):
            return int(a == b), [0, 0]
        case _, (a, b, c):
            return (c if a == b else 0), [0, 0, int(a == b)]
        case _:
            raise ValueError(combination)


def by_points(aggregation: str, values: list[int]) -> list[Fraction]:
    """The derivative of an aggregation by each of the values."""
    if aggregation in "+=":
        return [Fraction(1)] * len(values)
    if aggregation == "*":
        others = [values[:n] + values[n + 1 :] for n in range(len(values))]
        return [Fraction(math.prod(rest)) for rest in others]
    best = max(values) if aggregation == ">" else min(values)
    return [Fraction(int(v == best), values.count(best)) for v in values]


def derivatives(drawn: OneContraction, weights: dict[Cell, int]) -> Derivatives:
    """The derivative of the weighted sum of the result by every cell of the inputs."""
    x, tensors = drawn.drawn, drawn.program.inputs
    assert x is not None
    found: Derivatives = {
        name: dict.fromkeys(places(tensor.shape), Fraction(0))
        for name, tensor in tensors.items()
    }
    met: dict[Cell, list[Cell]] = {}
    shapes = [x.sizes, *(tensors[name].shape for name in x.operands)]
    for point in valid_points(x, shapes):
        met.setdefault(place(x, 0, point), []).append(point)
    for cell, reaching in met.items():
        combined: list[tuple[int, list[int]]] = []
        for point in reaching:
            values = [
                tensors[name].cells[place(x, number + 1, point)]
                for number, name in enumerate(x.operands)
            ]
            combined.append(by_operands(x.combination, values))
        slopes = by_points(x.aggregation, [value for value, _ in combined])
        for point, slope, (_, inner) in zip(reaching, slopes, combined, strict=True):
            for number, name in enumerate(x.operands):
                at = place(x, number + 1, point)
                found[name][at] += weights[cell] * slope * inner[number]
    if x.default is not None:
        for cell in places(x.sizes):
            if cell not in met:
                found[x.default][cell] += weights[cell]
    return found


def as_arrays(drawn: OneContraction, weights: dict[Cell, int]) -> list[Array]:
    assert drawn.drawn is not None
    w = Tensor("f64", drawn.drawn.sizes, weights)
    return [tensor.array() for tensor in (*drawn.program.inputs.values(), w)]


def whole_text(drawn: OneContraction) -> str:
    """The contraction, and its result with a weight for each cell."""
    program = Program(drawn.program.inputs, {}, [], [])
    header = program.text.partition(")")[0]
    return f"{header}, W) -> (Z) {{\n  {drawn.text};\n  Z = X * W;\n}}\n"


@hypothesis.seed(SEED)
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(drawn=contractions(), seed=st.integers(0, 2**16), flat=st.booleans())
def test_random_contractions(drawn: OneContraction, seed: int, flat: bool) -> None:
    """Whether differentiated before or after it is flattened."""
    x = drawn.drawn
    assert x is not None
    numbers = random.Random(seed)
    weights = {at: numbers.randint(-2, 3) for at in places(x.sizes)}
    arrays = as_arrays(drawn, weights)
    text = whole_text(drawn)
    inputs = list(drawn.program.inputs)
    found = unless_too_hard(
        flattened_first if flat else gradients, text, arrays, inputs
    )
    assume(found is not None)
    assert found is not None
    wanted = derivatives(drawn, weights)
    for name, gradient in zip(drawn.program.inputs, found, strict=True):
        exact = np.zeros(gradient.shape)
        for at, value in wanted[name].items():
            exact[at] = value
        np.testing.assert_allclose(gradient, exact, rtol=1e-12, atol=1e-12)


def unless_too_hard(
    run: Callable[[str, list[Array], list[str]], list[Array]],
    text: str,
    arrays: list[Array],
    wrt: list[str],
) -> list[Array] | None:
    """The gradients; None where the points of the contraction were not decided."""
    try:
        return run(text, arrays, wrt)
    except GinghamError as error:
        if "too hard" not in error.message:
            raise
        return None


def flattened_first(text: str, arrays: list[Array], wrt: list[str]) -> list[Array]:
    module = specialized(text, arrays)
    TileFlattenPass().apply(Context(), module)
    TileDifferentiatePass("Z", tuple(wrt)).apply(Context(), module)
    module.verify()
    return interpret(module, arrays)[1:]


@pytest.mark.parametrize(
    "statement",
    [
        "X[i : 7] = +(A[i] + B[i / 2])",
        "X[i : 7] = +(A[i / 3] + B[i / 2])",
        "X[i : 7] = +(A[i / 3] * B[i / 2])",
        "X[i / 2 : 7] = +(A[i] + B[(i + 1) / 3])",
        "X[i : 7] = =(B[i / 2]) default A",
        "X[2 * i : 7] = +(A[3] + B[i - 1]) default A",
        "X[i : 7] = >(A[i + k] + B[k]), k < 3",
        "X[i : 7] = <(A[i / 2 + k] * B[k]), k < 3",
        "X[i : 7] = *(A[i - k] + B[k / 2]), k < 5",
        "X[0 : 7] = *(A[i] * B[j]), i < 3, j < 2",
        "X[7 - i : 7] = +(A[0] + B[j]), j < 2, i + j < 5",
        "X[9 * i : 7] = >(A[i + 20])",
    ],
)
def test_every_place_of_a_fraction(statement: str) -> None:
    """What the operands that a derivative does not read demand is not forgotten."""
    random = np.random.default_rng(5)
    a, b, w = (random.uniform(0.5, 2, 7) for _ in range(3))
    text = f"function (A[N], B[M], W[K]) -> (Z) {{ {statement}; Z = X * W; }}"
    assert_gradient(text, [a, b, w])


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_extremes_share(sign: int) -> None:
    """A maximum that is reached twice gives each half, as PyTorch's amax does."""
    aggregation = ">" if sign > 0 else "<"
    text = f"function (A[N, M]) -> (X) {{ X[i : N] = {aggregation}(A[i, j]); }}"
    a = sign * np.array([[1.0, 3, 3, 2], [5, 5, 5, 5], [-1, -3, -2, -1]])
    (found,) = gradients(text, [a])
    wanted = [[0, 0.5, 0.5, 0], [0.25] * 4, [0.5, 0, 0, 0.5]]
    np.testing.assert_array_equal(found, wanted)


def test_extremes_of_half_precision_share() -> None:
    """More points may reach a maximum than a half has integers."""
    text = "function (A[N]) -> (X) { X[] = >(A[i]); }"
    (found,) = gradients(text, [np.ones(4099, np.float16)])
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.full(4099, np.float16(1 / 4099)))


PRODUCTS = [[2.0, 5, 3], [2, 0, 3], [0, 0, 3], [0, 0, 0], [-1, 0, 0], [4, -2, 0]]


@pytest.mark.parametrize("factors", PRODUCTS)
def test_products_with_zeros(factors: list[float]) -> None:
    text = "function (A[N]) -> (X) { X[] = *(A[i]); }"
    (found,) = gradients(text, [np.array(factors, np.float64)])
    wanted = [math.prod(factors[:n] + factors[n + 1 :]) for n in range(3)]
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("factors", PRODUCTS)
def test_second_derivatives_of_products_with_zeros(factors: list[float]) -> None:
    """The product of a Hessian with a vector is a gradient of a gradient."""
    text = """function (A[N], V[N]) -> (H) {
      X[] = *(A[i]); G = gradient(X, A); S = G * V; H = gradient(S, A);
    }"""
    vector = np.array([1.0, 10, 100])
    module = specialized(text, [np.array(factors, np.float64), vector])
    (found,) = interpret(module, [np.array(factors, np.float64), vector])
    hessian = np.zeros((3, 3))
    for n in range(3):
        for m in range(3):
            rest = [f for k, f in enumerate(factors) if k not in (n, m)]
            hessian[n, m] = 0 if n == m else math.prod(rest)
    np.testing.assert_allclose(found, hessian @ vector)


def test_a_cell_without_points_does_not_spoil_second_derivatives() -> None:
    """Nothing is divided by the number of points that reach a maximum of none."""
    text = """function (A[N]) -> (H) {
      X[i + 1 : N + 2] = >(A[i]); S = X * X * X; G = gradient(S, A);
      T = G * G; H = gradient(T, A);
    }"""
    a = np.array([1.0, -2, 3])
    (found,) = interpret(specialized(text, [a]), [a])
    # G is 3 a^2, T is 9 a^4.
    np.testing.assert_allclose(found, 36 * a**3)


def test_by_pytorch_amax_amin_and_prod() -> None:
    """On few different numbers, so that there are ties and zeros."""
    torch: Any = pytest.importorskip("torch")
    a = np.random.default_rng(8).integers(-1, 3, (6, 7)).astype(np.float64)
    for aggregation, name in ((">", "amax"), ("<", "amin"), ("*", "prod")):
        text = f"function (A[N, M]) -> (X) {{ X[i : N] = {aggregation}(A[i, j]); }}"
        tensor = torch.tensor(a, requires_grad=True)
        getattr(torch, name)(tensor, 1).sum().backward()
        (found,) = gradients(text, [a])
        np.testing.assert_allclose(found, tensor.grad.numpy(), err_msg=name)
