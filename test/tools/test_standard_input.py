"""Programs on the standard input: read once, and told by what they begin with."""

from __future__ import annotations

import io
import os
import sys

import pytest

from gingham.tools import place, run
from gingham.tools.optimizer.input import kind_of_text

TILE = "// a sum\nfunction (A[N], B[N]) -> (C) { C = A + B; }\n"
MLIR = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = eltwise.add %a, %a : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""
SHAPES = ["--shape", "A=4", "B=4"]
CHECKED = ["--device=reference", "--check"]


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the standard input hold a text."""
    stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
@pytest.mark.parametrize(("text", "options"), [(TILE, SHAPES), (MLIR, [])])
def test_run(
    path: str,
    text: str,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    give(monkeypatch, text)
    assert run.main([path, *options, *CHECKED]) == 0
    assert ": ok, largest error 0" in capsys.readouterr().out


def test_option_says_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, MLIR)
    assert run.main(["-", "--frontend=tile", *SHAPES]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:1: error: ")


def test_pipe_is_read_once(capsys: pytest.CaptureFixture[str]) -> None:
    """As of a shell's `<(...)`, which the check cannot read a second time."""
    for text, options in ((TILE, SHAPES), (MLIR, [])):
        reader, writer = os.pipe()
        os.write(writer, text.encode())
        os.close(writer)
        assert run.main([f"/dev/fd/{reader}", *options, *CHECKED]) == 0
        os.close(reader)
        assert ": ok, largest error 0" in capsys.readouterr().out


def test_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, TILE)
    assert place.main(["-", *SHAPES, "--devices=reference"]) == 0
    assert "<stdin>:2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("/* function */ function (A) -> (B) {}", "tile"),
        ("\n [[pid(X)]] C = A + B;", "tile"),
        ("// module\nC[i: N] = +(A[i]);", "tile"),
        ("builtin.module {}", "mlir"),
        ("// C = A\nmodule {}", "mlir"),
        ('"tile.add"() : () -> ()', "mlir"),
        ("#map = affine_map<() -> ()>", "mlir"),
        ("// only a comment", "mlir"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert kind_of_text(text) == kind
