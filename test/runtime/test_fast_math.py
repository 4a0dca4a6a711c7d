"""`fast_math=True`: what the runtime's own functions give under relaxed mathematics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gingham
from gingham.edsl import Tensor
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.program import FAST_MATH, build_options
from gingham.tools.run import main

TEXT = "function (A[N]) -> (B) { B = erf(A) + sigmoid(A); }"
X = np.linspace(-3, 3, 777, dtype=np.float32)


def test_it_is_close(opencl_device: OpenCLDevice) -> None:
    fast = gingham.compile(TEXT, device=opencl_device, fast_math=True)
    exact = gingham.compile(TEXT, device=opencl_device)
    np.testing.assert_allclose(fast(X), exact(X), rtol=1e-2, atol=1e-3)


def test_only_without_it_functions_are_ours(opencl_device: OpenCLDevice) -> None:
    fast = gingham.compile(TEXT, device=opencl_device, fast_math=True)
    exact = gingham.compile(TEXT, device=opencl_device)
    assert "sigmoid_f32" not in fast.source(X)
    assert "sigmoid_f32" in exact.source(X)


def test_the_option_reaches_the_compiler(opencl_device: OpenCLDevice) -> None:
    assert FAST_MATH in build_options(opencl_device, fast_math=True)
    assert FAST_MATH not in build_options(opencl_device)


def test_jit_takes_it(opencl_device: OpenCLDevice) -> None:
    @gingham.jit(device=opencl_device, fast_math=True)
    def twice(x: Tensor) -> Tensor:
        return x + x

    np.testing.assert_array_equal(twice(X), X + X)


def test_programs_take_it(opencl_device: OpenCLDevice) -> None:
    a = gingham.edsl.Placeholder("f32", [777])
    program = gingham.Program("twice", [a], [a + a])
    fast = gingham.compile(program, device=opencl_device, fast_math=True)
    np.testing.assert_array_equal(fast(X), X + X)


def test_the_command_takes_it(
    opencl_device: OpenCLDevice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "erf.tile"
    file.write_text(TEXT)
    words = [
        str(file),
        "--shape",
        "A=64",
        "--device",
        opencl_device.name,
        "--emit=source",
    ]
    assert main([*words, "--fast-math"]) == 0
    fast = capsys.readouterr().out
    assert main(words) == 0
    assert "erf(" in fast
    assert fast != capsys.readouterr().out
