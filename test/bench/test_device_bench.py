"""The benchmarks with arrays of a device: what is measured, checked and reported."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gingham.bench.cases import LISTS
from gingham.bench.cases.products import matrix_product
from gingham.bench.cases.rows import softmax, transpose
from gingham.bench.contest import Result, Row, error_of
from gingham.bench.device_report import print_device_tables, standings

ROOT = Path(__file__).parents[2]


def run(tmp_path: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """The rows that the command finds, and what it says of the others."""
    found = tmp_path / "found.json"
    options = ["--arrays=device", "--seconds=0.01", "--rounds=1", f"--json={found}"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *options, *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    return json.loads(found.read_text())["rows"], done.stdout + done.stderr


def test_command_measures_arrays_of_a_device(tmp_path: Path) -> None:
    names = "--only=matrix-vector 1003,attention 3"
    rows, said = run(tmp_path, names, "--list=odd", "--peers=onnxruntime")
    assert [row["correct"] for row in rows] == [True, True]
    for row in rows:
        assert 0 < row["results"]["gingham"]["error"] < 1e-4
        assert row["results"]["gingham"]["on_device"] > 0
        assert "numpy" not in row["results"]
    assert said.count("no onnxruntime: ") == 1


def test_command_ends_with_its_budget(tmp_path: Path) -> None:
    rows, said = run(tmp_path, "--only=vector,x5", "--list=odd", "--budget=0.1")
    assert [row["name"] for row in rows] == ["matrix-vector 1003x5001"]
    assert "no time was left for: " in said
    assert "transpose 100003x5" in said


def test_a_name_means_one_case() -> None:
    programs: dict[str, tuple[str, object]] = {}
    for case in (case for each in LISTS.values() for case in each):
        meant = case.program, case.inputs
        assert programs.setdefault(case.name, meant) == meant


def test_rows_of_large_results_are_checked() -> None:
    assert matrix_product(100, 100, 100).checked_rows is None
    assert transpose(2**13, 2**13).checked_rows is None
    rows = matrix_product(4096, 4096, 4096).checked_rows
    assert rows is not None
    assert rows[0] == 0
    assert rows[-1] == 4095
    # Some in each tile of 128.
    assert {row // 128 for row in rows} == {*range(32)}


@pytest.mark.parametrize("wrong_row", [0, 25, 49])
def test_errors_are_found_in_checked_rows(tmp_path: Path, wrong_row: int) -> None:
    case = replace(softmax(50, 7), flops=1e12)
    rows = [0, 49]
    assert case.checked_rows == rows
    result = np.random.default_rng(0).random((50, 7), dtype=np.float32)
    np.save(tmp_path / "numpy.0.npy", result[rows].astype(np.float64))
    result[wrong_row, 3] += 0.5
    np.save(tmp_path / "gingham.0.npy", result)
    error = error_of(case, "gingham", tmp_path, is_exact=True)
    assert error is not None
    assert (error > case.tolerance) is (wrong_row in rows)


def test_tables_tell_both_clocks_and_rows_that_miss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def row(case: Any, ours: float, theirs: float | None) -> Row:
        other = (
            Result("torch", missing="RuntimeError: no memory")
            if theirs is None
            else Result("torch", (theirs,), on_device=theirs / 2)
        )
        mine = Result("gingham", (ours,), error=0.0, on_device=ours)
        return Row(case, (mine, other, Result("triton", missing="not there")))

    fast, slow = softmax(64, 32), softmax(64, 33)
    rows = [
        row(fast, 1e-3, 2e-3),
        row(slow, 4e-3, 2e-3),
        row(matrix_product(8, 8, 8), 1e-3, None),
    ]
    (standing,) = standings(rows)
    assert standing.ratios == {fast.name: 0.5, slow.name: 2.0}
    assert standing.mean == pytest.approx(1.0)
    assert standing.missed == [slow.name]
    print_device_tables(rows, 200, ["triton"])
    printed = capsys.readouterr().out
    assert "1000.0 (1000.0)" in printed
    assert "0.50 (1.00)" in printed
    assert "matrix product 8: no torch: RuntimeError: no memory" in printed
    assert "triton" not in printed
