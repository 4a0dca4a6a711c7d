"""The list of devices, names, and the rule for the default."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.runtime import backends
from gingham.runtime.devices import (
    Device,
    ReferenceDeviceWarning,
    default_device,
    device,
    device_problems,
    devices,
)
from gingham.targets.backend import Problem
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.devices.discovery import Discovery, discover
from gingham.targets.opencl.handles.properties import OpenCLProperties


class StubDevice(OpenCLDevice):
    """A device that is known to work or to fail, without an OpenCL device behind it."""

    def __init__(self, name: str, failure: str | None = None) -> None:
        details = OpenCLProperties(
            device=f"stub of {name}",
            vendor="",
            platform="",
            platform_version="",
            driver_version="",
            opencl_version="",
            opencl_c_version="",
            compute_units=1,
            clock_megahertz=0,
            max_work_group_size=1,
            max_work_item_sizes=(1, 1, 1),
            native_float_width=1,
            global_memory_bytes=1,
            max_allocation_bytes=1,
            local_memory_bytes=1,
            has_dedicated_local_memory=False,
            cache_bytes=0,
            cache_line_bytes=0,
            supports_fp64=False,
            supports_fp16=False,
            rounds_division_correctly=False,
            host_unified_memory=False,
            shares_host_memory=False,
            address_bits=64,
            little_endian=True,
            extensions=(),
        )
        handle = discover  # never asked: every question goes to `failure`
        super().__init__(name, "cpu", details, handle)  # pyright: ignore[reportArgumentType]
        self.verdict = failure
        self.asked = 0

    def failure(self) -> str | None:
        self.asked += 1
        return self.verdict


def pretend(
    monkeypatch: pytest.MonkeyPatch,
    *stubs: StubDevice,
    problems: tuple[Problem, ...] = (),
) -> None:
    monkeypatch.setattr(backends, "discover", lambda: Discovery(stubs, problems))
    monkeypatch.delenv("GINGHAM_DEVICE", raising=False)


def test_the_reference_is_always_there_and_last() -> None:
    available = devices()
    assert [each.is_reference for each in available[:-1]] == [False] * (
        len(available) - 1
    )
    reference = available[-1]
    assert reference.is_reference
    assert (reference.name, reference.kind) == ("reference", "interpreter")
    assert reference.failure() is None
    reference.require_usable()
    assert "slow" in reference.description


def test_every_listed_device_is_found_by_its_name() -> None:
    available = devices()
    names = [each.name for each in available]
    assert len(set(names)) == len(names)
    for each in available:
        assert device(each.name) is each
        assert each.description
        json.dumps(each.properties)
    assert devices() == available
    assert isinstance(device_problems(), list)


def test_an_unknown_name_lists_all_and_suggests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = Problem("/opt/libgone.so", "no such file")
    pretend(
        monkeypatch, StubDevice("intel.0"), StubDevice("nvidia.0"), problems=(gone,)
    )
    with pytest.raises(GinghamError) as caught:
        device("Nvidia.1")
    assert caught.value.message == "there is no device 'Nvidia.1'"
    assert caught.value.hint == (
        "did you mean 'nvidia.0'?; available devices: intel.0, nvidia.0, c, reference; "
        "not available: /opt/libgone.so: no such file"
    )
    with pytest.raises(GinghamError) as caught:
        device("xyz")
    assert "did you mean" not in (caught.value.hint or "")
    with pytest.raises(GinghamError):
        device("")


def test_asking_for_the_reference_starts_no_opencl() -> None:
    code = (
        "import sys\n"
        "from gingham.runtime.devices import device, default_device\n"
        "assert device('reference').is_reference\n"
        "assert default_device().is_reference\n"
        "assert 'pyopencl' not in sys.modules\n"
        "assert 'numpy' not in sys.modules\n"
    )
    run(code, GINGHAM_DEVICE="reference")


def test_the_default_is_the_first_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = StubDevice("pocl.0", "unknown target CPU")
    good = StubDevice("pocl.1")
    unasked = StubDevice("nvidia.0")
    pretend(monkeypatch, broken, good, unasked)
    assert default_device() is good
    assert broken.asked == 1
    assert unasked.asked == 0


def test_the_variable_names_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = StubDevice("nvidia.0", "broken, but the user's choice")
    pretend(monkeypatch, StubDevice("intel.0"), chosen)
    monkeypatch.setenv("GINGHAM_DEVICE", "nvidia.0")
    assert default_device() is chosen
    monkeypatch.setenv("GINGHAM_DEVICE", "nvida.0")
    with pytest.raises(GinghamError, match="environment variable GINGHAM_DEVICE") as e:
        default_device()
    assert "did you mean 'nvidia.0'?" in (e.value.hint or "")
    monkeypatch.setenv("GINGHAM_DEVICE", "")
    assert default_device().name == "intel.0"


def test_only_the_reference_left_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = StubDevice("pocl.0", "first line:\nstarted\nerror: no CPU\nerror: no more")
    missing = Problem("libintelocl.so", "libsvml.so: cannot open")
    pretend(monkeypatch, broken, problems=(missing,))
    with pytest.warns(ReferenceDeviceWarning) as caught:
        assert default_device().is_reference
    text = str(caught[0].message)
    assert "slow" in text
    assert "pip install intel-opencl-rt" in text
    assert "pocl.0: first line: error: no CPU\n" in text + "\n"
    assert "started" not in text
    assert "no more" not in text
    assert "libintelocl.so: libsvml.so: cannot open" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_device().is_reference


def test_a_process_without_opencl_runs_on_the_reference(tmp_path: Path) -> None:
    code = (
        "import warnings\n"
        "from gingham.runtime.devices import default_device, devices\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    for _ in range(3):\n"
        "        print(default_device().name)\n"
        "print(len(caught), caught[0].category.__name__, caught[0].filename)\n"
        "print([device.name for device in devices()])\n"
    )
    listed = [each.name for each in devices()]
    if any(name.startswith("pocl") for name in listed):
        pytest.skip("pyopencl brings a PoCL that no variable hides")
    lines = run(code, OCL_ICD_VENDORS=str(tmp_path))
    assert lines[:3] == ["reference"] * 3
    assert lines[3] == "1 ReferenceDeviceWarning <string>"
    without_driver = [name for name in listed if name in ("c", "reference")]
    assert lines[4] == str(without_driver)


def run(code: str, **variables: str) -> list[str]:
    """The lines that `code` prints in a fresh Python."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("OCL_", "OPENCL_", "PYOPENCL_", "GINGHAM_"))
    }
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_opencl_devices_and_the_reference_are_devices() -> None:
    def name_of(each: Device) -> str:
        return each.name

    assert [name_of(each) for each in devices()][-1] == "reference"
