"""`bench.passes` tells which passes change a program, and who needs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gingham
from gingham.bench import passes
from gingham.bench.collection import collection
from gingham.bench.passes import main


def test_passes_that_change_a_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.json"
    hardware = "cpu-avx2,nvidia-h200"
    programs = ["example transpose", "outer product"]
    assert main([*programs, "--hardware", hardware, "--json", str(file)]) == 0
    assert "stripe-plan-vectors" in capsys.readouterr().out
    rows = {row["pass"]: row for row in json.loads(file.read_text())}
    every = {"cpu-avx2": programs[::-1], "nvidia-h200": programs[::-1]}
    fires = rows["lower-tile-to-stripe"]["fires"]
    assert {name: sorted(found)[::-1] for name, found in fires.items()} == every
    # A work-item of a GPU computes with no vectors.
    assert [*rows["stripe-plan-vectors"]["fires"]] == ["cpu-avx2"]
    assert rows["tile-differentiate"]["fires"] == {}


def test_passes_that_a_program_needs(capsys: pytest.CaptureFixture[str]) -> None:
    only = ["example transpose", "--hardware", "cpu-avx2"]
    assert main([*only, "--without", "tile-differentiate"]) == 0
    assert "0 of 1 differ" in capsys.readouterr().out
    assert main([*only, "--without", "stripe-plan-vectors"]) == 1
    assert "cpu-avx2, example transpose: other IR" in capsys.readouterr().out
    assert main([*only, "--without", "lower-tile-to-stripe"]) == 1
    assert "cpu-avx2, example transpose: " in capsys.readouterr().out


def test_what_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no such program"]) == 2
    assert main(["transpose", "--without", "stripe-conjure"]) == 2
    error = capsys.readouterr().err
    assert "no program is called no such program" in error
    assert "not in the pipeline: stripe-conjure" in error


def test_programs_have_names_of_their_own() -> None:
    names = [sample.name for sample in collection()]
    assert len(names) == len({*names})


def test_how_much_longer_a_program_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = gingham.devices()[0]
    if here.is_reference or here.kind != "cpu":
        pytest.skip("no processor runs OpenCL here")
    monkeypatch.setattr(passes, "_SECONDS", 0.1)
    monkeypatch.setattr(passes, "_ROUNDS", 2)
    only = ["example transpose", "--device", here.name, "--without"]
    assert main([*only, "tile-differentiate"]) == 0
    assert capsys.readouterr().out == ""
    assert main([*only, "stripe-plan-vectors"]) == 0
    assert re.match(
        r"example transpose: \d+\.\d\d times as long\n$", capsys.readouterr().out
    )
    assert main([*only[:2], "reference", "--without", "stripe-plan-vectors"]) == 2
