"""The devices of the machine for tests of targets; they skip where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from kernel_targets import Target, run_c, run_opencl
from memory_pools import like, own
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.targets.c.device import DEVICE
from gingham.targets.opencl.devices.device import OpenCLDevice


@pytest.fixture(params=["as it is", "own memory"])
def device(request: pytest.FixtureRequest, opencl_device: OpenCLDevice) -> OpenCLDevice:
    """The device with an empty pool, and as if it had memory of its own."""
    return (like if request.param == "as it is" else own)(opencl_device)


@pytest.fixture(scope="session")
def parse_module() -> Callable[[str], ModuleOp]:
    """`parse_module(text)`: the verified module."""

    def parse(text: str) -> ModuleOp:
        module = Parser(make_context(), text, "test.mlir").parse_module()
        module.verify()
        return module

    return parse


@pytest.fixture(params=["opencl", "c"])
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the targets whose kernels are printed in a language like C."""
    if request.param == "c":
        if (failure := DEVICE.failure()) is not None:
            pytest.skip(f"no C compiler: {failure}")
        return Target(run_c, has_double=True)
    device: OpenCLDevice = request.getfixturevalue("opencl_device")
    return Target(partial(run_opencl, device), device.details.supports_fp64)
