"""Whatever the text, the parser answers with a tree or with a located GinghamError."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gingham.errors import GinghamError
from gingham.frontend.parser import parse
from gingham.frontend.source import decode

PROGRAMS = [
    """function (A[M, K], B[K, N]) -> (C) {
  [[pid(matmul)]] C[i, j : M, N] = +(A[i, k] * B[k, j]), k < K - 1 default Z no_defract;
}
""",
    """// Softmax, with one of everything.
function (X[N, M], S[], T, #low[N]) -> (O, P) {
  Top[n, 0 : N, 1] = >(X[n, m]);
  E = exp(X - Top) * 1.5e-3 + (S < 2 ? -T : ~T ^ 3 | 7 & 1);\r
  Sum[n, m/2 : N, (M + 1) / 2] = +(E[n, 2m - 1 + $k] == E[n, m] ? X[n, m]), $k < 2;
  O = E / Sum >> 2 << 1;\tP = max(O, 0.5) != #low;
}""",
    "contraction O[2i - N/3 : N] = =(I[i'] + J[]), 3i < N, i < 2;",
]

FRAGMENTS = [
    "[", "]", "[[", "]]", "(", ")", "{", "}", ";", ",", ":", "?", "=", "==", "->", "+",
    "-", "~", "<", "<<", "<=", "/", "//", "/*", ".", "1.", ".5", "1e", "2e5", "#", "$",
    "default", "function", "no_defract", "A", "i", "_", "'", '"', "\x00", "\ufeff",
    "\r", "\u2028", "\U0001f600", "\udc80", "9" * 30,
]  # fmt: skip


def survives(text: str) -> bool:
    """Whether the text is a program; any error must be one for the user."""
    try:
        parse(text, "any.tile")
    except GinghamError as error:
        check_place(error, text)
        return False
    return True


def check_place(error: GinghamError, text: str) -> None:
    location = error.location
    assert location is not None
    normal = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = normal.split("\n")
    assert 1 <= location.line <= len(lines)
    assert 1 <= location.column <= len(lines[location.line - 1]) + 1
    assert error.message
    rendered = error.render()
    assert rendered.startswith(f"{location}: error: ")
    assert "^" in rendered
    # No name of a terminal of the grammar is shown.
    for name in ("RPAR", "SEMICOLON", "IDXID", "$END", "__ANON"):
        assert name not in error.message
        assert name not in (error.hint or "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_are_valid(program: str) -> None:
    assert survives(program)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_truncation(program: str) -> None:
    complete = len(program.rstrip())
    for length in range(len(program)):
        assert survives(program[:length]) == (length >= complete)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_single_character_removed_or_doubled(program: str) -> None:
    for at in range(len(program)):
        survives(program[:at] + program[at + 1 :])
        survives(program[: at + 1] + program[at:])


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_random_mutations(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(PROGRAMS))
    pieces = st.one_of(st.sampled_from(FRAGMENTS), st.characters(), st.text(max_size=4))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        text = text[:start] + data.draw(pieces) + text[end:]
    survives(text)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from([*FRAGMENTS, " ", "\n", "1", "2.5", "B'", "max"])))
def test_random_tokens(tokens: list[str]) -> None:
    survives("".join(tokens))
    survives(f"function (A) -> (B) {{ {' '.join(tokens)} }}")


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_random_bytes(data: st.DataObject) -> None:
    program = data.draw(st.sampled_from(PROGRAMS)).encode()
    at = data.draw(st.integers(0, len(program)))
    noise = data.draw(st.binary(min_size=1, max_size=4))
    damaged = program[:at] + noise + program[at:]
    try:
        text = decode(damaged, "any.tile")
    except GinghamError as error:
        check_place(error, damaged.decode("utf-8", "replace"))
        return
    survives(text)


def test_the_byte_that_is_not_utf8() -> None:
    with pytest.raises(GinghamError) as caught:
        decode(b"\xef\xbb\xbf// \xc3\xa9\r\nA = \xff;", "latin.tile")
    assert caught.value.render() == (
        "latin.tile:2:5: error: expected UTF-8 text, got the byte 0xff\n"
        "A = \ufffd;\n    ^\n"
        "hint: save the file in the encoding UTF-8"
    )


@pytest.mark.parametrize("bracket", ["(", "[", "{", "[["])
def test_many_open_brackets(bracket: str) -> None:
    assert not survives(f"function (A) -> (B) {{ B = {bracket * 10_000}")
    assert not survives(f"function (A) -> (B) {{ B[{bracket * 10_000}")
    assert not survives(bracket * 10_000)
