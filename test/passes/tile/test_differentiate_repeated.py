"""Gradients of gradients share what they have in common."""

from __future__ import annotations

from math import factorial
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.differentiate import TileDifferentiatePass, known_operations
from gingham.passes.tile.differentiate.known_operations import KnownOperations
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = NDArray[Any]


def repeated(value: str, times: int) -> str:
    body = "".join(f"D{i} = gradient(D{i - 1}, A);" for i in range(1, times + 1))
    return f"function (A[N]) -> (D{times}) {{ D0 = {value}; {body} }}"


def expanded(text: str) -> ModuleOp:
    module = specialize(parse_tile(text), [parse_argument_type("4xf32")])
    TileDifferentiatePass().apply(Context(), module)
    module.verify()
    return module


@pytest.mark.parametrize(
    ("value", "times", "most"),
    [
        ("sin(A)*exp(A)*A", 12, 600),
        ("tanh(sin(A)*exp(A)/(1.5+cos(A)))", 8, 2000),
        ("tanh(sin(A)*exp(A)/(1.5+cos(A)))", 12, 6000),
    ],
)
def test_they_grow_with_a_power(value: str, times: int, most: int) -> None:
    start = process_time()
    assert sum(1 for _ in expanded(repeated(value, times)).walk()) < most
    assert process_time() - start < 10


def derivative(value: str, times: int, x: Array) -> Array:
    return gingham.compile(repeated(value, times), device="reference")(x)


def test_tenth_derivatives_are_right() -> None:
    x = np.linspace(-2, 2, 9, dtype=np.float64)
    # That of a polynomial of tanh is one of tanh.
    slope, polynomial = Polynomial([1, 0, -1]), Polynomial([0, 1])
    for _ in range(10):
        polynomial = polynomial.deriv() * slope
    expected = polynomial(np.tanh(x))
    np.testing.assert_allclose(derivative("tanh(A)", 10, x), expected, rtol=1e-8)
    expected = factorial(10) / (x + 3) ** 11
    np.testing.assert_allclose(derivative("1.0/(A+3.0)", 10, x), expected, rtol=1e-10)


@pytest.mark.parametrize("value", ["sqrt(relu(A))", "sqrt(A > 0.0 ? A : 0.0)"])
def test_a_branch_that_is_not_taken_counts_for_nothing(value: str) -> None:
    found = derivative(value, 2, np.array([-1.0, 4.0]))
    np.testing.assert_allclose(found, [0.0, -1 / 32])


def test_derivatives_by_several_and_by_what_is_between() -> None:
    text = """function (A[N], B[N]) -> (AB, BA, Y) {
      C = A * B; L = sin(C) / B;
      DA = gradient(L, A); DB = gradient(L, B); DC = gradient(L, C);
      AB = gradient(DA, B); BA = gradient(DB, A); Y = gradient(DC, C);
    }"""
    a, b = np.array([0.5, -1.0]), np.array([2.0, 3.0])
    found = gingham.compile(text, device="reference")(a, b)
    mixed = -a * np.sin(a * b)
    for got, expected in zip(found, [mixed, mixed, -np.sin(a * b) / b], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


TEMPLATES = [
    *["sin({})", "cos({})", "tanh({})", "exp({})", "sigmoid({})", "relu({})"],
    *["sqrt(abs({}) + 1.5)", "log(abs({}) + 1.5)", "1.0 / (abs({}) + 1.5)"],
    *["{} + {}", "{} - {}", "{} * {}", "{0} / (2.5 + {1} * {1})"],
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Element-wise statements, and gradients of gradients."""
    names = ["A", "B"]
    lines: list[str] = []
    for number in range(draw(st.integers(1, 5))):
        operands = [draw(st.sampled_from(names)) for _ in range(2)]
        template = draw(st.sampled_from(TEMPLATES))
        names.append(f"T{number}")
        lines.append(f"T{number} = {template.format(*operands)};")
    loss = names[-1]
    for number in range(draw(st.integers(2, 3))):
        wrt = draw(st.sampled_from(["A", "B", *names]))
        weight = draw(st.sampled_from(["", " * 2.0", f" * {loss}", " + A"]))
        lines.append(f"G{number} = gradient({loss}{weight}, {wrt});")
        loss = f"G{number}"
    return f"function (A[N], B[N]) -> (G0, {loss}) {{ {' '.join(lines)} }}"


def never(*_: object) -> bool:
    return False


@given(programs())
@settings(max_examples=100, deadline=None)
def test_both_directions_give_the_same(text: str) -> None:
    inputs = [np.linspace(-2, 2, 7), np.linspace(1, -2, 7)]
    types = [parse_argument_type("7xf64")] * 2
    found: list[list[Array]] = []
    for direction in ("forward", "backward"):
        module = specialize(parse_tile(text), types)
        with pytest.MonkeyPatch.context() as patch:
            if direction == "backward":
                patch.setattr(KnownOperations, "has_derivatives", never)
            TileDifferentiatePass().apply(Context(), module)
        found.append(interpret(module, inputs))
    for got, expected in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-7)


def test_no_two_ops_are_equal() -> None:
    text = "function (A[N]) -> (G, H) { L = exp(A) * A; M = tanh(L); S = M * M;"
    module = expanded(text + "G = gradient(M, A); H = gradient(S, A); }")
    ops = [
        (op.name, op.operands, str(op.properties), str(op.result_types))
        for op in module.walk()
        if op.results
    ]
    assert len(set(ops)) == len(ops)


def test_negative_zero_is_another_number() -> None:
    text = "function (A[N]) -> (G) { G = gradient(A * 0.0 + A * -0.0, A) / 2; }"
    result = gingham.compile(text, device="reference")(np.ones(1, np.float32))
    assert result.tolist() == [0.0]
    constants = [
        str(op.properties["value"])
        for op in expanded(text).walk()
        if op.name == "eltwise.constant"
    ]
    assert len([c for c in constants if c.startswith("-0")]) == 1


def test_the_twelfth_derivative_is_right() -> None:
    # (sin(x) exp(x))'s n-th derivative is 2^(n/2) exp(x) sin(x + n pi / 4).
    x = np.linspace(-2, 2, 9, dtype=np.float64)
    program = gingham.compile(repeated("sin(A)*exp(A)", 12), device="reference")
    expected = 2.0**6 * np.exp(x) * np.sin(x + 3 * np.pi)
    np.testing.assert_allclose(program(x), expected, rtol=1e-10, atol=1e-9)


def test_a_gradient_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_operations, "MOST_OPERATIONS", 1000)
    program = gingham.compile(repeated("sin(A)*exp(A)*A", 40), device="reference")
    with pytest.raises(GinghamError, match="at most 1000 operations") as caught:
        program(np.ones(4, np.float32))
    assert caught.value.location is not None
