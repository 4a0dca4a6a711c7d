"""`tile-run --profile`, `--trace` and `--roofline`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gingham.tools.run import main

PRODUCT = "examples/matrix_product.tile"
SHAPES = [PRODUCT, "--shape", "A=16x8", "B=8x4"]


def test_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHAPES, "--profile"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Kernels" in lines
    (row,) = [line for line in lines if f"{PRODUCT}:3:3" in line]
    assert row.split()[3] == "11"
    assert any(line.startswith("Host, 11 calls in ") for line in lines)


def test_trace_and_roofline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, roofline = tmp_path / "trace.json", tmp_path / "roofline.svg"
    assert main([*SHAPES, f"--trace={trace}", f"--roofline={roofline}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [f"wrote {trace}", f"wrote {roofline}"]
    assert "Kernels" not in lines
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event.get("cat") == "kernel" for event in events) == 11
    assert ElementTree.parse(roofline).getroot().tag.endswith("svg")


def test_files_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHAPES, "--trace=nowhere/trace.json"]) == 1
    error = capsys.readouterr().err
    assert error == (
        "error: cannot write 'nowhere/trace.json': No such file or directory\n"
    )


@pytest.mark.parametrize("option", ["--profile", "--trace=t.json", "--roofline=r.svg"])
def test_nothing_runs_with_emit(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHAPES, "--emit=source", option]) != 0
    assert "runs the program, and --emit does not" in capsys.readouterr().err
