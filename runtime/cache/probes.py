"""Whether a device works: found out once by a small kernel, then remembered on disk.

Building that kernel takes longer than starting a program that is compiled already. Only
success is remembered, for as long as device, driver, runtime libraries and this package
stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .code_state import driver_state
from .programs import key_of, trusted_store

if TYPE_CHECKING:
    from ..device import Device

_KIND = "probe"
_WORKS = b"works"


def failure_of(device: Device) -> str | None:
    """Why a device can not be used, None where it computes, or has done before."""
    from ...targets.opencl.devices.device import OpenCLDevice

    if not isinstance(device, OpenCLDevice) or device.is_probed:
        return device.failure()
    store = trusted_store()
    if store is None:
        return device.failure()
    key = key_of(device.name, device.properties, driver_state())
    if store.get(key, _KIND) == _WORKS:
        device.trust()
        return None
    failure = device.failure()
    if failure is None:
        store.put(key, _WORKS, _KIND, device.name)
    return failure


def require_usable(device: Device) -> None:
    """Raise GinghamError when a device can not be used."""
    failure_of(device)
    device.require_usable()
