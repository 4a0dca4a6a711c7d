"""The backend of each device; the one place that knows all of them."""

from __future__ import annotations

from functools import lru_cache

from ..errors import GinghamError
from ..targets.backend import Backend
from ..targets.c.device import CDevice
from ..targets.opencl.devices.device import OpenCLDevice
from .device import Named, ReferenceDevice

_MOST = 256


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
