"""What a terminal obeys is escaped wherever the commands and errors print it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import gingham
from gingham.errors import GinghamError, SourceLocation, visible
from gingham.tools import cache, devices, place, run, settings
from gingham.tools.optimizer import driver

EVIL = "\x1b[31m\u202e\x9b\u2066evil"
SHOWN = "\\x1b[31m\\u202e\\x9b\\u2066evil"
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SUM = "function (X[M, N]) -> (S) { S[m : M] = +(X[m, n]); }"


def test_visible() -> None:
    assert visible(EVIL) == SHOWN
    assert visible("a\tb\n\u00fc\u03c0\u4e2d") == "a\tb\n\u00fc\u03c0\u4e2d"


def test_errors() -> None:
    place = SourceLocation(f"{EVIL}\n", 1, 1, f"{EVIL}\n")
    text = str(GinghamError(EVIL, place, EVIL))
    assert not HIDDEN.search(text)
    first, _, _, hint = text.split("\n")
    assert first == f"{SHOWN}\\n:1:1: error: {SHOWN}"
    assert hint == f"hint: {SHOWN}"


def test_long_names_do_not_fill_the_screen() -> None:
    assert len(str(GinghamError("a" * 10**7))) < 10**4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    (tmp_path / f"{EVIL}.tile").write_text(SUM)
    (tmp_path / f"wrong{EVIL}.tile").write_text("function (A) -> (B) { B = ")
    (tmp_path / f"{EVIL}.mlir").write_text(f'"{EVIL}"')
    (tmp_path / f"{EVIL}.toml").write_text(f"{json.dumps(EVIL)} = 1")
    return tmp_path


COMMANDS: dict[str, Callable[[], int]] = {
    "opt": lambda: driver.run([f"{EVIL}.tile", f"--{EVIL}"]),
    "opt pass": lambda: driver.run([f"{EVIL}.tile", f"--passes={EVIL}"]),
    "opt text": lambda: driver.run([f"wrong{EVIL}.tile"]),
    "opt IR": lambda: driver.run([f"{EVIL}.mlir"]),
    "opt output": lambda: driver.run([f"{EVIL}.tile", "-o", f"{EVIL}/{EVIL}"]),
    "run": lambda: run.main([f"{EVIL}.tile", "--shape", f"{EVIL}=2"]),
    "run device": lambda: run.main(
        [f"{EVIL}.tile", "--device", EVIL, "--shape", "X=2x2"]
    ),
    "run output": lambda: run.main(
        [f"{EVIL}.tile", "--shape", "X=2x2", "--output", f"S={EVIL}.npy"]
    ),
    "run hardware": lambda: run.main([f"{EVIL}.tile", f"--hardware={EVIL}.toml"]),
    "place": lambda: place.main(
        [f"{EVIL}.tile", f"--devices={EVIL}", "--shape", "X=2x2"]
    ),
    "devices": lambda: devices.main([f"--{EVIL}"]),
    "cache": lambda: cache.main([EVIL]),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands(
    command: Callable[[], int], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command()
    captured = capsys.readouterr()
    assert "evil" in captured.out + captured.err
    assert not HIDDEN.search(captured.out + captured.err)


def test_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GINGHAM_RECORDS", EVIL)
    monkeypatch.setenv(f"GINGHAM_{EVIL}", "1")
    assert settings.main([]) == 0
    captured = capsys.readouterr()
    assert captured.out.count(SHOWN) == 2
    assert not HIDDEN.search(captured.out + captured.err)


def test_programs_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", str(tmp_path / EVIL))
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    (tmp_path / f"{EVIL}.tile").write_text(SUM)
    gingham.compile_file(tmp_path / f"{EVIL}.tile")
    assert cache.main([]) == 0
    out = capsys.readouterr().out
    assert SHOWN in out
    assert not HIDDEN.search(out)


def test_commands_print_by_show_only() -> None:
    folder = Path(cache.__file__).parent
    for path in folder.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.match(r"\s*print\(", line):
                assert "map(visible" in line or "end=" in line, f"{path}: {line}"
