"""A GPU that no description is of: by what it tells of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gingham
from gingham.runtime.hardware import hardware_of
from gingham.targets.hardware import hardware_toml, load_hardware
from gingham.targets.opencl.devices import calibration
from gingham.targets.opencl.devices.device import OpenCLDevice

EXAMPLES = Path(gingham.__file__).parent / "examples"


@pytest.fixture
def unknown(opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The default device, as a GPU whose vendor nobody knows."""
    details = replace(
        opencl_device.details, vendor="", device="a card", max_work_group_size=96
    )
    device = OpenCLDevice("card.0", "gpu", details, opencl_device.handle)
    device.trust()
    return device


def test_a_gpu_that_nobody_knows_computes(unknown: OpenCLDevice) -> None:
    hardware = hardware_of(unknown)
    assert hardware.name == "gpu"
    assert hardware.work_group_limit == 96
    assert hardware.work_group_size <= 96
    assert hardware.cores == unknown.details.compute_units
    assert hardware.local_memory_bytes == unknown.details.local_memory_bytes
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in [(100, 70), (70, 130)])
    wide = a.astype(np.float64)
    rows = np.exp(wide - wide.max(1, keepdims=True))
    expected = {
        "matrix_product": wide @ b.astype(np.float64),
        "softmax": rows / rows.sum(1, keepdims=True),
        "transpose": wide.T,
    }
    for program, right in expected.items():
        compute = gingham.compile_file(EXAMPLES / f"{program}.tile", device=unknown)
        inputs = (a, b) if program == "matrix_product" else (a,)
        np.testing.assert_allclose(compute(*inputs), right, rtol=1e-5, atol=1e-4)


def test_what_is_measured_of_it(
    unknown: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(calibration, "_SECONDS", 0.0)
    monkeypatch.setattr(calibration, "_RUNS", 1)
    told = hardware_of(unknown)
    measured = calibration.calibrate(unknown, told)
    found = measured.hardware
    # Its clock is known, what it does in a cycle is not.
    assert found.clock_gigahertz == told.clock_gigahertz
    assert "clock_gigahertz" not in measured.comments
    names = ["instructions.multiply_add.per_cycle", "lanes.barrier_cycles"]
    assert {*names, "memory_gigabytes_per_second"} <= {*measured.comments}
    path = tmp_path / "card.toml"
    path.write_text(hardware_toml(found, measured.comments))
    assert load_hardware(str(path)) == found
