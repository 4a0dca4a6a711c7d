"""The devices that programs can run on, their names, and which one is the default.

`devices()` lists all OpenCL devices of all platforms, then two that need no OpenCL:

1. CPU devices, Intel's runtime (the one that Gingham's own extra installs) first, then
   PoCL, then others;
2. GPUs;
3. accelerators and what else there is;
4. `c`, the processor by the system's C compiler, which runs where there is one;
5. `reference`, the NumPy interpreter, which is there always.

The default device is the one that the setting `device` names (`docs/settings.md`), else
the first of OpenCL which passes its probe (a small kernel, built, run and checked),
else `reference`; `c` is for who asks for it.
A CPU comes before a GPU so that a program gives the same bits on most machines, works
on NumPy's memory without copies, and keeps its device when a driver is installed; who
wants the GPU says `device="nvidia.0"` or sets `GINGHAM_DEVICE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ..errors import GinghamError, warn
from ..suggestions import did_you_mean
from .backends import WITHOUT_DRIVER, driver_devices, driver_problems
from .cache.probes import failure_of, require_usable
from .device import REFERENCE, Device
from .settings import find

if TYPE_CHECKING:
    from ..targets.backend import Problem


class ReferenceDeviceWarning(UserWarning):
    """No OpenCL device can be used, so that programs run on the slow interpreter."""


def devices() -> list[Device]:
    """All devices in order of preference; the list is the same throughout a process.

    Devices are listed, not tried: `failure` of a device tells whether it works.
    """
    return [*driver_devices(), *WITHOUT_DRIVER]


def device_problems() -> list[Problem]:
    """OpenCL runtimes and devices that are installed but can not be listed, and why."""
    return driver_problems()


def device(name: str) -> Device:
    """The device of that name; `intel.0/0:1` is the first compute unit of `intel.0`.

    Raises GinghamError, naming all, where there is none, and for a part of one that has
    no such part or can not be divided.
    """
    # These need no OpenCL, so asking for one does not start any.
    for each in WITHOUT_DRIVER:
        if name == each.name:
            return each
    available = devices()
    for candidate in available:
        if candidate.name == name:
            return candidate
        if name.startswith(f"{candidate.name}/"):
            return candidate.part_named(name.removeprefix(f"{candidate.name}/"))
    names = [candidate.name for candidate in available]
    hints = [f"available devices: {', '.join(names)}"]
    close = did_you_mean(name, names)
    if close is not None:
        hints.insert(0, close)
    hints += [f"not available: {problem}" for problem in device_problems()]
    raise GinghamError(f"there is no device {name!r}", hint="; ".join(hints))


def chosen_device(
    wanted: str | Device | Sequence[str | Device] | None,
) -> Device | None:
    """The device that a caller asks for by itself or its name, which works.

    Raises GinghamError for what is neither, such as a list of them.
    """
    if wanted is None:
        return None
    chosen = device(wanted) if isinstance(wanted, str) else wanted
    if isinstance(chosen, Sequence) or not hasattr(chosen, "require_usable"):
        raise GinghamError(
            f"expected a device or its name, got {type(wanted).__name__}",
            hint="gingham.devices() lists the devices",
        )
    require_usable(chosen)
    return chosen


def chosen_devices(wanted: Sequence[str | Device]) -> list[Device]:
    """The devices that a caller asks for, which work, each once.

    Raises GinghamError for none at all, and for one that can not be used.
    """
    chosen: list[Device] = []
    for each in wanted:
        found = chosen_device(each)
        if found is not None and found not in chosen:
            chosen.append(found)
    if not chosen:
        raise GinghamError(
            "expected one device or more, got none",
            hint="gingham.devices() lists the devices",
        )
    return chosen


def default_device() -> Device:
    """The device for programs that name none, by the rule on top of this page.

    Devices are tried in turn until one works, so the first call takes a moment. Where
    only the interpreter is left, a `ReferenceDeviceWarning` says so once.
    """
    choice = default_choice()
    if choice.is_last_resort:
        reasons = [*map(str, device_problems()), *choice.failures]
        _warn_of_slowness("".join(f"\n  {reason}" for reason in reasons))
    return choice.device


@dataclass(frozen=True)
class Choice:
    """The default device, and why it is that one."""

    device: Device
    source: str
    """Where the setting is from that names it; empty where none does."""
    failures: tuple[str, ...] = ()
    """The devices that would have come before it, with what is wrong there."""

    @property
    def is_last_resort(self) -> bool:
        """Whether it is the interpreter, as nothing else works."""
        return self.device.is_reference and not self.source

    def __str__(self) -> str:
        """`intel.0, the first that works`."""
        if self.source:
            return f"{self.device.name}, named by {self.source}"
        if self.is_last_resort:
            return f"{self.device.name}, as no OpenCL device can be used"
        return f"{self.device.name}, the first that works"


def default_choice() -> Choice:
    """The default device with the reason, without a warning.

    Raises GinghamError where the setting `device` names none.
    """
    chosen = find("device")
    if chosen.value is not None:
        try:
            return Choice(device(chosen.value), chosen.source)
        except GinghamError as error:
            raise chosen.blame(error) from None
    return _first_usable()


def _first_usable() -> Choice:
    failures: list[str] = []
    for candidate in driver_devices():
        failure = failure_of(candidate)
        if failure is None:
            return Choice(candidate, "", tuple(failures))
        failures.append(f"{candidate.name}: {_in_short(failure)}")
    return Choice(REFERENCE, "", tuple(failures))


def _in_short(failure: str) -> str:
    """The first line, and of a compiler's log the first line that tells an error."""
    first, *log = failure.splitlines()
    return " ".join([first, *[line for line in log if "error" in line][:1]])


@cache
def _warn_of_slowness(reasons: str) -> None:
    """Warn; the cache makes it once per process."""
    warn(
        "no OpenCL device can be used; programs run on the reference interpreter, "
        "which is slow. `pip install intel-opencl-rt intel-cmplr-lib-rt` installs a "
        f"runtime for the CPU.{reasons}",
        ReferenceDeviceWarning,
    )
