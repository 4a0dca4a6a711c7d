"""tile-opt on inputs with very many parts, or very many mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham import limits
from gingham.tools.optimizer.driver import run


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def errors_of(text: str, capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    Path("main.mlir").write_text(text)
    assert run(["main.mlir", *arguments]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    return err


def test_parts(capfd: pytest.CaptureFixture[str]) -> None:
    text = "// -----\n" * limits.MOST_CHUNKS
    message = errors_of(text, capfd, "--split-input-file")
    assert message == "error: 'main.mlir' has 1001 parts: more than 1000\n"


def test_errors_of_many_parts(capfd: pytest.CaptureFixture[str]) -> None:
    message = errors_of('"a"(\n// -----\n' * 120, capfd, "--split-input-file")
    assert message.count(": error: ") == 100
    assert message.endswith("\nand 20 more errors\n")


def test_values_that_are_not_defined(capfd: pytest.CaptureFixture[str]) -> None:
    uses = ", ".join(f"%x{number}" for number in range(1000))
    types = ", ".join(["i32"] * 1000)
    message = errors_of(f'"test.op"({uses}) : ({types}) -> ()', capfd)
    assert "main.mlir:1:11: error: use of undefined value '%x0'\n" in message
    assert message.count("is not defined either") == 10
    assert message.endswith("and 989 more\n")
