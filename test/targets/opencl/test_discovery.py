"""Discovery: in fresh processes with other environments, and with made-up platforms."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.devices.discovery import devices_of, discover
from gingham.targets.opencl.devices.vendor_files import intel_runtime

if TYPE_CHECKING:
    import pyopencl as cl

needs_intel = pytest.mark.skipif(
    not intel_runtime(), reason="the Python package intel-opencl-rt is not installed"
)

LIST_DEVICES = """
import os
from gingham.targets.opencl.devices.discovery import discover
before = dict(os.environ)
found = discover()
assert discover() is found
changed = {
    key for key in before.keys() | os.environ.keys()
    if before.get(key) != os.environ.get(key)
}
# pyopencl says itself where it lies.
assert changed <= {"PYOPENCL_HOME"}, changed
for device in found.devices:
    print(device.name, device.failure() or "works")
for problem in found.problems:
    print("problem:", problem)
"""


def run(code: str, **variables: str) -> list[str]:
    """The lines that `code` prints in a fresh Python without loader variables."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OCL_", "OPENCL_", "PYOPENCL_", "GINGHAM_"))
    }
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout.splitlines()


@needs_intel
def test_the_packaged_runtime_is_found_without_any_setting(tmp_path: Path) -> None:
    lines = run(
        LIST_DEVICES,
        TMPDIR=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path),
        OPENCL_VENDOR_PATH=str(tmp_path / "none"),
    )
    assert lines == ["intel.0 works"]
    # Neither the list for the loader nor a cache of pyopencl's stays behind.
    assert list(tmp_path.iterdir()) == []


@needs_intel
def test_a_broken_system_runtime_is_told_and_hurts_no_other(tmp_path: Path) -> None:
    (tmp_path / "gone.icd").write_text("/opt/gone/libgone.so")
    (tmp_path / "text.icd").write_text(str(tmp_path / "libtext.so"))
    (tmp_path / "libtext.so").write_text("this is no library")
    lines = run(LIST_DEVICES, OPENCL_VENDOR_PATH=str(tmp_path))
    assert lines[0] == "intel.0 works"
    problems = [line for line in lines if line.startswith("problem:")]
    assert len(problems) == 2
    assert "/opt/gone/libgone.so" in problems[0]
    assert "No such file" in problems[0]
    assert "libtext.so" in problems[1]
    assert "invalid ELF header" in problems[1] or "too short" in problems[1]


def test_the_users_loader_variables_are_respected(tmp_path: Path) -> None:
    lines = run(LIST_DEVICES, OCL_ICD_VENDORS=str(tmp_path))
    assert not any(line.startswith(("intel.", "problem:")) for line in lines)


@needs_intel
def test_runtimes_that_the_user_adds_are_tried(tmp_path: Path) -> None:
    lines = run(
        LIST_DEVICES,
        OCL_ICD_FILENAMES="/opt/libgone.so",
        OPENCL_VENDOR_PATH=str(tmp_path),
    )
    assert lines[0] == "intel.0 works"
    assert lines[1].startswith("problem: /opt/libgone.so (listed by OCL_ICD_FILENAMES)")


@needs_intel
def test_a_process_that_has_used_opencl_before_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    library = intel_runtime()[0].library
    before = f"""
import os
os.environ["OCL_ICD_VENDORS"] = {library!r}
import pyopencl
assert pyopencl.get_platforms()
del os.environ["OCL_ICD_VENDORS"]
"""
    folder = str(tmp_path)
    lines = run(before + LIST_DEVICES, OPENCL_VENDOR_PATH=folder, XDG_CACHE_HOME=folder)
    assert lines == ["intel.0 works"]


@needs_intel
def test_importing_pyopencl_first_loses_nothing(tmp_path: Path) -> None:
    code, folder = "import pyopencl\n" + LIST_DEVICES, str(tmp_path)
    lines = run(code, OPENCL_VENDOR_PATH=folder, XDG_CACHE_HOME=folder)
    assert lines == ["intel.0 works"]
    # What pyopencl keeps then is not needed.
    (file,) = tmp_path.glob("pytools/*invoker*")
    file.write_bytes(b"no database")
    lines = run(code, OPENCL_VENDOR_PATH=folder, XDG_CACHE_HOME=folder)
    assert lines == ["intel.0 works"]


@needs_intel
def test_without_a_place_for_the_list_the_packaged_runtime_is_still_found(
    tmp_path: Path,
) -> None:
    nowhere = """
import contextlib
from gingham.targets.opencl.devices import discovery
@contextlib.contextmanager
def no_temporary_directory(runtimes):
    raise FileNotFoundError("no usable temporary directory")
    yield
discovery.vendor_directory = no_temporary_directory
"""
    lines = run(nowhere + LIST_DEVICES, OPENCL_VENDOR_PATH=str(tmp_path))
    assert "intel.0 works" in lines


def test_without_pyopencl_there_are_no_devices() -> None:
    code = "import sys; sys.modules['pyopencl'] = None\n" + LIST_DEVICES
    (line,) = run(code)
    assert line.startswith("problem: pyopencl: can not be imported")


@dataclass(frozen=True)
class FakePlatform:
    """A platform with the devices of a real one under another name, or failing."""

    name: str
    devices: list[object]
    error: Exception | None = None

    def get_devices(self) -> list[object]:
        if self.error is not None:
            raise self.error
        return self.devices


class FakeHandle:
    """A real device that answers some questions otherwise, with errors if given."""

    def __init__(self, real: cl.Device, **answers: object) -> None:
        self._real = real
        self._answers = answers

    def __getattr__(self, name: str) -> object:
        answer = self._answers.get(name)
        if isinstance(answer, Exception):
            raise answer
        return answer if name in self._answers else getattr(self._real, name)


def names_of(platforms: list[FakePlatform]) -> list[tuple[str, str]]:
    found = devices_of(cast("list[cl.Platform]", platforms))
    assert found.problems == ()
    return [(device.name, device.details.device) for device in found.devices]


def fake(
    real: cl.Device, device: str, platform: str, kind: str = "CPU", driver: str = "1.0"
) -> FakeHandle:
    import pyopencl as cl

    return FakeHandle(
        real,
        name=device,
        type=getattr(cl.device_type, kind) | cl.device_type.DEFAULT,
        driver_version=driver,
        platform=SimpleNamespace(name=platform, version="OpenCL 3.0"),
    )


def test_order_and_names_do_not_depend_on_the_loaders_order(
    opencl_device: OpenCLDevice,
) -> None:
    real = opencl_device.handle

    def platform(name: str, *devices: tuple[str, str, str]) -> FakePlatform:
        handles = [
            fake(real, each, name, kind, driver) for each, kind, driver in devices
        ]
        return FakePlatform(name, [*handles])

    platforms = [
        platform("NVIDIA CUDA", ("H200 A", "GPU", "580.1"), ("H200 A", "GPU", "580.1")),
        platform("Portable Computing Language", ("cpu old", "CPU", "3.9")),
        platform("Portable Computing Language", ("cpu new", "CPU", "3.10")),
        platform("Some Other", ("odd cpu", "CPU", "9")),
        platform("Intel(R) OpenCL Graphics", ("iris", "GPU", "1")),
        platform("Intel(R) FPGA Emulation Platform", ("fpga", "ACCELERATOR", "1")),
        platform("Intel(R) OpenCL", ("xeon", "CPU", "2026")),
    ]
    expected = [
        ("intel.0", "xeon"),
        ("pocl.0", "cpu new"),
        ("pocl.1", "cpu old"),
        ("some.0", "odd cpu"),
        ("intel.1", "iris"),
        ("nvidia.0", "H200 A"),
        ("nvidia.1", "H200 A"),
        ("intel.2", "fpga"),
    ]
    assert names_of(platforms) == expected
    assert names_of(platforms[::-1]) == expected


def test_equal_devices_keep_the_platforms_order(opencl_device: OpenCLDevice) -> None:
    real = opencl_device.handle
    handles = [fake(real, "H200", "NVIDIA CUDA", "GPU") for _ in range(3)]
    platform = FakePlatform("NVIDIA CUDA", [*handles])
    found = devices_of(cast("list[cl.Platform]", [platform]))
    assert [device.handle for device in found.devices] == handles


def test_what_fails_is_told_and_hurts_no_other(opencl_device: OpenCLDevice) -> None:
    import pyopencl as cl

    refusal = opencl_refusal(cl)
    garbled = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    good = fake(opencl_device.handle, "good", "Mixed")
    bad = FakeHandle(good_handle(good), global_mem_size=refusal)
    unreadable = FakeHandle(good_handle(good), name=garbled)
    strange = FakeHandle(good_handle(good), extensions=None)
    platforms = [
        FakePlatform("Broken", [], refusal),
        FakePlatform("Mixed", [bad, good, unreadable, strange]),
    ]
    found = devices_of(cast("list[cl.Platform]", platforms))
    assert [device.name for device in found.devices] == ["mixed.0"]
    assert [problem.subject for problem in found.problems] == [
        "an OpenCL platform",
        "device 0 of Mixed",
        "device 2 of Mixed",
        "device 3 of Mixed",
    ]
    assert "INVALID_BUFFER_SIZE" in found.problems[1].reason
    assert "no text" in found.problems[2].reason
    assert "can not be read" in found.problems[3].reason


def good_handle(handle: FakeHandle) -> cl.Device:
    return cast("cl.Device", cast("object", handle))


def opencl_refusal(module: object) -> Exception:
    """An error as pyopencl raises it; its constructor takes no status code."""
    import pyopencl as cl

    assert module is cl
    device = discover().devices[0]
    try:
        cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 0)
    except cl.Error as error:
        return error
    pytest.fail("a buffer of no bytes was made")
