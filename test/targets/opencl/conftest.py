"""The OpenCL device of the machine for tests of the target; they skip without one."""

from __future__ import annotations

import pytest

from gingham.errors import GinghamError
from gingham.runtime.devices import default_device
from gingham.targets.opencl.device import OpenCLDevice


@pytest.fixture(scope="session")
def opencl_device() -> OpenCLDevice:
    """The default device, if that is an OpenCL device."""
    try:
        device = default_device()
    except (GinghamError, UserWarning) as error:
        pytest.skip(f"no OpenCL device: {error}")
    if not isinstance(device, OpenCLDevice):
        pytest.skip("no OpenCL device: the default is the reference interpreter")
    return device
