"""The benchmark of many shapes, with few."""

from __future__ import annotations

import pytest

import gingham
from gingham.bench import shapes


@pytest.mark.parametrize("way", shapes.WAYS)
def test_each_way(
    way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if gingham.default_device().is_reference:
        pytest.skip("nothing is compiled for the interpreter")
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    for limit, status in ((1, 1), (100_000, 0)):
        options = [f"--way={way}", "--shapes=2", f"--limit={limit}"]
        assert shapes.main(options) == status
        assert capsys.readouterr().out.endswith(f"(allowed: {limit})\n")


def test_wrong_results_end_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    monkeypatch.setitem(shapes.WAYS, "compile", lambda: lambda a, b: a @ b + 1)
    assert shapes.main(["--shapes=2"]) == 1
    assert "wrong for (1, 1)" in capsys.readouterr().err
