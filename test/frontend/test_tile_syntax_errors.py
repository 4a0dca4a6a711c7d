"""Syntax errors of Tile text: what they say, where they point, what they advise."""

from __future__ import annotations

import pytest

from gingham.errors import GinghamError
from gingham.frontend.parser import parse
from gingham.limits import MOST_NESTED


def error_of(text: str) -> GinghamError:
    with pytest.raises(GinghamError) as caught:
        parse(text, "test.tile")
    return caught.value


def in_function(statement: str) -> GinghamError:
    """The error of a statement, which begins at line 2, column 1."""
    return error_of(f"function (A[N], I[N]) -> (O) {{\n{statement}\n}}")


def check(
    error: GinghamError, place: str, message: str, hint: str | None, length: int
) -> None:
    assert error.location is not None
    location = error.location
    assert (f"{location.line}:{location.column}", error.message) == (place, message)
    assert error.hint == hint
    assert location.length == length
    assert location.file == "test.tile"


CAPITAL = "those begin with a capital letter: write"
NOT_CLOSED = "is not closed"
OWN_STATEMENT = "in a statement of its own"
ONLY_TENSORS = (
    f"only tensors and indices stand in a contraction; compute the rest {OWN_STATEMENT}"
)
SEMICOLON = "end the statement with ';'"
CONSTRAINT = (
    "a constraint is written 'index expression < size' and says that the expression is "
    "at least 0 too"
)
AGGREGATION = "the sign of the aggregation stands behind the '=': write O[i : N] ="
START = "'function', 'polynomial', 'expression' or 'contraction'"
INDEX_VALUE = "an index variable has a value only between square brackets"

STATEMENTS = [
    # What is missing.
    ("O[i : N] = +(I[i])", "2:19", "expected ';', got '}'", SEMICOLON, 1),
    ("O = A\n X = A;", "2:6", "expected ';', got 'X'", SEMICOLON, 1),
    ("O = A\n x = A;", "2:6", "expected ';', got 'x'", SEMICOLON, 1),
    ("O = A\n [[pid(x)]] X = A;", "2:6", "expected ';', got '[['", SEMICOLON, 1),
    ("O = A B;", "2:7", "expected ';' or an operator, got 'B'", None, 1),
    ("O = (A + I;", "2:11", "expected ')', got ';'", f"the '(' at 2:5 {NOT_CLOSED}", 1),
    ("O = (A + I];", "2:11", "expected ')', got ']'",
     f"the '(' at 2:5 {NOT_CLOSED}", 1),
    ("O = exp(A;", "2:10", "expected ')', got ';'", f"the '(' at 2:8 {NOT_CLOSED}", 1),
    ("O[i : N] = +(I[i];", "2:18", "expected ')', got ';'",
     f"the '(' at 2:13 {NOT_CLOSED}", 1),
    ("O[i : N] = +(I[i);", "2:17", "expected ']', got ')'",
     f"the '[' at 2:15 {NOT_CLOSED}", 1),
    ("O[i : N = +(I[i]);", "2:9", "expected ']', got '='",
     f"the '[' at 2:2 {NOT_CLOSED}", 1),
    ("O[i : N] +(I[i]);", "2:10", "expected '=', got '+'", None, 1),
    ("O[i : N] = (I[i]);", "2:12",
     "expected an aggregation ('+', '*', '>', '<' or '='), got '('",
     "a contraction is written O[i : N] = +(...), to copy O[i : N] = =(...)", 1),
    ("O[i :] = +(I[i]);", "2:6", "expected an expression, got ']'", None, 1),
    ("O[: N] = +(I[i]);", "2:5", "expected ']', got 'N'",
     "before the ':' stand the indices, one for each size: O[i : N]", 1),
    ("O = A + ;", "2:9", "expected an expression, got ';'", None, 1),
    # Names.
    ("out = A;", "2:1", "expected the name of a tensor or dimension, got 'out'",
     f"{CAPITAL} Out or #out", 3),
    ("O[i : n] = +(I[i]);", "2:7", "'n' is not a tensor or a dimension",
     f"{CAPITAL} N or #n; {INDEX_VALUE}", 1),
    ("O = A + i;", "2:9", "'i' is not a tensor or a dimension",
     f"{CAPITAL} I or #i; {INDEX_VALUE}", 1),
    ("O[i : N] = +(I[i]), i < n;", "2:25", "'n' is not a tensor or a dimension",
     f"{CAPITAL} N or #n; {INDEX_VALUE}", 1),
    ("O[i : N] = +(I[i]) default p;", "2:28",
     "expected the name of a tensor or dimension, got 'p'", f"{CAPITAL} P or #p", 1),
    ("O[i : N] = +(a[i]);", "2:14",
     "expected the name of a tensor or dimension, got 'a'", f"{CAPITAL} A or #a", 1),
    ("O[i : N] = +(I[i]) default 5;", "2:28",
     "expected a name that begins with a capital letter, got '5'",
     "give the number a name in a statement before: D = 5;", 1),
    ("O[i : N] = +(I[i]) default 1.5;", "2:28",
     "expected a name that begins with a capital letter, got '1.5'",
     "give the number a name in a statement before: D = 1.5;", 3),
    ("O = default;", "2:5", "expected an expression, got the keyword 'default'",
     "to use it as a name, write #default", 7),
    ("O[default : N] = +(I[i]);", "2:3",
     "expected ']', an index expression or ':', got the keyword 'default'",
     "to use it as a name, write $default", 7),
    ("function = A;", "2:1", "expected '}' or a statement, got the keyword 'function'",
     "to use it as a name, write #function", 8),
    ("_1 = A;", "2:1", "a name begins with a letter, not with '_'", None, 1),
    ("[[pid(foo-bar)]] O = A;", "2:10", "expected ')' or ',', got '-'", None, 1),
    # Numbers.
    ("O = 1.;", "2:6", "expected digits on both sides of the decimal point",
     "write 1.0", 1),
    ("O = A * .5;", "2:9", "expected digits on both sides of the decimal point",
     "write 0.5", 1),
    ("O = 1.5.5;", "2:8", "unexpected character '.'", None, 1),
    ("O[2N : N] = +(I[i]);", "2:4", "expected ']', an operator, ',' or ':', got 'N'",
     "a product is written 2 * N", 1),
    ("O = 2A;", "2:6", "expected ';' or an operator, got 'A'",
     "a product is written 2 * A", 1),
    ("O = 9223372036854775808;", "2:5", "the integer does not fit 64 bits",
     "an integer goes up to 9223372036854775807; as a float, write "
     "9223372036854775808.0", 19),
    ("O = 1e999;", "2:5", "the number is too large", "a float goes up to 1.8e308", 5),
    # Habits from elsewhere.
    ("O += I[i];", "2:3", "'+=' is not an operator of Tile text",
     f"{AGGREGATION} +(...)", 1),
    ("O[i] += I[i];", "2:6", "'+=' is not an operator of Tile text",
     f"{AGGREGATION} +(...)", 1),
    ("O[i] >= I[i];", "2:6", "'>=' is not an operator of Tile text",
     f"{AGGREGATION} >(...)", 2),
    ("O[i : N] == (I[i]);", "2:10", "expected '=', got '=='",
     "to assign without aggregating, write O[i : N] = =(...)", 2),
    ("O(i) += I(i);", "2:2", "expected '[' or '=', got '('",
     "indices and sizes stand between '[' and ']'", 1),
    ("O[i : N] = +(I(i));", "2:15", "expected '[', got '('",
     "indices and sizes stand between '[' and ']'", 1),
    ("# comment", "2:1", "'#' does not begin a comment", "comments begin with '//'", 1),
    ("/* comment */", "2:1", "'/*' does not begin a comment",
     "comments begin with '//'", 1),
    ("O = A && I;", "2:7", "'&&' is not an operator", "write logical_and(a, b)", 2),
    ("O = A || I;", "2:7", "'||' is not an operator", "write logical_or(a, b)", 2),
    ("O = A ** 2;", "2:7", "'**' is not an operator", "write pow(a, b)", 2),
    ("O = A % 2;", "2:7", "'%' is not an operator", "write mod(a, b)", 1),
    ("O = !A;", "2:5", "'!' is not an operator", "write logical_not(a)", 1),
    ("O = A < I < 3;", "2:11", "comparisons do not chain: got '<' behind a comparison",
     "write (A < B) & (B < C), or put one of them in parentheses", 1),
    ("O = A == I != 3;", "2:12",
     "comparisons do not chain: got '!=' behind a comparison",
     "write (A < B) & (B < C), or put one of them in parentheses", 2),
    # Contractions.
    ("O = A[i] * 2;", "2:6", "indices are used in contractions only",
     "an expression takes whole tensors; a contraction is a statement of its own, such "
     "as T[i : N] = +(A[i]);", 1),
    ("O = 1 + +(A[i]);", "2:9", "expected an expression, got '+'",
     "a contraction is a statement of its own", 1),
    ("O = +(A[i]);", "2:5", "expected an expression, got '+'",
     "a contraction says what it writes: O[] = +(...) gives one number, "
     "O[i : N] = +(...) a vector of N", 1),
    ("O[i : N] = +(A[i] + I[i] + A[i]);", "2:26", "expected ')' or '?', got '+'",
     "a contraction combines at most two tensors; make it two contractions", 1),
    ("O[i : N] = +(A[i] - I[i]);", "2:19", "expected ')', '+', '*' or '==', got '-'",
     "the tensors of a contraction are combined by '*', '+' or '=='; compute the rest "
     f"{OWN_STATEMENT}", 1),
    ("O[i : N] = +(2 * I[i]);", "2:14", "expected a tensor with its indices, got '2'",
     ONLY_TENSORS, 1),
    ("O[i : N] = +(exp(I[i]));", "2:14",
     "expected a tensor with its indices, got 'exp'",
     ONLY_TENSORS, 3),
    ("O[i : N] = +(I[i]), i <= 3;", "2:23", "expected '<' and a size, got '<='",
     CONSTRAINT, 2),
    ("O[i : N] = +(I[i]), i;", "2:22", "expected '<' and a size, got ';'",
     CONSTRAINT, 1),
    ("O = exp();", "2:9", "expected an expression, got ')'",
     "a function takes at least one argument", 1),
    # Characters.
    ("O = @A;", "2:5", "unexpected character '@'", None, 1),
    ("O = \x00A;", "2:5", "unexpected character U+0000", None, 1),
    ("O = \u00e9;", "2:5", "unexpected character '\u00e9'", None, 1),
    ("O = A \u200b;", "2:7", "unexpected character U+200B", None, 1),
    ("\tO = @A;", "2:6", "unexpected character '@'", None, 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "place", "message", "hint", "length"),
    STATEMENTS,
    ids=[row[0] for row in STATEMENTS],
)
def test_statements(
    statement: str, place: str, message: str, hint: str | None, length: int
) -> None:
    check(in_function(statement), place, message, hint, length)


PROGRAMS = [
    ("", "1:1", f"expected {START}, got the end of the file", None),
    ("// nothing\n", "1:1", f"expected {START}, got the end of the file", None),
    ("functoin (A) -> (B) { }", "1:1", f"expected {START}, got 'functoin'",
     "did you mean 'function'?"),
    ("O = A;", "1:1", f"expected {START}, got 'O'",
     "a program is 'function (inputs) -> (outputs) { statements }'"),
    ("function", "1:9", "expected '(', got the end of the file", None),
    ("function (", "1:11", "expected ')', got the end of the file",
     "the '(' at 1:10 is not closed"),
    ("function (A) (B) { }", "1:14", "expected '->', got '('", None),
    ("function (A) -> () { }", "1:18",
     "expected a name that begins with a capital letter, got ')'",
     "a function has at least one output"),
    ("function (A[3]) -> (B) { }", "1:13",
     "expected ']' or a name that begins with a capital letter, got '3'",
     "the sizes of an input are names, bound when the function is called: A[M, N]"),
    ("function (A[n]) -> (B) { }", "1:13",
     "expected the name of a tensor or dimension, got 'n'", f"{CAPITAL} N or #n"),
    ("function (A[N) -> (B) { }", "1:14", "expected ']', got ')'",
     "the '[' at 1:12 is not closed"),
    ("function (A) -> (B) { B = A;", "1:29", "expected '}', got the end of the file",
     "the '{' at 1:21 is not closed"),
    ("function (A) -> (B) {\n B = A\n", "2:7", "expected ';', got the end of the file",
     "end the statement with ';'"),
    ("function (A) -> (B) { };", "1:24", "expected the end of the file, got ';'",
     "no ';' stands behind the '}'"),
    ("function (A) -> (B) { }\n}", "2:1", "expected the end of the file, got '}'",
     "there is one '}' too many"),
    ("function (A) -> (A) { } function (A) -> (A) { }", "1:25",
     "expected the end of the file, got the keyword 'function'",
     "a file holds one function"),
    ("polynomial i*;", "1:14", "expected an index expression, got ';'", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"), PROGRAMS, ids=[row[0] for row in PROGRAMS]
)
def test_programs(text: str, place: str, message: str, hint: str | None) -> None:
    error = error_of(text)
    assert error.location is not None
    check(error, place, message, hint, error.location.length)


def test_the_user_sees_the_line_and_a_caret() -> None:
    error = error_of("function (A) -> (B) {\r\n\tB = A + ;\r\n}\r\n")
    assert error.render() == (
        "test.tile:2:10: error: expected an expression, got ';'\n"
        "\tB = A + ;\n"
        "\t        ^"
    )


def test_the_caret_underlines_the_name() -> None:
    error = error_of("function (A) -> (B) { result = A; }")
    assert error.render() == (
        "test.tile:1:23: error: expected the name of a tensor or dimension, got "
        "'result'\n"
        "function (A) -> (B) { result = A; }\n"
        "                      ^~~~~~\n"
        "hint: those begin with a capital letter: write Result or #result"
    )


def test_no_character_of_the_source_reaches_the_terminal_as_control() -> None:
    error = error_of("function (A) -> (B) {\n B = \x1b[31mA;\n}")
    assert "\x1b" not in error.render()
    assert error.message == "unexpected character U+001B"


def test_other_line_separators_do_not_shift_the_excerpt() -> None:
    error = error_of("// \u2028 \x0c \x85\nfunction (A) -> (B) { B = @; }")
    assert error.location is not None
    assert error.location.line == 2
    assert "B = @;" in error.render()


def test_nesting_has_a_limit() -> None:
    depth = MOST_NESTED - 1
    parse(f"function (A) -> (B) {{ B = {'(' * depth}A{')' * depth}; }}")
    error = error_of(f"function (A) -> (B) {{ B = {'(' * 10_000}A{')' * 10_000}; }}")
    assert error.message == "expected at most 256 brackets inside each other"
    assert error.hint == "give the inner part a name in a statement of its own"
    assert error.location is not None
    assert (error.location.line, error.location.column) == (1, 27 + depth)


def test_long_chains_have_none() -> None:
    parse(f"function (A) -> (B) {{ B = {'-' * 10_000}A{' + A' * 10_000}; }}")


def test_numbers_of_any_length() -> None:
    parse(f"function () -> (O) {{ O = {'0' * 10_000}1; }}")
    parse("function () -> (O) { O = 9223372036854775807; }")
    error = error_of(f"function () -> (O) {{ O = {'9' * 10_000}; }}")
    assert error.message == "the integer does not fit 64 bits"
    assert error.hint is not None
    assert len(error.hint) < 120
    error = error_of(f"function () -> (O) {{ O = {'9' * 10_000}.0; }}")
    assert error.message == "the number is too large"
