"""`tile-cache`: what it shows and removes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gingham.runtime.cache.store import CacheWarning, Store
from gingham.tools.cache import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "programs"
    monkeypatch.setenv("GINGHAM_CACHE", str(path))
    monkeypatch.setenv("GINGHAM_CACHE_SIZE", "2 MiB")
    return path


def make_old(folder: Path, title: str, seconds: float) -> None:
    store = Store(folder, 2 << 20)
    (file,) = [
        file
        for file in store.files()
        if store.titles([file]) == [title] and file.kind == "program"
    ]
    then = time.time() - seconds
    os.utime(folder / file.name, (then, then))


def test_it_shows_and_clears(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out == (
        f"folder: {folder}\n0 programs, 0 B of at most 2.0 MiB\n"
    )
    store = Store(folder, 2 << 20)
    store.put("a", bytes(1000), title="softmax (X) -> (Y)")
    store.put("b", bytes(2000), title="product (A, B) -> (C)")
    store.put("c", bytes(3000), title="sum (A) -> (B)")
    store.put("d", bytes(4000), "outline", "no program")
    store.put("e", bytes(100))
    make_old(folder, "softmax (X) -> (Y)", 3 * 86400 + 5)
    make_old(folder, "product (A, B) -> (C)", 3700)
    make_old(folder, "sum (A) -> (B)", 125)
    assert main([]) == 0
    head, *programs = capsys.readouterr().out.splitlines()[1:]
    assert head.startswith("4 programs, 10.")
    assert programs == [
        "  unknown: 176 B, used just now",
        "  sum (A) -> (B): 3.0 KiB, used 2 minutes ago",
        "  product (A, B) -> (C): 2.0 KiB, used 1 hour ago",
        "  softmax (X) -> (Y): 1.1 KiB, used 3 days ago",
    ]
    assert main(["--files"]) == 0
    shown = capsys.readouterr().out
    assert shown.count(".program\n") == 4
    assert main(["--clear"]) == 0
    assert "removed 4 programs" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_it_shows_the_programs_used_last(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(folder, 2 << 20)
    for number in range(13):
        store.put(str(number), b"", title=f"program {number}")
        make_old(folder, f"program {number}", 1000 - number)
    assert main([]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[2].startswith("  program 12: ")
    assert shown[11].startswith("  program 3: ")
    assert shown[12:] == ["  and 3 more: --files lists all"]
    assert main(["--files"]) == 0
    assert "program 0: " in capsys.readouterr().out


def test_a_folder_that_others_may_use(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.warns(CacheWarning):
        main([])
    assert "0 programs" in capsys.readouterr().out


def test_a_warning_of_a_command_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = subprocess.run(
        [sys.executable, "-c", "import gingham.tools.cache as c; exit(c.main([]))"],
        env=os.environ | {"GINGHAM_CACHE": str(tmp_path / "file" / "programs")},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0
    (line,) = found.stderr.splitlines()
    assert line.startswith("warning: compiled programs are not stored in ")


def test_without_a_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    assert main([]) == 0
    assert "GINGHAM_CACHE=on keeps them on disk" in capsys.readouterr().out
    assert main(["--everything"]) == 1
    assert "unrecognized arguments: --everything" in capsys.readouterr().err
