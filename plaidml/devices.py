"""`Context`, the devices that there are, and `Device`, one that is open."""

from __future__ import annotations

from typing import Literal, overload

from ..errors import GinghamError
from ..runtime import devices as gingham_devices
from ..runtime.runs import Worker


class Context:
    """What most calls are made in: closed, it lets nothing further happen.

    May be used as a context manager, which closes it.
    """

    def __init__(self) -> None:
        self._is_closed = False

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it: calls that are given it, and views that came from it, are errors."""
        self._is_closed = True

    shutdown = cancel = close

    def check(self) -> None:
        """Raise GinghamError when it is closed."""
        if self._is_closed:
            raise GinghamError("the context is closed")


class DeviceConfig:
    """A device that could be opened: its name, a line for people, and its figures."""

    def __init__(self, device: gingham_devices.Device) -> None:
        self.device = device

    @property
    def id(self) -> str:
        """The name that Gingham knows it by: `intel.0`."""
        return self.device.name

    @property
    def description(self) -> str:
        """One line for people."""
        return self.device.description

    @property
    def details(self) -> str:
        """What the device says about itself, a line for each figure."""
        return "\n".join(f"{k}: {v}" for k, v in self.device.properties.items())

    @property
    def failure(self) -> str | None:
        """Why it cannot be opened; None where it can."""
        return self.device.failure()

    def __repr__(self) -> str:
        return f"<gingham.plaidml.DeviceConfig {self.id}: {self.description}>"


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

    Which one is the default is said in `gingham.devices`. With `return_all` also those
    that do not work, each with its `failure`; `limit` then does not count.
    """
    ctx.check()
    if limit is not None and limit < 1:
        raise GinghamError(f"expected a limit of at least 1, got {limit}")
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
    """An open device; tensors are made for it, and it runs functions on them.

    `devconf` is one of `devices`, or the name of a device. As a context manager it
    closes itself. Raises GinghamError for a device that does not exist or work.
    """

    def __init__(self, ctx: Context, devconf: DeviceConfig | str | None = None) -> None:
        ctx.check()
        if devconf is None:
            chosen = gingham_devices.default_device()
        elif isinstance(devconf, DeviceConfig):
            chosen = devconf.device
        else:
            chosen = gingham_devices.device(devconf)
        chosen.require_usable()
        self.device = chosen
        """The device as Gingham knows it."""
        self.worker = Worker(chosen)

    @property
    def id(self) -> str:
        """The name that Gingham knows it by."""
        return self.device.name

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
    """The default device, open."""
    return Device(ctx, devices(ctx)[0])
