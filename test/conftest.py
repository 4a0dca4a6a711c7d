"""What holds for every test that pytest runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from gingham.targets.opencl.devices.device import OpenCLDevice

ROOT = Path(__file__).resolve().parents[1]

# Programs are compiled, not found in a cache; what else writes to one stays in this
# checkout.
os.environ["GINGHAM_CACHE"] = "off"
os.environ["XDG_CACHE_HOME"] = str(ROOT / "build" / "cache")

# pyopencl is imported by tests, too, and would share a file with other processes.
os.environ["PYOPENCL_NO_CACHE"] = "1"

# All is tested with runtimes that are known to be wrong in places, too; commands that
# tests start say nothing of it.
os.environ["PYTHONWARNINGS"] = "ignore:device :UserWarning"

# What the user has measured decides nothing here.
os.environ["GINGHAM_RECORDS"] = "off"
os.environ.pop("GINGHAM_HARDWARE", None)

# Nor does the user's settings file.
os.environ["GINGHAM_SETTINGS"] = "off"

# Every run draws the same examples, so that what fails does so each time; with
# `--hypothesis-profile=search` each run draws others, and `--hypothesis-seed=N` those
# of a seed. A loaded machine is slow, not wrong.
settings.register_profile(
    "gingham",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", settings.get_profile("gingham"), derandomize=False, database=None
)
settings.load_profile("gingham")

# Hypothesis also draws numbers and texts that it finds in the code of whatever modules
# have been imported so far, which depends on the tests that have run before.
setattr(providers, "_get_local_constants", Constants)


@pytest.fixture(scope="session")
def opencl_device() -> OpenCLDevice:
    """The default device; the test is skipped where it is no OpenCL device."""
    # Only now: what is set above comes before anything of the package is imported.
    from gingham.errors import GinghamError
    from gingham.runtime.devices import default_device
    from gingham.targets.opencl.devices.device import OpenCLDevice

    try:
        device = default_device()
    except (GinghamError, UserWarning) as error:
        pytest.skip(f"no OpenCL device: {error}")
    if not isinstance(device, OpenCLDevice):
        pytest.skip("no OpenCL device: the default is the reference interpreter")
    return device
