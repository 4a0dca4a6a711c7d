"""A device that fails at any step is listed with its reason, and hurts no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from injected import (
    NOT_AVAILABLE,
    OUT_OF_MEMORY,
    OUT_OF_RESOURCES,
    FailingEvent,
    opencl_error,
)

import gingham
from gingham.errors import GinghamError
from gingham.runtime import backends
from gingham.runtime import devices as runtime_devices
from gingham.runtime.devices import ReferenceDeviceWarning, default_choice
from gingham.targets.opencl.builds import driver
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.devices.discovery import Discovery, discover
from gingham.tools.devices import main

SCALE = "function (A[N]) -> (B) { B = 2 * A; }"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every device is tried here, and none is asked for by name."""
    monkeypatch.setenv("GINGHAM_CACHE", "off")
    monkeypatch.delenv("GINGHAM_DEVICE", raising=False)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[OpenCLDevice, OpenCLDevice]:
    """Two devices, as if the machine had them, none tried yet."""
    found = discover().devices
    if not found:
        pytest.skip("no OpenCL device")
    real = found[0]
    first, second = (
        OpenCLDevice(name, real.kind, real.details, real.handle)
        for name in ("first.0", "second.0")
    )
    here = Discovery((first, second), ())
    monkeypatch.setattr(backends, "discover", lambda: here)
    return first, second


Patch = Callable[[pytest.MonkeyPatch, OpenCLDevice], None]


def refuse_context(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """The driver opens no context for the device."""
    real, handle = cl.Context, broken.handle
    seen: list[object] = []

    def context(devices: Any) -> cl.Context:
        # Both devices have one handle; the broken one is opened first.
        if not seen:
            seen.append(handle)
            raise opencl_error(NOT_AVAILABLE, "clCreateContext")
        return real(devices)

    patch.setattr(cl, "Context", context)


def refuse_queue(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """It has a context, and no queue."""
    real, other = cl.CommandQueue, broken.context

    def queue(context: cl.Context, *rest: Any) -> cl.CommandQueue:
        if context == other:
            raise opencl_error(OUT_OF_RESOURCES, "clCreateCommandQueue")
        return real(context, *rest)

    patch.setattr(cl, "CommandQueue", queue)


def refuse_build(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """Its compiler fails."""
    real: Any = vars(driver)["_create"]
    other = broken.context

    def create(context: cl.Context, *contents: object) -> Any:
        if context == other:
            raise opencl_error(OUT_OF_RESOURCES, "clCreateProgramWithSource")
        return real(context, *contents)

    patch.setattr(driver, "_create", create)


def refuse_memory(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """It has no memory."""
    real, other = cl.Buffer, broken.context

    def buffer(context: cl.Context, *rest: Any, **named: Any) -> cl.Buffer:
        if context == other:
            raise opencl_error(OUT_OF_MEMORY, "clCreateBuffer")
        return real(context, *rest, **named)

    patch.setattr(cl, "Buffer", buffer)


def refuse_launch(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """It starts no kernel."""
    real, other = cl.enqueue_nd_range_kernel, broken.context

    def launch(queue: cl.CommandQueue, *rest: Any, **named: Any) -> cl.Event:
        if queue.context == other:
            raise opencl_error(OUT_OF_RESOURCES, "clEnqueueNDRangeKernel")
        return real(queue, *rest, **named)

    patch.setattr(cl, "enqueue_nd_range_kernel", launch)


def break_kernel(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """Its kernels fail while they run."""
    real, other = cl.enqueue_nd_range_kernel, broken.context

    def launch(queue: cl.CommandQueue, *rest: Any, **named: Any) -> Any:
        event = real(queue, *rest, **named)
        if queue.context == other:
            return FailingEvent(event, OUT_OF_RESOURCES)
        return event

    patch.setattr(cl, "enqueue_nd_range_kernel", launch)


def compute_wrongly(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """Its kernels end and compute nothing."""
    real, other = cl.enqueue_nd_range_kernel, broken.context

    def launch(queue: cl.CommandQueue, *rest: Any, **named: Any) -> Any:
        if queue.context == other:
            return cl.enqueue_marker(queue)
        return real(queue, *rest, **named)

    patch.setattr(cl, "enqueue_nd_range_kernel", launch)


def raise_otherwise(patch: pytest.MonkeyPatch, broken: OpenCLDevice) -> None:
    """Something raises what it should not."""
    real: Any = vars(driver)["_create"]
    other = broken.context

    def create(context: cl.Context, *contents: object) -> Any:
        if context == other:
            raise ValueError("a driver's nonsense")
        return real(context, *contents)

    patch.setattr(driver, "_create", create)


STEPS: list[tuple[Patch, str]] = [
    (refuse_context, "the device is not available"),
    (refuse_queue, "making a command queue on device 'first.0' failed"),
    (refuse_build, "creating an OpenCL program failed"),
    (refuse_memory, "could not allocate the memory"),
    (refuse_launch, "launching kernel 'probe' on device 'first.0'"),
    (break_kernel, "OUT_OF_RESOURCES"),
    (compute_wrongly, "wrong values of 1000"),
    (raise_otherwise, "a driver's nonsense"),
]


@pytest.mark.parametrize(
    ("step", "reason"), STEPS, ids=[step.__name__ for step, _ in STEPS]
)
def test_each_step_that_fails(
    step: Patch,
    reason: str,
    pair: tuple[OpenCLDevice, OpenCLDevice],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken, good = pair
    step(monkeypatch, broken)
    choice = default_choice()
    assert choice.device is good
    assert len(choice.failures) == 1
    assert choice.failures[0].startswith("first.0: ")
    assert reason in str(broken.failure())
    # The reason stays the same, and is told to who asks for the device.
    with pytest.raises(GinghamError) as caught:
        gingham.compile(SCALE, device="first.0")
    assert caught.value.message == (
        f"device 'first.0' can not be used: {broken.failure()}"
    )
    values = np.arange(10, dtype=np.float32)
    np.testing.assert_array_equal(gingham.compile(SCALE)(values), 2 * values)
    assert main(["--probe", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    listed = {entry["name"]: entry["probe"] for entry in document["devices"]}
    assert list(listed) == ["first.0", "second.0", "c", "reference"]
    assert reason in listed["first.0"]["failure"]
    assert listed["second.0"]["works"]
    assert document["default"] == "second.0"
    assert main(["--probe"]) == 0
    assert "default: second.0, the first that works\n  first.0: " in (
        capsys.readouterr().out
    )


def test_all_fail(
    pair: tuple[OpenCLDevice, OpenCLDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise opencl_error(NOT_AVAILABLE, "clCreateContext")

    monkeypatch.setattr(cl, "Context", refuse)
    vars(runtime_devices)["_warn_of_slowness"].cache_clear()
    with pytest.warns(ReferenceDeviceWarning, match=r"second\.0: opening device"):
        assert gingham.default_device().is_reference
    assert [each.failure() is None for each in pair] == [False, False]


LIST = """
import pyopencl as cl
from importlib import import_module
record = import_module("pyopencl._cl")._ErrorRecord
def refuse(*_):
    raise {error}
cl.get_platforms = refuse
from gingham.tools.devices import main
raise SystemExit(main([]))
"""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("cl.MemoryError(record('clGetPlatformIDs', -6, ''))", "OUT_OF_HOST_MEMORY"),
        ("OSError('a loader that is broken')", "a loader that is broken"),
    ],
)
def test_platforms_that_can_not_be_listed(error: str, reason: str) -> None:
    result = run(LIST.format(error=error))
    assert result.returncode == 0, result.stderr
    assert "\nreference (default)" in result.stdout
    assert "not available:\n  OpenCL: " in result.stdout
    assert reason in result.stdout


def test_a_listed_runtime_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "gone.icd").write_text("/opt/gone/libgone.so")
    code = "from gingham.tools.devices import main; raise SystemExit(main([]))"
    result = run(code, OPENCL_VENDOR_PATH=str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert "not available:\n  /opt/gone/libgone.so (listed by " in result.stdout
    assert "No such file" in result.stdout
    assert "reference" in result.stdout


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    environment.pop("GINGHAM_DEVICE", None)
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
