"""Tests of the files that `tile-opt` writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gingham.tools.optimizer.driver import run

from ..optimizer_runs import VALID, Failing


def test_output_is_written_whole_or_not_at_all(failing: Failing) -> None:
    output = Path("out.mlir")
    output.write_text("before")
    failing("-o", output.name, "-p", "cse", text=VALID.replace("%b :", "%x :"))
    assert output.read_text() == "before"
    assert run(["main.mlir", "-o", output.name]) == 1
    assert output.read_text() == "before"
    Path("main.mlir").write_text(VALID)
    assert run(["main.mlir", "-o", output.name]) == 0
    assert "arith.muli" in output.read_text()
    assert sorted(path.name for path in Path().iterdir()) == ["main.mlir", "out.mlir"]


def test_no_output_when_one_part_fails(failing: Failing) -> None:
    text = f"{VALID}\n// -----\n{VALID.replace('%b :', '%x :')}"
    failing("--split-input-file", "-o", "out.mlir", text=text)
    assert not Path("out.mlir").exists()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("absent/out.mlir", "No such file or directory"), (".", "Is a directory")],
)
def test_output_that_cannot_be_written(
    path: str, reason: str, failing: Failing
) -> None:
    assert failing("-o", path) == f"error: cannot write '{path}': {reason}\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_protected_output(failing: Failing) -> None:
    output = Path("out.mlir")
    output.touch(mode=0o444)
    message = f"error: cannot write '{output}': Permission denied\n"
    assert failing("-o", output.name) == message


def test_output_keeps_links_and_modes(program: Path) -> None:
    target = Path("target.mlir")
    target.write_text("old")
    target.chmod(0o640)
    Path("link.mlir").symlink_to(target)
    assert run([program.name, "-o", "link.mlir"]) == 0
    assert Path("link.mlir").is_symlink()
    assert "func.func" in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640


def test_output_to_a_device(program: Path) -> None:
    assert run([program.name, "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
