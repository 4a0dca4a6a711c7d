"""The devices that there are, and `Device`, what is open: one of them, or several.

Several open devices are one `Device`: the operations of each function are placed on
them so that the whole ends first (`docs/placement.md`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias, overload

from ..errors import GinghamError
from ..runtime import devices as gingham_devices
from ..runtime.runs import Worker
from .context import Context
from .settings import chosen_devices

AUTO = "auto"
"""What stands for all devices of the host that work."""


class DeviceConfig:
    """What could be opened: a device, or several on which programs are placed.

    What it says is in bytes of UTF-8, as it is in PlaidML; `str` gives its name.
    """

    def __init__(self, *devices: gingham_devices.Device) -> None:
        self.devices = devices
        """The devices as Gingham knows them."""

    @property
    def device(self) -> gingham_devices.Device:
        """The first of the devices."""
        return self.devices[0]

    @property
    def id(self) -> bytes:
        """The names that Gingham knows them by: `intel.0`, `intel.0 nvidia.0`."""
        return str(self).encode()

    @property
    def config(self) -> bytes:
        """What each of the devices says about itself, as JSON by its name."""
        return _as_json({each.name: each.properties for each in self.devices})

    @property
    def description(self) -> bytes:
        """One line for people."""
        return "; ".join(device.description for device in self.devices).encode()

    @property
    def details(self) -> bytes:
        """What the first of the devices says about itself, as JSON.

        By PlaidML's names (`type`, `name`, `vendor`, `driverVersion`, `globalMemSize`,
        `maxMemAllocSize`, `localMemSize`, `maxComputeUnits`) as far as it is known, and
        by those of `gingham.Device.properties`.
        """
        properties = self.device.properties
        found = {key: properties.get(ours) for key, ours in _DETAILS.items()}
        known = {key: str(value) for key, value in found.items() if value is not None}
        return _as_json({"type": self.device.kind.upper(), **known, **properties})

    @property
    def failure(self) -> str | None:
        """Why it cannot be opened; None where it can."""
        failures = (device.failure() for device in self.devices)
        return next((failure for failure in failures if failure is not None), None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceConfig) and self.devices == other.devices

    def __hash__(self) -> int:
        return hash(self.devices)

    def __str__(self) -> str:
        return " ".join(device.name for device in self.devices)

    def __repr__(self) -> str:
        return f"<gingham.plaidml.DeviceConfig {self}: {self.description.decode()}>"


_DETAILS = {
    "name": "device",
    "vendor": "vendor",
    "driverVersion": "driver_version",
    "globalMemSize": "global_memory_bytes",
    "maxMemAllocSize": "max_allocation_bytes",
    "localMemSize": "local_memory_bytes",
    "maxComputeUnits": "compute_units",
}
"""PlaidML's names of what devices say about themselves, and ours."""


Choice: TypeAlias = "DeviceConfig | str | bytes | Sequence[str]"
"""What to open: a configuration, or names of devices."""


@overload
def devices(
    ctx: Context, limit: int | None = 1, return_all: Literal[False] = False
) -> list[DeviceConfig]: ...


@overload
def devices(
    ctx: Context, limit: int | None = 1, *, return_all: Literal[True]
) -> tuple[list[DeviceConfig], list[DeviceConfig]]: ...


def devices(
    ctx: Context, limit: int | None = 1, return_all: bool = False
) -> list[DeviceConfig] | tuple[list[DeviceConfig], list[DeviceConfig]]:
    """The devices that work, at most `limit`: the default device, then the others.

    Where `settings.device_ids` names devices it is these. More of them than `limit` are
    one configuration, over which programs are placed. Which device is the default is
    said in `gingham.devices`. With `return_all` also those that do not work, each with
    its `failure`; `limit` then does not count.
    """
    ctx.check()
    if limit is not None and limit < 1:
        raise GinghamError(f"expected a limit of at least 1, got {limit}")
    wanted = chosen_devices()
    if wanted and not return_all:
        chosen = _chosen(wanted)
        if limit is not None and len(chosen) > limit:
            return [DeviceConfig(*chosen)]
        return [DeviceConfig(device) for device in chosen]
    default = gingham_devices.default_device()
    found = [DeviceConfig(default)]
    if limit == 1 and not return_all:
        return found
    others = [d for d in gingham_devices.devices() if d.name != default.name]
    found += [DeviceConfig(device) for device in others]
    valid = [config for config in found if config.failure is None]
    if return_all:
        return valid, [config for config in found if config.failure is not None]
    return valid[:limit]


class Device:
    """What is open; tensors are made for it, and it runs functions on them.

    `device` is one of `devices`, or names of devices: `"intel.0"`, or for programs
    that are placed `"intel.0 nvidia.0"` or a sequence; `"auto"` is all of the host that
    work. As a context manager it closes itself. Raises GinghamError for a device that
    does not exist or work.
    """

    def __init__(self, ctx: Context, device: Choice | None = None) -> None:
        ctx.check()
        if device is None:
            device = devices(ctx)[0]
        if isinstance(device, DeviceConfig):
            chosen = device.devices
        else:
            names = device.decode() if isinstance(device, bytes) else device
            chosen = _chosen(names.split() if isinstance(names, str) else names)
        for each in chosen:
            each.require_usable()
        self.devices: Sequence[gingham_devices.Device] = tuple(chosen)
        """The devices as Gingham knows them."""
        self.worker = Worker(*chosen)
        self._ctx = ctx

    @property
    def device(self) -> gingham_devices.Device:
        """The first of the devices, where new tensors are."""
        return self.devices[0]

    @property
    def id(self) -> str:
        """The names that Gingham knows them by."""
        return " ".join(device.name for device in self.devices)

    def get_context(self) -> Context:
        """The context that it was opened in."""
        return self._ctx

    def __repr__(self) -> str:
        state = "closed " if self.is_closed else ""
        return f"<{state}gingham.plaidml.Device {self.id}>"

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether it takes no further runs."""
        return self.worker.is_closed

    def close(self) -> None:
        """Wait for its runs; its tensors cannot be used afterwards.

        A run that waits for a view fails, as nothing says when that view ends.
        """
        self.worker.close()

    def check(self) -> None:
        """Raise GinghamError when it is closed."""
        if self.is_closed:
            raise GinghamError(f"the device {self.id} is closed")


def open_first_device(ctx: Context) -> Device:
    """The first of `devices`, open."""
    return Device(ctx, devices(ctx)[0])


def _chosen(names: Sequence[str]) -> list[gingham_devices.Device]:
    """The devices of these names, each once."""
    if list(names) == [AUTO]:
        found = [d for d in gingham_devices.devices() if d.has_buffers]
        working = [device for device in found if device.failure() is None]
        return working or [gingham_devices.default_device()]
    if not names:
        raise GinghamError("expected the name of a device")
    return [gingham_devices.device(name) for name in dict.fromkeys(names)]


def _as_json(value: object) -> bytes:
    return json.dumps(value, default=str).encode()
