"""Random examples are the same in each run, whatever has run before."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers


def examples() -> list[tuple[int, str]]:
    """What a test of random numbers and texts is given."""
    drawn: list[tuple[int, str]] = []

    @given(st.integers(), st.text())
    def draw(number: int, text: str) -> None:
        drawn.append((number, text))

    # What Hypothesis keeps between tests is not kept between runs.
    providers.CONSTANTS_CACHE.cache.clear()
    draw()
    return drawn


def test_examples_do_not_depend_on_what_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = examples()
    assert len(before) == settings().max_examples
    lines = [f"NUMBER{n}, TEXT{n} = {10**6 + n}, 'some text {n}'" for n in range(99)]
    path = tmp_path / "constants.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("constants_for_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "constants_for_examples", module)
    spec.loader.exec_module(module)
    assert examples() == before
