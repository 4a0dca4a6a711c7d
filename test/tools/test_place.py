"""`tile-place`: placements shown, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placed_programs import ATTENTION, BRANCHES, two_devices

from gingham.targets.hardware.machine_file import load_machine, machine_text
from gingham.tools.place import main

SHAPES = ["--shape", "X=64x96", "U1=96x128", "U2=128x96", "V1=96x128", "V2=128x96"]


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "branches.tile"
    path.write_text(BRANCHES)
    return str(path)


@pytest.fixture
def machine(tmp_path: Path) -> str:
    path = tmp_path / "machine.json"
    path.write_text(machine_text(two_devices()))
    return str(path)


def test_the_table(
    program: str, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([program, *SHAPES, "--machine", machine]) == 0
    printed = capsys.readouterr().out
    for words in ("branches.tile:2", "all on near", "all on far", "predicted", "A2"):
        assert words in printed


def test_json_and_the_page(
    program: str, machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    given = [program, *SHAPES, "--machine", machine, "--json", f"--html={page}"]
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert [unit["name"] for unit in json.loads(out)["units"]][:2] == ["A2", "A"]
    assert err == f"wrote {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_program_with_forced_devices(
    program: str, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for device in ("near", "far"):
        given = [program, *SHAPES, "--machine", machine, "--emit=ir"]
        assert main([*given, "--force", f"A={device}"]) == 0
        lines = capsys.readouterr().out.splitlines()
        (line,) = (line for line in lines if line.lstrip().startswith("%A ="))
        assert f'tile.device = "{device}"' in line
        assert "forced" in line


def test_where_data_is(
    program: str, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [shape.partition("=")[0] for shape in SHAPES[1:]]
    far = [f"{name}=far" for name in names]
    given = [program, *SHAPES, "--machine", machine, "--json"]
    assert main([*given, "--at", *far, "--to", "Y=far"]) == 0
    placed = json.loads(capsys.readouterr().out)
    assert {unit["device"] for unit in placed["units"]} == {"far"}
    assert not placed["transfers"]


def test_some_of_the_devices_and_the_machine_that_was_used(
    program: str, machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.json"
    given = [program, *SHAPES, "--machine", machine, "--devices", "far"]
    assert main([*given, "--save-machine", str(saved)]) == 0
    assert "there is one device" in capsys.readouterr().out
    assert load_machine(str(saved)) == load_machine(machine).restricted(["far"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "one of --devices and --machine is needed"),
        (["--machine", "MACHINE", "--measure"], "there is nothing to measure"),
        (["--machine", "MACHINE", "--json", "--emit=ir"], "print different things"),
        (["--machine", "MACHINE", "--devices", "other"], "has no device 'other'"),
        (["--machine", "/no/machine.json"], "cannot read '/no/machine.json'"),
        (["--machine", "MACHINE", "--at", "Q=far"], "no input 'Q' to be on 'far'"),
        (["--machine", "MACHINE", "--to", "Q=far"], "no output 'Q' to be on 'far'"),
        (["--machine", "MACHINE", "--at", "X"], "expected NAME=PLACE, got 'X'"),
        (["--machine", "MACHINE", "--force", "Q=far"], "computes no tensor 'Q'"),
        (["--machine", "MACHINE", "--html", "/no/page"], "cannot write '/no/page'"),
        (["--devices", "no.such"], "no device 'no.such'"),
    ],
)
def test_mistakes(
    options: list[str],
    message: str,
    program: str,
    machine: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [machine if option == "MACHINE" else option for option in options]
    assert main([program, *SHAPES, *given]) == 1
    assert message in capsys.readouterr().err


def test_a_mistake_shows_the_line_of_the_program(
    tmp_path: Path, machine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "attention.tile"
    path.write_text(ATTENTION)
    shapes = ["--shape", "Q=32x24", "K=40x24", "V=40x24"]
    given = [str(path), *shapes, "--machine", machine, "--force", "O=elsewhere"]
    assert main(given) == 1
    printed = capsys.readouterr().err
    assert f"{path}:7:3: error: O is forced onto 'elsewhere'" in printed
    assert "+(W[l, m] * V[m, d]);" in printed
