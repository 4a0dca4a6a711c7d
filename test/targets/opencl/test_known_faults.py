"""Versions of runtimes that are known to be wrong are named, and not asked for."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from gingham.runtime.devices import devices
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.known_faults import (
    KnownFaultWarning,
    known_fault,
    tell_of_fault,
)

ROOT = Path(__file__).resolve().parents[3]


def device_with(version: str, name: str = "intel.7") -> OpenCLDevice:
    """A device that says that its driver has this version."""
    for found in devices():
        if isinstance(found, OpenCLDevice):
            details = replace(found.details, driver_version=version)
            return OpenCLDevice(name, "cpu", details, found.handle)
    pytest.skip("there is no OpenCL device")


@pytest.mark.parametrize(
    ("name", "version", "is_bad"),
    [
        ("intel.7", "2026.22.10.0.01_160000", True),
        ("intel.7", "2026.21.7.0.24_160000", False),
        ("pocl.0", "2026.22.10.0.01_160000", False),
    ],
)
def test_a_version_is_known(name: str, version: str, is_bad: bool) -> None:
    fault = known_fault(name, device_with(version, name).details)
    assert (fault is not None) == is_bad


@pytest.mark.filterwarnings("default")
def test_it_is_told_once() -> None:
    device = device_with("2026.22.10.0.01_160000")
    with pytest.warns(KnownFaultWarning, match=r"intel\.7.*2026\.2\.0.*pip"):
        tell_of_fault(device.name, device.details)
    with warnings.catch_warnings(action="error"):
        tell_of_fault(device.name, device.details)


def test_the_versions_that_are_asked_for_agree() -> None:
    """What the tests run with is what the extra allows, and the bad one is not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = map(Requirement, project["optional-dependencies"]["cpu"])
    wanted = {each.name: each.specifier for each in extra}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    for name in ("intel-opencl-rt", "intel-cmplr-lib-rt"):
        assert wanted[name].contains(pinned[name])
        assert not wanted[name].contains("2026.2.0")
