"""Whether a device works: found out once by a small kernel, then remembered on disk.

Building that kernel takes longer than starting a program that is compiled already. Only
success is remembered, for as long as device, driver, runtime libraries and this package
stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backends import backend_of
from .programs import key_of, trusted_store

if TYPE_CHECKING:
    from ..device import Device

_KIND = "probe"
_WORKS = b"works"


def failure_of(device: Device) -> str | None:
    """Why a device can not be used, None where it computes, or has done before."""
    if device.is_probed:
        return device.failure()
    store = trusted_store()
    if store is None:
        return device.failure()
    key = key_of(device.name, device.properties, _state_of(device))
    if store.get(key, _KIND) == _WORKS:
        device.trust()
        return None
    failure = device.failure()
    if failure is None:
        store.put(key, _WORKS, _KIND, device.name)
    return failure


def _state_of(device: Device) -> object:
    """What it depends on beside what the device tells."""
    kernels = backend_of(device).kernels
    return None if kernels is None else kernels.state()


def require_usable(device: Device) -> None:
    """Raise GinghamError when a device can not be used."""
    failure_of(device)
    device.require_usable()
