"""The benchmark of placement runs, and says what is good."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    main(
        ["--devices", devices, "--seconds", "0.1", "--rounds", "3", "--json", str(file)]
    )
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
    devices = {"a": Measurement((1.0,)), "b": Measurement((2.0,))}
    times = Measurement((placed,))
    row = Row("p", devices, times, ["a"], 0.0, True, has_branches, processors)
    assert row.is_good is good


def test_what_slows_whole_rounds_down_does_not_count() -> None:
    devices = {"a": Measurement((1.0, 3.0, 1.0)), "b": Measurement((2.0, 2.0, 2.0))}
    placed = Measurement((1.1, 3.3, 1.1))
    row = Row("p", devices, placed, ["a"], 0.0, True, False, 2)
    assert row.ratio == pytest.approx(1.1)


def test_what_misses_is_measured_again_and_all_turns_count(
    here: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([(1.0, 5.0, 1.5, 1.1, 9.0), (2.0, 5.0, 1.0, 2.2, 9.0)])

    def interleaved(calls: Sequence[object], *_: object) -> list[Measurement]:
        return [Measurement((each,)) for each in next(times)]

    case = placement.Case("sum", "function (A[N]) -> (B) { B = A + 1; }", ((4,),), ())
    monkeypatch.setattr(placement, "CASES", (case,))
    monkeypatch.setattr(placement, "interleaved", interleaved)
    assert main(["--devices", f"{here},reference", "--size", "small"]) == 0
    printed = capsys.readouterr().out
    assert "1500.00" in printed
    # The device alone takes 1, and compiled once more 1.1.
    assert "noise: median 10 %, worst 10 %" in printed
    assert next(times, None) is None
