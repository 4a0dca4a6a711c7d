"""Devices for tests of arrays, and a queue that is held up."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from arrays_held_up import Held

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice


@pytest.fixture
def in_place(device: str) -> str:
    """As `device`, of those that work on the host's memory."""
    if not gingham.device(device).properties.get("host_unified_memory", True):
        pytest.skip("the device has memory of its own")
    return device


@pytest.fixture(scope="session")
def opencl(opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The default device, if it is an OpenCL device that shares the host's memory."""
    if not opencl_device.details.host_unified_memory:
        pytest.skip("the device has memory of its own")
    return opencl_device


@pytest.fixture(scope="session")
def other(opencl: OpenCLDevice) -> Iterator[OpenCLDevice]:
    """Another OpenCL device with a context of its own: a part of the first one."""
    for candidate in gingham.devices():
        if not isinstance(candidate, OpenCLDevice) or candidate is opencl:
            continue
        if candidate.failure() is None:
            yield candidate
            return
    try:
        yield opencl.split([1])[0]
    except GinghamError as error:
        pytest.skip(f"no second device: {error}")


@pytest.fixture
def held_up() -> Held:
    """`with held_up(device):` nothing that is given to the device's queue starts."""

    @contextmanager
    def hold(device: OpenCLDevice) -> Generator[None]:
        import pyopencl as cl

        gate = cl.UserEvent(device.context)
        cl.enqueue_barrier(device.queue.handle, wait_for=[gate])
        try:
            yield
        finally:
            gate.set_status(cl.command_execution_status.COMPLETE)
            device.queue.finish()

    return hold
