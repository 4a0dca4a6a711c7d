"""Errors of Tile programs that follow the grammar but make no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.frontend.tile_text import load, parse_tile

HEAD = "function (A[M, N], B[N], S, Z[]) -> (O) {\n"


def error_of(text: str) -> GinghamError:
    with pytest.raises(GinghamError) as caught:
        parse_tile(text, "test.tile")
    return caught.value


def check(
    error: GinghamError, place: str, message: str, hint: str | None, length: int
) -> None:
    location = error.location
    assert location is not None
    assert (f"{location.line}:{location.column}", error.message) == (place, message)
    assert error.hint == hint
    assert location.length == length
    assert location.file == "test.tile"


INPUT_A, INPUT_B = (
    "it is an input, declared at 1:11",
    "it is an input, declared at 1:20",
)
ONE_VALUE = "a name has one value, so choose another"
LINEAR = "an index expression must be linear in the indices"
NO_SIZE = "to be an integer expression of dimensions"
DIMENSIONS = "the dimensions are M, N"
ONLY_SIZES = "expected indices, dimensions and integers in an index expression"
GROW = "without leaving any tensor; add a constraint such as"

STATEMENTS = [
    # Names.
    ("O = Aa + B;", "2:5", "unknown name 'Aa'", "did you mean 'A'?", 2),
    ("Tempo = A; O = Tempp(A) + Temp;", "2:16", "unknown function 'Tempp'",
     "did you mean 'step'?", 5),
    ("Tempo = A; O = Temp;", "2:16", "unknown name 'Temp'", "did you mean 'Tempo'?", 4),
    ("O = Later; Later = B;", "2:5", "unknown name 'Later'",
     "it is assigned only at 2:12, and a statement sees the names above it", 5),
    ("O[i : N] = +(O[i]);", "2:14", "unknown name 'O'",
     "it is assigned only at 2:1, and a statement sees the names above it", 1),
    ("O[i : K] = +(B[i]);", "2:7", "unknown name 'K'", None, 1),
    ("O[i + K : N] = +(B[i]);", "2:7", "unknown name 'K'", None, 1),
    ("O[i : N] = +(B[i]), i < K;", "2:25", "unknown name 'K'", None, 1),
    ("O[i : N] = +(B[i]) default P;", "2:28", "unknown name 'P'", None, 1),
    ("O = A;\nO = B;", "3:1", "reassignment of 'O'",
     f"it is assigned at 2:1; {ONE_VALUE}", 1),
    ("A = B; O = A;", "2:1", "reassignment of 'A'", f"{INPUT_A}; {ONE_VALUE}", 1),
    ("A[i : N] = +(B[i]); O = A;", "2:1", "reassignment of 'A'",
     f"{INPUT_A}; {ONE_VALUE}", 1),
    ("N = 3; O = A;", "2:1", "reassignment of 'N'",
     f"it is a dimension, declared at 1:16; {ONE_VALUE}", 1),
    ("P = A;", "1:38", "the output 'O' is never assigned", None, 1),
    # Ranks.
    ("O[i : N] = +(A[i]);", "2:14", "'A' has 2 axes, got 1 index", INPUT_A, 4),
    ("O[i : N] = +(B[i] * B[i, j]);", "2:21", "'B' has 1 axis, got 2 indices",
     INPUT_B, 7),
    ("O[] = +(Z[i]);", "2:9", "'Z' has 0 axes, got 1 index",
     "it is an input, declared at 1:29", 4),
    ("T[i : N] = +(B[i]);\nO[i : N] = +(T[i, 0]);", "3:14",
     "'T' has 1 axis, got 2 indices", "it is assigned at 2:1", 7),
    ("T = A + B;\nO[i : N] = +(T[i]);", "3:14", "'T' has 2 axes, got 1 index",
     "it is assigned at 2:1", 4),
    ("O[i : N] = +(N[i]);", "2:14", "'N' has 0 axes, got 1 index",
     "it is a dimension, declared at 1:16", 4),
    ("O[i : N] = +(B[i]) default A;", "2:28",
     "expected the default 'A' to have at most 1 axis as the output has, got 2",
     INPUT_A, 1),
    ("O[i : N] = +(B[i]) default B default A;", "2:38", "a second default, 'A'",
     "the contraction has the default 'B' already", 1),
    ("T[i : 3] = =(B[i]); U[i : 4] = =(B[i]); O = T + U;", "2:47",
     "the operands of 'add' do not broadcast: sizes 3 and 4 of axis -1 do not match",
     "sizes of one axis, counted from the last, are equal or 1", 1),
    # Sizes.
    ("O[i, j] = +(A[i, j]);", "2:1", "the sizes of 'O' are missing",
     "write one for each index behind a ':', as in O[i, j : ?, ?]", 7),
    ("O[2i\n + 1] = +(B[i]);", "2:1", "the sizes of 'O' are missing",
     "write one for each index behind a ':', as in O[2i + 1 : ?]", 10),
    ("O[i, j : N] = +(A[i, j]);", "2:10",
     "expected as many sizes as indices of 'O', got 1 for 2", None, 1),
    ("O[i : M, N] = +(A[i, j]);", "2:7",
     "expected as many sizes as indices of 'O', got 2 for 1", None, 4),
    ("O[i : A] = +(B[i]);", "2:7",
     f"expected the size of 'O' {NO_SIZE}: 'A' is a tensor", DIMENSIONS, 1),
    ("O[i : N * 0.5] = +(B[i]);", "2:11",
     f"expected the size of 'O' {NO_SIZE}: this is a float", DIMENSIONS, 3),
    ("F = 2.0; O[i : N + F] = +(B[i]);", "2:20",
     f"expected the size of 'O' {NO_SIZE}: 'F' is a float", DIMENSIONS, 1),
    ("O[i : sqrt(N)] = +(B[i]);", "2:7",
     f"expected the size of 'O' {NO_SIZE}: 'sqrt' is no function of integers",
     DIMENSIONS, 7),
    ("O[i : as_int(N, 32)] = +(B[i]);", "2:7",
     f"expected the size of 'O' {NO_SIZE}: 'as_int' is no function of integers",
     DIMENSIONS, 13),
    ("O[i : N | 1] = +(B[i]);", "2:7",
     f"expected the size of 'O' {NO_SIZE}: sizes have no operator '|'", DIMENSIONS, 5),
    ("O[i : -~N] = +(B[i]);", "2:8",
     f"expected the size of 'O' {NO_SIZE}: sizes have no operator '~'", DIMENSIONS, 2),
    ("O[i : N] = +(B[i]), i < B;", "2:25",
     f"expected the bound {NO_SIZE}: 'B' is a tensor", DIMENSIONS, 1),
    ("O[i : 2 - 5] = +(B[i]);", "2:7", "the size of 'O' is negative: -3", None, 5),
    ("O = 9223372036854775807 + 1;", "2:25",
     "the integer 9223372036854775808 does not fit 64 bits", None, 1),
    # Index expressions.
    ("O[i * j : N] = +(A[i, j]);", "2:3",
     f"{LINEAR}: the product of two indices is not linear",
     "multiply and divide indices by integers and dimensions only", 5),
    ("O[i : N] = +(A[i, 3/(i + 1)]);", "2:19",
     f"{LINEAR}: division by an index is not linear",
     "multiply and divide indices by integers and dimensions only", 8),
    ("O[i/0 : N] = +(B[i]);", "2:3", "division by zero", None, 3),
    ("O[i/(N - N) : N] = +(B[i]);", "2:3", "division by zero", None, 8),
    ("O[i/(N/2 + 1) : N] = +(B[i]);", "2:6",
     "cannot divide an index by a sum of quotients",
     "give the divisor a name in a statement above, where integer division truncates",
     7),
    ("O[i + B : N] = +(B[i]);", "2:7", f"{ONLY_SIZES}: 'B' is a tensor", DIMENSIONS, 1),
    ("F = 2.0; O[i : N] = +(B[i - F]);", "2:29", f"{ONLY_SIZES}: 'F' is a float",
     DIMENSIONS, 1),
    ("O[i : N] = +(B[i]), i + B < 3;", "2:25", f"{ONLY_SIZES}: 'B' is a tensor",
     DIMENSIONS, 1),
    ("O[i : N] = +(B[i + k - j]);", "2:20", "nothing bounds the index 'k'",
     f"'k' and 'j' can grow together {GROW} k < 3", 1),
    ("O[i : N] = +(B[i + k - k]), i < 3;", "2:20", "nothing bounds the index 'k'",
     f"it can grow {GROW} k < 3", 1),
    ("O[i : N] = +(B[i]), k - k < 3;", "2:21", "nothing bounds the index 'k'",
     f"it can grow {GROW} k < 3", 1),
    ("O[0 : N] = +(B[i/2 + j/3]);", "2:16", "nothing bounds the index 'i'",
     f"'i' and 'j' can grow together {GROW} i < 3", 1),
    # Functions.
    ("O = expp(A);", "2:5", "unknown function 'expp'", "did you mean 'exp' or 'exp2'?",
     4),
    ("O = Exp(A);", "2:5", "unknown function 'Exp'", "did you mean 'exp'?", 3),
    ("O = sqtr(A);", "2:5", "unknown function 'sqtr'",
     "did you mean 'sqrt' or 'rsqrt'?", 4),
    ("O = frobnicate(A);", "2:5", "unknown function 'frobnicate'", "there are ...", 10),
    ("O[i : maxx(N, 2)] = +(B[i]);", "2:7", "unknown function 'maxx'",
     "did you mean 'max' or 'fmax'?", 4),
    ("O = zero(A);", "2:5", "the function 'zero' of PlaidML is not supported: a "
     "function takes at least one argument", "write 0", 4),
    ("O = sub_group_broadcast(A, 0);", "2:5",
     "the function 'sub_group_broadcast' of PlaidML is not supported: it reads from "
     "another lane of the hardware, which a Tile program does not know",
     "gather(V, I) and contractions read any cell", 19),
    ("O = quantize(A, 0.5, 3);", "2:5",
     "the function 'quantize' of PlaidML is not supported: its scale and zero point "
     "are no part of a Tile program",
     "convert with a scale of your own, as in as_int(round(X / S), 8)", 8),
    ("O = pow(A);", "2:5", "'pow' takes 2 arguments, got 1",
     "pow: x to the power y.", 6),
    ("O = exp(A, B);", "2:5", "'exp' takes 1 argument, got 2",
     "exp: e to the power x.", 9),
    ("O = as_float(A);", "2:5", "'as_float' takes 2 arguments, got 1",
     "a tensor and the number of bits: as_float(X, 32)", 11),
    ("O = as_float(A, 31);", "2:17", "expected 'as_float' to have 16, 32 or 64 bits",
     None, 2),
    ("O = as_int(A, N);", "2:15", "expected 'as_int' to have 8, 16, 32 or 64 bits",
     None, 1),
    ("O = as_float(A, 32) & as_int(B, 32);", "2:21",
     "'bit_and' takes integers, got f32", None, 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "place", "message", "hint", "length"),
    STATEMENTS,
    ids=[row[0] for row in STATEMENTS],
)
def test_statements(
    statement: str, place: str, message: str, hint: str | None, length: int
) -> None:
    error = error_of(f"{HEAD}{statement}\n}}")
    if hint is not None and hint.endswith("..."):
        assert error.hint is not None
        assert error.hint.startswith(hint.removesuffix("..."))
        hint = error.hint
    check(error, place, message, hint, length)


HEADS = [
    ("(A[N], A[N]) -> (O)", "1:17", "two inputs have the name 'A'",
     "the other is at 1:11"),
    ("(A[N], N[A]) -> (O)", "1:17", "'N' is both an input and a dimension",
     "the other use is at 1:13"),
    ("(A[A]) -> (O)", "1:13", "'A' is both an input and a dimension",
     "the other use is at 1:11"),
    ("(N, A[N]) -> (O)", "1:16", "'N' is both an input and a dimension",
     "the other use is at 1:11"),
    ("(A) -> (O, O)", "1:21", "two outputs have the name 'O'", "the other is at 1:18"),
    ("(A) -> (Out)", "1:18", "the output 'Out' is never assigned",
     "did you mean 'Output'?"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "place", "message", "hint"), HEADS, ids=[row[0] for row in HEADS]
)
def test_heads(head: str, place: str, message: str, hint: str) -> None:
    error = error_of(f"function {head} {{ O = 1; Output = 2; }}")
    assert error.location is not None
    check(error, place, message, hint, error.location.length)


def test_without_dimensions_the_hint_says_where_they_come_from() -> None:
    error = error_of("function (A[]) -> (O) { F = 2.0 * A; O[i : F] = +(A[]); }")
    assert error.hint == "dimensions are named where an input is declared: A[M, N]"


def test_a_name_behind_underscores_is_capitalised_in_hints() -> None:
    error = error_of("function (A[N]) -> (O) { O = A + _t1; }")
    assert error.hint is not None
    assert "write _T1 or #_t1" in error.hint


def test_a_form_that_stands_alone_is_no_program() -> None:
    error = error_of("\npolynomial i + 1;")
    check(
        error,
        "2:1",
        "expected a function, got a polynomial that stands alone",
        "a program is 'function (inputs) -> (outputs) { statements }'",
        16,
    )


def test_a_syntax_error_comes_through() -> None:
    check(
        error_of(f"{HEAD}O = ;\n}}"), "2:5", "expected an expression, got ';'", None, 1
    )


def test_the_rendered_error() -> None:
    error = error_of("function (A[M, N]) -> (O) {\n  O[n : N] = +(A[n]);\n}\n")
    assert error.render() == (
        "test.tile:2:16: error: 'A' has 2 axes, got 1 index\n"
        "  O[n : N] = +(A[n]);\n"
        "               ^~~~\n"
        "hint: it is an input, declared at 1:11"
    )


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.tile"
    with pytest.raises(GinghamError) as caught:
        load(missing)
    assert caught.value.message == f"cannot read '{missing}': No such file or directory"
    with pytest.raises(GinghamError) as caught:
        load(tmp_path)
    assert caught.value.message == f"cannot read '{tmp_path}': Is a directory"
    latin = tmp_path / "latin.tile"
    latin.write_bytes(b"// caf\xe9\n")
    with pytest.raises(GinghamError) as caught:
        load(latin)
    assert str(caught.value.location) == f"{latin}:1:7"
    with pytest.raises(GinghamError) as caught:
        load("a\0b.tile")
    assert caught.value.message.startswith("cannot read 'a\0b.tile': ")
