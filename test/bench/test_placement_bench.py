"""The benchmark of placement runs, and says what is good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import gingham
from gingham.bench import placement
from gingham.bench.measure import Measurement
from gingham.bench.placement import Row, main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An OpenCL device, with nothing known of it."""
    name = gingham.devices()[0].name
    if name == "reference":
        pytest.skip("there is no OpenCL device")
    monkeypatch.setenv("GINGHAM_RECORDS", str(tmp_path / "records.sqlite3"))
    return name


def test_a_program_on_a_device_and_the_interpreter(
    here: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = placement.Case(
        "small product",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ((4, 3), (3, 5)),
        ((8, 3), (3, 5)),
    )
    monkeypatch.setattr(placement, "CASES", (case,))
    file = tmp_path / "rows.json"
    devices = f"{here},reference"
    main(["--devices", devices, "--seconds", "0.1", "--json", str(file)])
    assert "small product" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())
    assert row["is_correct"]
    assert row["segments"] == [here]


def test_a_device_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--devices", "none.7"]) == 2
    assert "there is no device 'none.7'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("placed", "has_branches", "processors", "good"),
    [
        (1.04, False, 2, True),
        (1.06, False, 2, False),
        (1.01, True, 2, False),
        (0.99, True, 2, True),
        (1.01, True, 1, True),
    ],
)
def test_what_is_good(
    placed: float, has_branches: bool, processors: int, good: bool
) -> None:
    row = row_of(placed, has_branches, processors)
    assert row.is_good is good


def row_of(placed: float, has_branches: bool = False, processors: int = 1) -> Row:
    """Where the best device takes one second, and the other one two."""
    rounds = 20
    best, other, times = (Measurement((each,) * rounds) for each in (1.0, 2.0, placed))
    devices = {"a": best, "b": other}
    return Row("p", devices, best, times, ["a"], 0.0, True, has_branches, processors)


def test_what_is_clear() -> None:
    assert row_of(1.04).is_clear
    assert not row_of(1.06).is_clear
    unsure = Measurement((0.9, 1.1) * 10)
    assert not replace(row_of(1.0), placed=unsure).is_clear
    assert not replace(row_of(1.0), unmeasured=unsure).is_clear


def test_verdicts() -> None:
    unsure = Measurement((0.9, 1.2) * 10)
    assert row_of(1.04).verdict == "good"
    assert row_of(1.06).verdict == "BAD"
    assert replace(row_of(1.0), placed=unsure).verdict == "unclear"
    assert replace(row_of(1.06), unmeasured=unsure).verdict == "BAD"
    assert replace(row_of(1.0), is_correct=False).verdict == "WRONG"


def test_what_slows_whole_rounds_down_does_not_count() -> None:
    row = replace(
        row_of(1.0),
        best=Measurement((1.0, 3.0, 1.0)),
        placed=Measurement((1.1, 3.3, 1.1)),
    )
    assert row.ratio == pytest.approx(1.1)


def test_only_what_may_be_the_best_device_is_measured_on(
    here: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interleaved(calls: Sequence[object], *_: object) -> list[Measurement]:
        assert len(calls) == 2
        return [Measurement((each,)) for each in (1.0, 5.0)]

    def interleaved_until(calls: Sequence[object], *_: object) -> list[Measurement]:
        assert len(calls) == 3
        return [Measurement((each,)) for each in (1.0, 0.9, 1.1)]

    case = placement.Case("sum", "function (A[N]) -> (B) { B = A + 1; }", ((4,),), ())
    monkeypatch.setattr(placement, "CASES", (case,))
    monkeypatch.setattr(placement, "interleaved", interleaved)
    monkeypatch.setattr(placement, "interleaved_until", interleaved_until)
    assert main(["--devices", f"{here},reference", "--size", "small"]) == 0
    printed = capsys.readouterr().out
    assert "5000.00" in printed
    # The device alone takes 1, placed 0.9, and compiled once more 1.1.
    assert "90 %" in printed
    assert "noise: median 10 %, worst 10 %" in printed
