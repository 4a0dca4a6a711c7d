"""A cache of programs on disk, for tests of what it keeps."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gingham
from gingham.runtime.cache import programs
from gingham.runtime.cache.store import PROGRAM, Store
from gingham.runtime.lowering import forget_lowered
from gingham.runtime.parsed import text_program


@contextmanager
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """An empty cache for all programs, which nothing is known of before and after."""
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")
    path = tmp_path / "programs"
    monkeypatch.setenv("GINGHAM_CACHE", str(path))
    # Somebody may be editing the code while it is tested.
    monkeypatch.setattr(programs, "code_is_unchanged", lambda: True)
    monkeypatch.setattr(programs, "code_is_as_started", lambda: True)
    forget()
    yield path
    forget()


def forget() -> None:
    """Know as little of programs as another process does."""
    programs.forget_programs()
    forget_lowered()
    text_program.cache_clear()


def stored(path: Path, kind: str = PROGRAM) -> int:
    """How many files of a kind a cache has."""
    return sum(file.kind == kind for file in Store(path, 1 << 30).files())
