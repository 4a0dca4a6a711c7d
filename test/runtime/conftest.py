"""The devices for tests of the runtime."""

from __future__ import annotations

import pytest

import gingham

DEVICES = ["reference", *(d.name for d in gingham.devices() if not d.is_reference)][:2]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """The reference interpreter, and the first OpenCL device."""
    return request.param
