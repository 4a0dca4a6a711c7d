"""Building programs: options, kernels, and errors that show the source."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from gingham.errors import GinghamError
from gingham.targets.opencl.build_log import describe_failure, error_lines, excerpt
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.memory.copies import download
from gingham.targets.opencl.program import build_program

BROKEN = """\
// line 1
kernel void fill(global float *x) {
  const size_t i = get_global_id(0);
  x[i] = undeclared;
}
// line 6
// line 7
// line 8
"""


@pytest.mark.parametrize(
    "line",
    [
        "1:4:10: error: use of undeclared identifier 'x'",
        "<kernel>:4:10: error: use of undeclared identifier 'x'",
        "/tmp/pocl-12/tempfile_34.cl:4:10: fatal error: file not found",
        "error: /home/me/.cache/pocl/tempfile-52-3d.cl:4:10: error: unknown type",
        "4:10: error: no file name at all",
        "error: /tmp/kcache/tempfile_9J.cl:4:10: use of undeclared identifier 'x'",
    ],
)
def test_errors_of_every_compiler_are_located(line: str) -> None:
    log = f"Compilation started\n{line}\n   4 | x[i] = y;\n1:9:1: warning: unused\n"
    assert error_lines(log) == [4]


def test_an_excerpt_marks_the_lines() -> None:
    source = "\n".join(f"text {number}" for number in range(1, 21))
    assert excerpt(source, [2, 10, 99]) == (
        "   1 | text 1\n"
        ">  2 | text 2\n"
        "   3 | text 3\n"
        "   4 | text 4\n"
        "  ...\n"
        "   8 | text 8\n"
        "   9 | text 9\n"
        "> 10 | text 10\n"
        "  11 | text 11\n"
        "  12 | text 12"
    )
    assert excerpt("", [1]) == ""


def test_a_long_log_is_cut() -> None:
    text = describe_failure("x", "\n".join(f"remark {i}" for i in range(250)))
    assert "remark 99\n... 150 more lines" in text
    assert describe_failure("x", " \n") == "the compiler gave no reason"


def test_a_failed_build_shows_log_and_source(
    opencl_device: OpenCLDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    # A compiler inside the driver may write to the terminal; Python's streams are ours.
    before = set(Path(tempfile.gettempdir()).glob("*.cl"))
    with pytest.raises(GinghamError) as caught:
        build_program(opencl_device, BROKEN, ("-DA=1",))
    message = caught.value.message
    assert f"device {opencl_device.name!r} with options -DA=1 failed" in message
    assert "undeclared" in message
    assert ">" in message
    assert "> 4 |   x[i] = undeclared;" in message
    assert "  6 | // line 6" in message
    assert "// line 8" not in message
    assert set(Path(tempfile.gettempdir()).glob("*.cl")) == before
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_an_unknown_option_is_an_error(opencl_device: OpenCLDevice) -> None:
    with pytest.raises(GinghamError, match="building OpenCL C for device"):
        build_program(opencl_device, "kernel void a() {}", ("-not-an-option",))


def test_remarks_are_shown_to_who_debugs(
    opencl_device: OpenCLDevice,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "#warning remember the milk\nkernel void a() {}"
    monkeypatch.delenv("GINGHAM_DEBUG", raising=False)
    build_program(opencl_device, source)
    assert capsys.readouterr() == ("", "")
    if opencl_device.details.platform == "NVIDIA CUDA":
        pytest.skip("NVIDIA's compiler writes its remarks to the terminal by itself")
    monkeypatch.setenv("GINGHAM_DEBUG", "2")
    build_program(opencl_device, source)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "remember the milk" in printed.err


def test_kernels_are_made_once_and_known_by_name(opencl_device: OpenCLDevice) -> None:
    source = "kernel void a(int x) {} kernel void b(int x, int y) {}"
    program = build_program(opencl_device, source)
    assert sorted(program.kernel_names) == ["a", "b"]
    assert program.kernel("a") is program.kernel("a")
    assert program.kernel("b").argument_count == 2
    assert program.kernel("b").max_work_group_size >= 1
    with pytest.raises(GinghamError, match="no kernel 'c'") as caught:
        program.kernel("c")
    assert "a" in (caught.value.hint or "")


def test_options_and_standard_reach_the_compiler(opencl_device: OpenCLDevice) -> None:
    source = """
kernel void tell(global int *x) {
  x[0] = VALUE;
  x[1] = __OPENCL_C_VERSION__;
}
"""
    options = ("-DVALUE=42",)
    program = build_program(opencl_device, source, options, standard="CL1.2")
    buffer = allocate(opencl_device, (2,), np.int32)
    queue = opencl_device.queue
    queue.enqueue(program.kernel("tell"), (1,), None, (buffer,))
    assert download(queue, buffer).tolist() == [42, 120]


def test_source_may_hold_any_character(opencl_device: OpenCLDevice) -> None:
    program = build_program(opencl_device, "// Größe, 行列 ∑\nkernel void a() {}\n")
    assert program.kernel_names == ("a",)


@pytest.mark.parametrize("error", [PermissionError("no"), sqlite3.DatabaseError("no")])
def test_kernels_need_no_cache_of_pyopencl(
    error: Exception, opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kernel(*arguments: Any) -> cl.Kernel:
        if not getattr(cl, "_PYOPENCL_NO_CACHE"):
            raise error
        return real(*arguments)

    program = build_program(opencl_device, "kernel void a(global int *x) {}\n")
    real = cl.Kernel
    monkeypatch.setattr(cl, "_PYOPENCL_NO_CACHE", False)
    monkeypatch.setattr(cl, "Kernel", kernel)
    assert program.new_kernel("a").name == "a"


def test_threads_make_kernels_of_one_name_at_once(
    opencl_device: OpenCLDevice,
) -> None:
    """Threads are switched so often that any two may be in one at the same place."""
    program = build_program(opencl_device, "kernel void a(global int *x) {}\n")
    together = Barrier(4)

    def make(_: int) -> None:
        for _ in range(50):
            together.wait(300)
            assert program.new_kernel("a").name == "a"

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(make, number) for number in range(4)]:
                done.result(600)
    finally:
        sys.setswitchinterval(usual)
