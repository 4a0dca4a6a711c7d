"""A loop that a compiler in use gets wrong, as it is: found, replaced and shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.runtime.backends import second_opinion
from gingham.targets.backend import Subject
from gingham.targets.host_program import HostLaunch, HostProgram, Slot
from gingham.targets.opencl.checking import (
    CheckedExecutable,
    WrongKernelWarning,
)
from gingham.targets.opencl.compiled import CompiledCode
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.opencl.program import build_options, build_program

TEXT = "function (E[M, N]) -> (R) { T = -(E * E); R[m : M] = +(T[m, n]); }"
KERNEL = """__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sums(__global const float *restrict E, __global float *restrict R) {
  const int b = get_group_id(0);
  float array[80];
  for (int i = 0; i < 80; ++i) {
    array[i] = E[80 * b + i];
  }
  float r_acc[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    r_acc[i] = 0.0f;
  }
  #pragma unroll 1
  for (int n = 0; n < 10; ++n) {
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float e = array[n + 10 * i];
      const float t = e * e;
      const float r_acc_1 = r_acc[i];
      r_acc[i] = r_acc_1 - t;
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    R[8 * b + i] = r_acc[i];
  }
}
"""
"""The sums of `TEXT` for 64 rows of 10: Intel's runtime 2026.2.0 gives others."""


def test_sums_of_negative_squares(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    f32, options = np.dtype(np.float32), build_options(opencl_device)
    slots = Slot("E", (64, 10), f32), Slot("R", (64,), f32)
    launch = HostLaunch("sums", (8, 1, 1), (1, 1, 1), (0, 1), False)
    program = HostProgram(slots, 1, (), (launch,), (1,))
    built = build_program(opencl_device, KERNEL, options)
    code = CompiledCode(program, KERNEL, built, options=options)
    e = np.random.default_rng(0).normal(size=(64, 10)).astype(np.float32)
    right = -(e.astype(np.float64) ** 2).sum(1)
    ir = gingham.compile(TEXT, device=opencl_device).ir(e)
    module = Parser(make_context(), ir).parse_module()
    kept: list[CompiledCode] = []
    subject = Subject(
        "sums",
        ["R"],
        False,
        lambda: module,
        lambda: module,
        lambda: second_opinion(module),
        kept.append,
    )
    executable = CheckedExecutable(code, opencl_device, subject)
    (alone,) = OpenCLExecutable(code, opencl_device)(e)
    if np.allclose(alone, right, rtol=1e-4):
        # Another compiler: nothing is to be found.
        np.testing.assert_allclose(executable.run([e])[0], right, rtol=1e-4)
        assert kept[0].options == options
        return
    with pytest.warns(WrongKernelWarning, match=r"R\[\d+\] is "):
        (result,) = executable.run([e])
    np.testing.assert_allclose(result, right, rtol=1e-4)
    assert kept[0].is_checked
    (script,) = tmp_path.rglob("reproduce.py")
    shown = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    ).stdout
    assert _difference(shown) > 1


def _difference(shown: str) -> float:
    line = shown.splitlines()[-1]
    return float(line.partition("largest difference ")[2].partition(",")[0])
