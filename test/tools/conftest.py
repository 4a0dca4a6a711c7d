"""A program for `tile-opt`, and runs of it that have to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.tools.optimizer.driver import run

from ..optimizer_runs import VALID, Failing


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A valid program, `main.mlir` in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "main.mlir"
    path.write_text(VALID)
    return path


@pytest.fixture
def failing(program: Path, capfd: pytest.CaptureFixture[str]) -> Failing:
    """Runs `tile-opt main.mlir ...`, which has to fail; gives the message."""

    def run_it(*arguments: str, text: str | bytes | None = None) -> str:
        if isinstance(text, str):
            program.write_text(text)
        elif text is not None:
            program.write_bytes(text)
        assert run([program.name, *arguments]) == 1
        out, err = capfd.readouterr()
        assert out == ""
        assert "Traceback" not in err
        return err

    return run_it
