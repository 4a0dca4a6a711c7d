"""The backend of each device; the one place that knows all of them.

What is of OpenCL alone, its devices and its text, is asked for here, too, so that
nothing else of the runtime names it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..targets.backend import Backend
from ..targets.c.device import DEVICE as C
from ..targets.c.device import CDevice
from ..targets.opencl.devices.device import OpenCLDevice
from ..targets.opencl.devices.discovery import discover
from .device import REFERENCE, Device, Named, ReferenceDevice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import ModuleOp

    from ..targets.backend import Executable, Problem
    from ..targets.code import PrintedCode
    from ..targets.device_memory import DeviceMemory

_MOST = 256

WITHOUT_DRIVER: tuple[Device, ...] = (C, REFERENCE)
"""The devices that are there always; asking for one starts no driver."""


def driver_devices() -> Sequence[Device]:
    """The devices of drivers, in order of preference; the same in a process."""
    return discover().devices


def driver_problems() -> list[Problem]:
    """Runtimes and devices that are installed but can not be listed, and why."""
    return list(discover().problems)


@lru_cache(_MOST)
def backend_of(device: Named) -> Backend:
    """What a device offers. Raises GinghamError for one that nobody knows."""
    # Who only lists devices needs none of this.
    from ..targets.c.backend import CBackend
    from ..targets.opencl.backend import OpenCLBackend
    from .interpreted import ReferenceBackend

    match device:
        case OpenCLDevice():
            return OpenCLBackend(device)
        case CDevice():
            return CBackend(device)
        case ReferenceDevice():
            return ReferenceBackend()
        case _:
            raise GinghamError(f"device '{device.name}' cannot run programs")


def memory_of(device: Device) -> DeviceMemory[Any, Any] | None:
    """The memory of a device; None for one whose arrays are NumPy's."""
    return backend_of(device).memory if device.has_buffers else None


def printed_by_any(module: ModuleOp) -> PrintedCode:
    """The kernels of a module to look at, for a device that has none: OpenCL C."""
    from ..targets.opencl.compiled import print_module

    return print_module(module)


def second_opinion(module: ModuleOp) -> Executable | None:
    """The kernels of a module as the system's C compiler builds them, where it can."""
    if C.failure() is not None:
        return None
    try:
        return backend_of(C).executable(module)
    except GinghamError:
        # Work-items of a group that wait for each other.
        return None
