"""Figures that are measured on a device."""

from __future__ import annotations

import time
from itertools import count

import pytest

from gingham.runtime.hardware import hardware_of
from gingham.targets.opencl.devices import calibration
from gingham.targets.opencl.devices.device import OpenCLDevice


def test_launches_that_were_slow_are_not_taken_off_kernels(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "_SECONDS", 0.01)
    finish, runs = opencl_device.queue.finish, count()

    def disturbed() -> None:
        finish()
        if next(runs) < 12:
            time.sleep(0.05)

    monkeypatch.setattr(opencl_device.queue, "finish", disturbed)
    bench = calibration.Bench(opencl_device, hardware_of(opencl_device))
    bench.group_seconds()
    assert next(runs) >= 12
    # Far from a clock that no device has, as of kernels that take no time.
    assert bench.clock() < 20e9
    assert bench.launch < 0.05
