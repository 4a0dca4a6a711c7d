"""What is wrong with an einsum is said in the terms of its equation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gingham
from gingham.errors import GinghamError
from gingham.frontend.einsum_equation import Product, parse_equation


def product(equation: str, *shapes: tuple[int, ...]) -> Product:
    return parse_equation(equation).product(shapes)[0]


def test_an_axis_of_size_1_has_no_label_beside_a_longer_one() -> None:
    assert product("ij,jk", (2, 1), (3, 1)) == Product(
        (("i", None), ("j", "k")), ("i", "k")
    )


def test_an_ellipsis_is_counted_from_the_last_axis() -> None:
    assert product("i...,...->...i", (4, 2, 3), (3,)) == Product(
        (("i", "...2", "...1"), ("...1",)), ("...2", "...1", "i")
    )


def test_capital_letters_come_first_in_an_implicit_result() -> None:
    assert product("bA,Aa", (2, 3), (3, 4)).output == ("a", "b")
    assert product("bZ,a", (2, 3), (4,)).output == ("Z", "a", "b")


SYNTAX = [
    ("ij,j1", 5, "expected a label, which is a letter, got '1'", None),
    ("i..j", 2, "expected a label, which is a letter, got '.'", "three dots"),
    ("i...j...", 6, "a second '...' in one operand", None),
    ("i->i->i", 5, "got '-'", "behind '->', once"),
    ("i - > i", 3, "got '-'", "behind '->', once"),
    ("ij>i", 3, "got '>'", "behind '->', once"),
    ("ij->i,j", 6, "got ','", "there is one result"),
    ("ij,jk->il", 8, "the label 'l' of the result is in no operand", "have i, j, k"),
    ("ij -> ii", 7, "the label 'i' occurs 2 times in the result", "diagonal"),
]


@pytest.mark.parametrize(("equation", "column", "message", "hint"), SYNTAX)
def test_wrong_equations(
    equation: str, column: int, message: str, hint: str | None
) -> None:
    with pytest.raises(GinghamError) as raised:
        parse_equation(equation)
    error = raised.value
    assert message in error.message
    assert (error.location and error.location.column) == column
    assert (hint or "") in (error.hint or "")


SHAPES: list[tuple[str, list[tuple[int, ...]], int, str]] = [
    ("i,j", [(3,)], 1, "the equation has 2 operands, got 1"),
    ("ij, jk", [(3, 4), (4,)], 5, "operand 1 has 1 axis, 'jk' has 2 labels"),
    ("i", [(3, 4)], 1, "operand 0 has 2 axes, 'i' has 1 label"),
    ("ab...", [(3,)], 1, "operand 0 has 1 axis, 'ab...' has 2 labels"),
    ("ij,jk", [(3, 4), (5, 2)], 4, "'j' is 4 in operand 0 and 5 in operand 1"),
    ("ii", [(1, 3)], 1, "the label 'i' is 1 and 3 in operand 0"),
    ("...,...", [(2, 3), (4, 3)], 5, "axis -2 of '...' is 2 in operand 0 and 4 in"),
    ("...i->i", [(2, 3)], 7, "the result 'i' has no place for 1 axis of '...'"),
]


@pytest.mark.parametrize(("equation", "shapes", "column", "message"), SHAPES)
def test_wrong_shapes(
    equation: str, shapes: list[tuple[int, ...]], column: int, message: str
) -> None:
    with pytest.raises(GinghamError) as raised:
        parse_equation(equation).product(shapes)
    assert message in raised.value.message
    location = raised.value.location
    assert (location and location.column) == column


A = np.ones((2, 3), np.float32)
CALLS: list[tuple[tuple[Any, ...], str]] = [
    ((), "got nothing"),
    ((A,), "expected an equation"),
    ((A, A), "expected an equation"),
    ((A, [0, "i"]), "integer from 0 or ..., got 'i'"),
    ((A, [0, -1]), "got -1"),
    ((A, [..., 0, ...]), "a second '...'"),
    ((A, [0, 1], [2]), "the label '2' of the result is in no operand"),
    ((A, [0, 1, 2]), "operand 0 has 2 axes, [0, 1, 2] has 3 labels"),
    (("i", ["a", "b"]), "operand 0' has elements of type <U1"),
]


@pytest.mark.parametrize(("arguments", "message"), CALLS, ids=[m for _, m in CALLS])
def test_wrong_calls(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(GinghamError) as raised:
        gingham.einsum(*arguments, device="reference")
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("optimize", "message"),
    [
        ([(0, 1)], "the path leaves 2 operands"),
        ([(0, 3), (0, 1)], "the path takes operand 3 when 3 are left"),
        ([(0, 0), (0, 1)], "different operands in a step"),
        ([0, 1], "expected a path of tuples"),
        ("best", "opt_einsum has no optimizer 'best'"),
    ],
)
def test_wrong_paths(optimize: Any, message: str) -> None:
    vector = np.ones(2, np.float32)
    with pytest.raises(GinghamError) as raised:
        gingham.einsum(
            "i,i,i", vector, vector, vector, optimize=optimize, device="reference"
        )
    assert message in raised.value.message


def test_a_type_that_no_tensor_has() -> None:
    with pytest.raises(GinghamError, match="elements of type complex64"):
        gingham.einsum("ij", A, dtype=np.complex64, device="reference")
