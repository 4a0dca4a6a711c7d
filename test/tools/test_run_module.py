"""`tile-run` of an .mlir file: what `tile-opt` made of a program is run as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.runtime.devices import default_device
from gingham.tools.optimizer.driver import run as tile_opt
from gingham.tools.run import main

TEXT = "function (A[N], B[N]) -> (C, S) { C = A + 2 * B; S[] = +(C[i]); }"
SPECIALIZE = 'tile-specialize{arguments="40xf32","40xf32"}'
PIPELINE = "--pipeline=opencl-cpu-avx2"

KERNEL = """
opencl.kernel @k(%A : !opencl.pointer<f32, global>, %B : !opencl.pointer<f32, global>)
    group [1, 1, 1] {
  opencl.for %i : 8 {
    %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
    opencl.store %x, %B[%i + 1] : f32 -> !opencl.pointer<f32, global>
  }
}
func.func @main(%A : !opencl.buffer<8xf32>) -> !opencl.buffer<8xf32> {
  %B = opencl.allocate : !opencl.buffer<8xf32>
  opencl.launch @k groups [1, 1, 1] (%A, %B)
      : !opencl.buffer<8xf32>, !opencl.buffer<8xf32>
  func.return %B : !opencl.buffer<8xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with `kernels.mlir` and the same program at level stripe."""
    monkeypatch.chdir(tmp_path)
    Path("sum.tile").write_text(TEXT)
    lowered = ["sum.tile", "-p", SPECIALIZE, PIPELINE, "-o", "kernels.mlir"]
    assert tile_opt(lowered) == 0
    stripe = f"{SPECIALIZE},tile-flatten,lower-tile-to-stripe"
    assert tile_opt(["sum.tile", "-p", stripe, "-o", "stripe.mlir"]) == 0
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_kernels_are_run_checked_and_timed(capfd: pytest.CaptureFixture[str]) -> None:
    if default_device().is_reference:
        pytest.skip("no OpenCL device")
    assert main(["kernels.mlir", "--check", "--time"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith(f"device: {default_device().name}, ")
    assert lines[1:5] == [
        "input A: 40, float32",
        "input B: 40, float32",
        "output C: 40, float32",
        "output S: a number, float32",
    ]
    assert lines[5].startswith("time: ")
    assert [line[:12] for line in lines[6:]] == ["check C: ok,", "check S: ok,"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("file", ["kernels.mlir", "stripe.mlir"])
def test_the_interpreter_runs_every_level(
    file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([file, "--device=reference", "--check"]) == 0
    assert "output S: a number, float32" in capfd.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.mlir"], "error: cannot read 'none.mlir': No such file"),
        (["kernels.mlir", "--shape", "A=4"], "error: --shape is for a Tile file"),
        (["kernels.mlir", "--fast-math"], "error: --fast-math is for a Tile file"),
        (["kernels.mlir", "--emit=tile"], "error: --emit is for a Tile file"),
        (["wrong.mlir"], "wrong.mlir:1:1: error: unknown operation 'stripe.blok'"),
        (["open.mlir"], "error: the sizes or types of @main are not known"),
        (["other.mlir"], "error: there is no function @main to run"),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("wrong.mlir").write_text("stripe.blok {}")
    Path("open.mlir").write_text(
        "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  func.return %a : tensor<?xf32>\n}\n"
    )
    Path("other.mlir").write_text(KERNEL.replace("@main", "@other"))
    assert main([*arguments, "--device=reference"]) == 1
    err = capfd.readouterr().err
    assert err.startswith(message)
    assert "Traceback" not in err


@pytest.mark.usefixtures("folder")
def test_a_device_runs_kernels_only(capfd: pytest.CaptureFixture[str]) -> None:
    if default_device().is_reference:
        pytest.skip("no OpenCL device")
    assert main(["stripe.mlir"]) == 1
    err = capfd.readouterr().err
    assert err.startswith("error: expected @main to be at the level opencl")
    assert "--device=reference runs any level" in err


@pytest.mark.usefixtures("folder")
def test_a_checked_program_that_leaves_its_buffer_does_not_reach_the_device(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("outside.mlir").write_text(KERNEL)
    assert main(["outside.mlir", "--check"]) == 1
    out, err = capfd.readouterr()
    assert err.startswith("outside.mlir:6:")
    assert "output" not in out
