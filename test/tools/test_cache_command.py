"""`tile-cache`: what it shows and removes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.runtime.store import CacheWarning, Store
from gingham.tools.cache import main


def test_it_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "programs"
    monkeypatch.setenv("GINGHAM_CACHE", str(folder))
    monkeypatch.setenv("GINGHAM_CACHE_LIMIT", "2")
    assert main([]) == 0
    assert (
        f"folder: {folder}\n0 programs, 0 B of at most 2.0 MiB"
        in capsys.readouterr().out
    )
    store = Store(folder, 2 << 20)
    store.put("a", bytes(1000))
    store.put("b", bytes(2000))
    assert main(["--files"]) == 0
    shown = capsys.readouterr().out
    assert "2 programs, 3.0 KiB of at most 2.0 MiB" in shown
    assert shown.count(".program  ") == 2
    assert main(["--clear"]) == 0
    assert "removed 2 programs" in capsys.readouterr().out
    assert store.files() == []
    folder.chmod(0o755)
    with pytest.warns(CacheWarning):
        main([])


def test_without_a_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    assert main([]) == 0
    assert "GINGHAM_CACHE=on keeps them on disk" in capsys.readouterr().out
    assert main(["--everything"]) == 1
    assert "unrecognized arguments: --everything" in capsys.readouterr().err
