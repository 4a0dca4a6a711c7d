"""The ladder of the setting `debug`: what each rung writes; rung 0 writes nothing."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import gingham
from gingham import observation
from gingham.runtime.profiling.starting import follow_debug_setting
from gingham.targets.c.device import DEVICE as C

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
LINE = re.compile(
    r"gingham: \S+ C <string>:1:38: \d+\.\d{3} ms, \d+\.\d GFLOP/s, \d+\.\d GB/s, "
    r"\d+ % of the roofline"
)
Log = Callable[..., list[str]]


@pytest.fixture
def log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Log]:
    """What a call writes at a level, by lines."""

    def run(level: str, device: str | None = None) -> list[str]:
        monkeypatch.setenv("GINGHAM_DEBUG", level)
        product = gingham.compile(PRODUCT, device=device)
        product(np.ones((32, 16), np.float32), np.ones((16, 8), np.float32))
        printed = capfd.readouterr()
        assert printed.out == ""
        return printed.err.splitlines()

    # Functions of other tests that are measured may still be garbage.
    gc.collect()
    yield run
    monkeypatch.setenv("GINGHAM_DEBUG", "0")
    follow_debug_setting()
    assert observation.observer is None


def launches(lines: list[str]) -> list[str]:
    """The lines of launches; devices with memory of their own also have copies."""
    return [line for line in lines if line.startswith("gingham: ") and "FLOP" in line]


def is_ir(line: str) -> bool:
    return line.startswith("builtin.module")


def test_nothing(log: Log) -> None:
    assert log("0") == []
    assert observation.observer is None


def test_a_line_for_each_launch(log: Log) -> None:
    lines = log("1")
    (line,) = launches(lines)
    assert LINE.fullmatch(line), line
    properties = gingham.default_device().properties
    copies = 0 if properties["host_unified_memory"] else 3
    assert sum(" the device -: " in each for each in lines) == len(lines) - 1 == copies


def test_sources(log: Log) -> None:
    lines = log("2")
    assert "// OpenCL C" in lines
    assert any("void C(" in line for line in lines)
    assert len(launches(lines)) == 1
    assert not any(map(is_ir, lines))


def test_sources_in_c(log: Log) -> None:
    if C.failure() is not None:
        pytest.skip("there is no C compiler")
    lines = log("2", "c")
    assert "// C" in lines
    assert "// OpenCL C" not in lines


def test_ir_of_the_stages(log: Log) -> None:
    lines = log("3")
    names = ("specialized", "tile", "stripe", "opencl")
    assert [line for line in lines if line.startswith("// IR: ")] == [
        f"// IR: {name}" for name in names
    ]
    assert sum(map(is_ir, lines)) == 4
    assert not any(line.startswith("// pass: ") for line in lines)


def test_passes(log: Log) -> None:
    lines = log("4")
    passes = [line for line in lines if line.startswith("// pass: ")]
    lowering = re.compile(r"// pass: lower-tile-to-stripe, \d+\.\d{3} ms")
    assert any(map(lowering.fullmatch, passes))
    quiet = [line for line in passes if line.endswith(" ms, no change")]
    assert 0 < len(quiet) < len(passes)
    # The IR is shown at the beginning, and behind each pass that changed it.
    assert sum(map(is_ir, lines)) == 1 + len(passes) - len(quiet)


def test_the_interpreter_has_no_launches(log: Log) -> None:
    assert log("1", "reference") == []


def test_the_level_may_change(log: Log) -> None:
    assert len(launches(log("1"))) == 1
    assert "// OpenCL C" in log("2")
    assert log("0") == []


def test_launches_that_nobody_waits_for_are_told_of_at_the_end() -> None:
    code = """
import gingham, numpy as np
f = gingham.compile("function (A[N]) -> (B) { B = A * A; }")
f(f(gingham.asarray(np.ones(1000, np.float32))))
"""
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "GINGHAM_DEBUG": "1"},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    lines = found.stderr.splitlines()
    assert len(launches(lines)) == 2


@pytest.mark.parametrize("level", ["5", "-1", "loud"])
def test_wrong_levels(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_DEBUG", level)
    with pytest.raises(gingham.GinghamError) as error:
        gingham.compile(PRODUCT)
    assert error.value.message == (
        "the environment variable GINGHAM_DEBUG: expected a whole number from 0 to 4, "
        f"got '{level}'"
    )
