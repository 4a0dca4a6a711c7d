"""Which texts are Tile and which are not: where PlaidML draws the line, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from tile_texts import run

from gingham.errors import GinghamError
from gingham.frontend.parser import parse
from gingham.frontend.syntax import Function
from gingham.frontend.tile_text import parse_tile

A = np.array([3, 1, 4, 1, 5], np.float32)
P = np.array([3, 2, 4, 2, 5], np.float32)
INPUTS = {"I": A, "_A": A, "A": A, "C": A, "a": A, "B": P, "D": P, "P": P}


def body(statements: str) -> str:
    """A function of these statements that has inputs of rank 1, and the output O."""
    return f"function (I[N], A[N], B[N], C[N], D[N], P[N]) -> (O) {{ {statements} }}"


def matrix(statement: str) -> str:
    """A function of one statement with a matrix as input."""
    return f"function (I[N, M]) -> (O) {{ {statement} }}"


def value(statement: str) -> str:
    """A function that gives the X that a statement assigns."""
    return body(f"{statement} O = X;")


ACCEPTED: list[tuple[str, object]] = [
    ("function () -> (O) { O = 1.0; }", 1),
    ("function (I[N]) -> (O) { O[i : N] = +(I[i]); }", A),
    ("function (_A[_N1]) -> (__O) { _T1 = 5; __O[_i : _T1] = +(_A[_i]); }", A),
    (body("O[] = +(I[i]);"), 14),
    (body("O[i, i : N, N] = =(I[i]);"), np.diag(A)),
    (body("O[i/2 : N] = +(I[i]);"), [3, 4, 5, 0, 0]),
    (body("O[i : N] = +(I[2i]);"), [3, 4, 5, 0, 0]),
    # What joins the first two of three operands does not count: it is a condition.
    (body("O[i : N] = +(A[i] * B[i] ? C[i]);"), [3, 0, 4, 0, 5]),
    (body("O[i : N] = +(I[i+k]), k < 3, i < N;"), [8, 6, 10, 6, 5]),
    (body("O[i : N] = +(I[i]), i < N default P;"), A),
    (body("O[2i : N] = +(I[i]), i < N default P;"), [3, 2, 1, 2, 4]),
    (body("O[i : N] = +(I[i]) no_defract default P;"), A),
    (body("O[i : N] = +(I[i]) default P no_defract no_defract default P;"), A),
    (value("X = A + B ? C : D;"), A),
    (value("X = A < B == C;"), [False, True, False, True, False]),
    (value("X = -2;"), -2),
    (body("X = as_int(A, 32); Y = as_int(B, 32); Z = 8; O = X ^ Y | Z;"),
     [8, 11, 8, 11, 8]),
    (value("[[pid(foo)]] X = A;"), A),
    ("function (#a[N]) -> (#o) { #o[i : N] = +(#a[i]); }", A),
    # As PlaidML has it, `?:` leans left: (A - B ? C : A - A) ? B : 9.
    (value("X = A - B ? C : A - A ? B : 9;"), [9, 2, 9, 2, 9]),
    # Unlike PlaidML, Tile here has comments.
    (value("// comment\nX = A; // another\n"), A),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), ACCEPTED, ids=[row[0] for row in ACCEPTED]
)
def test_accepted(text: str, expected: object) -> None:
    program = parse(text)
    assert isinstance(program, Function)
    (result,) = run(text, *(INPUTS[i.name.text] for i in program.inputs))
    np.testing.assert_array_equal(result, np.asarray(expected))


OUTSIDE_THE_GRAMMAR = [
    ("function (I[N]) -> (O) { O[i : N] = +(I[i]) }", "expected ';', got '}'"),
    (body("O[i : N] = +(A[i] + B[i] + C[i]);"), "expected ')' or '?', got '+'"),
    (value("X = A < B < C;"), "comparisons do not chain: got '<' behind a comparison"),
    (value("X = 1.;"), "expected digits on both sides of the decimal point"),
    (value("X = .5;"), "expected digits on both sides of the decimal point"),
    (value("[[pid(foo-bar)]] X = A;"), "expected ')' or ',', got '-'"),
    (value("x = A;"), "expected the name of a tensor or dimension, got 'x'"),
    ("function (I[N]) -> () { }",
     "expected a name that begins with a capital letter, got ')'"),
    (value("X = f();"), "expected an expression, got ')'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    OUTSIDE_THE_GRAMMAR,
    ids=[row[0] for row in OUTSIDE_THE_GRAMMAR],
)
def test_outside_the_grammar(text: str, message: str) -> None:
    with pytest.raises(GinghamError) as caught:
        parse(text)
    assert caught.value.message == message


WITHOUT_A_MEANING = [
    ("function (A) -> (B) { }", "the output 'B' is never assigned"),
    (matrix("O[i*j : N] = +(I[i,j]);"),
     "an index expression must be linear in the indices: the product of two indices is "
     "not linear"),
    (body("A = 1; A = 2; O = A;"), "reassignment of 'A'"),
    (body("X = 1; X = 2; O = X;"), "reassignment of 'X'"),
    (body("O[i] = +(I[i]);"), "the sizes of 'O' are missing"),
    (body("O = X; X = A;"), "unknown name 'X'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"), WITHOUT_A_MEANING, ids=[row[0] for row in WITHOUT_A_MEANING]
)
def test_within_the_grammar_but_without_a_meaning(text: str, message: str) -> None:
    parse(text)
    with pytest.raises(GinghamError) as caught:
        parse_tile(text)
    assert caught.value.message == message
