"""Kernels run by each of the targets that print them in a language like C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gingham.targets.c.code import compile_module
from gingham.targets.c.device import DEVICE
from gingham.targets.c.executable import CExecutable
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable


@dataclass(frozen=True)
class Target:
    """What kernels are printed, compiled and run for."""

    run: Callable[..., Sequence[NDArray[Any]]]
    """The results of a module for these inputs."""
    has_double: bool


def run_c(module: ModuleOp, *inputs: Any) -> Sequence[NDArray[Any]]:
    return CExecutable(compile_module(module), DEVICE)(*inputs)


def run_opencl(
    device: OpenCLDevice, module: ModuleOp, *inputs: Any
) -> Sequence[NDArray[Any]]:
    return OpenCLExecutable(module, device)(*inputs)
