"""Kernels that hang, or end the process, are found in another one and replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.runtime.backends import second_opinion
from gingham.targets.backend import Subject
from gingham.targets.host_program import HostLaunch, HostProgram, Slot
from gingham.targets.opencl.checking import (
    CheckedExecutable,
    WrongKernelWarning,
    rehearsal,
)
from gingham.targets.opencl.checking.builds import UNOPTIMISED
from gingham.targets.opencl.compiled import CompiledCode
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.memory.copies import download, upload
from gingham.targets.opencl.program import build_options, build_program

Array = NDArray[Any]

TEXT = "function (A[N]) -> (B) { B = A + 1; }"
SIZE = 64
KERNEL = """__kernel void add_one(__global const int *restrict A, __global int *B) {
  const int i = get_global_id(0);
#ifdef __OPTIMIZE__
  FAULT
#endif
  B[i] = A[i] + 1;
}
"""
ADDS = KERNEL.replace("FAULT", "")
NEVER_ENDS = """for (ulong k = 0; k < 4000000000; ++k) {
    *(volatile __global int *)&B[i] = 1;
  }"""
"""It does, so that a test can fail, but after minutes."""
SLOW = KERNEL.replace(
    "#ifdef __OPTIMIZE__\n  FAULT\n#endif",
    "for (int k = 0; k < 100000000; ++k) *(volatile __global int *)&B[i] = 1;",
)
"""However it is built, many times what it may take in its test."""
SECONDS = 3.0
"""How long kernels may take here; those that do nothing take less, also under load."""
CRASHES = "((volatile __global int *)(ulong)(8 + A[i]))[0] = 1;"


def executable(
    device: OpenCLDevice, source: str, kept: list[CompiledCode]
) -> CheckedExecutable:
    i32, options = np.dtype(np.int32), build_options(device)
    slots = Slot("A", (SIZE,), i32), Slot("B", (SIZE,), i32)
    launch = HostLaunch("add_one", (SIZE, 1, 1), (1, 1, 1), (0, 1), False)
    program = HostProgram(slots, 1, (), (launch,), (1,))
    code = CompiledCode(
        program, source, build_program(device, source, options), options=options
    )
    ir = gingham.compile(TEXT, device=device).ir(inputs())
    module = Parser(make_context(), ir).parse_module()
    subject = Subject(
        "add",
        ["B"],
        False,
        lambda: module,
        lambda: module,
        lambda: second_opinion(module),
        kept.append,
    )
    return CheckedExecutable(code, device, subject)


def inputs() -> Array:
    return np.arange(SIZE, dtype=np.int32) % 7


def on_host(executable: CheckedExecutable) -> Sequence[Array]:
    return executable.run([inputs()])


def on_device(executable: CheckedExecutable) -> Sequence[Array]:
    queue = executable.device.queue
    buffers, _ = executable.start([upload(queue, inputs())])
    return [download(queue, each) for each in buffers]


@pytest.mark.parametrize("road", [on_host, on_device])
@pytest.mark.parametrize(
    ("fault", "message"), [(NEVER_ENDS, "do not end in 3 s"), (CRASHES, "crash")]
)
def test_kernels_that_do_not_come_to_an_end_are_replaced(
    road: Callable[[CheckedExecutable], Sequence[Array]],
    fault: str,
    message: str,
    opencl_device: OpenCLDevice,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if opencl_device.kind != "cpu" and fault == CRASHES:
        pytest.skip("other devices have no such errors")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(rehearsal, "LEAST_SECONDS", SECONDS)
    kept: list[CompiledCode] = []
    checked = executable(opencl_device, KERNEL.replace("FAULT", fault), kept)
    with pytest.warns(WrongKernelWarning, match=f"its kernels {message} on ") as caught:
        results = road(checked)
    np.testing.assert_array_equal(results[0], inputs() + 1)
    assert "without optimisation" in str(caught[0].message)
    assert UNOPTIMISED in kept[0].options
    assert kept[0].is_checked
    assert len([*tmp_path.rglob("reproduce.py")]) == 1


def test_a_program_for_which_every_build_takes_long_is_left_alone(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "LEAST_SECONDS", 0.002)
    kept: list[CompiledCode] = []
    checked = executable(opencl_device, SLOW, kept)
    np.testing.assert_array_equal(on_host(checked)[0], inputs() + 1)
    assert UNOPTIMISED not in kept[0].options


def test_a_process_that_has_ended_is_not_asked_again(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Noted(rehearsal.Rehearsing):
        def load(self, device: OpenCLDevice, code: bytes) -> bool:
            asked.append(self.pid)
            return super().load(device, code)

    processes = rehearsal.Helpers(Noted)
    monkeypatch.setattr(rehearsal, "_processes", processes)
    on_host(executable(opencl_device, ADDS, []))
    process = processes.take()
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    while not process.has_ended:
        time.sleep(0.01)
    processes.give_back(process)
    on_host(executable(opencl_device, ADDS, []))
    processes.end_all()
    first, second = asked
    assert first != second


def test_parts_of_a_device_are_tried_as_parts(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    try:
        (part,) = opencl_device.split([1])
    except GinghamError:
        pytest.skip("the device can not be divided")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(rehearsal, "LEAST_SECONDS", SECONDS)
    with pytest.warns(WrongKernelWarning, match=f"do not end in 3 s on {part.name} "):
        results = on_host(executable(part, KERNEL.replace("FAULT", NEVER_ENDS), []))
    np.testing.assert_array_equal(results[0], inputs() + 1)


def test_without_other_processes_programs_run(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "_processes", rehearsal.Helpers(_NoProcess))
    kept: list[CompiledCode] = []
    checked = executable(opencl_device, ADDS, kept)
    np.testing.assert_array_equal(on_host(checked)[0], inputs() + 1)
    assert kept


def _NoProcess() -> Any:
    raise OSError
