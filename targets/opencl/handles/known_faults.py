"""Versions of runtimes that are known to compile kernels wrongly.

| Intel's runtime for CPUs | what it makes of kernels |
| --- | --- |
| 2025.3.1, 2026.0.0, 2026.1.2, 2026.2.0 | loops that never end, around conditions |
| 2026.1.2, 2026.2.0 | none, a crash: `sin(x)` and `cos(x)` of an `x` that is one, too |
| 2026.1.2 | none, a crash: some loops unrolled by a count that does not divide theirs |
| 2026.2.0 | wrong sums, where several are subtracted from in one loop |
| 2026.2.0 | wrong minima and maxima of integers that are complements, in loops or not |

The kernels that Gingham prints avoid these (`opencl-limit-unrolling`,
`opencl-hide-conditions`, `opencl-hide-complements`, the spelling of `cos`). Who has a
version that is wrong in simple kernels is told so once all the same: it may be wrong
elsewhere, too. The versions that the extra `cpu` and constraints.txt name are those
that `python -m gingham.tools.driver_sweep` has passed; run it before another one is
named.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ....errors import warn

if TYPE_CHECKING:
    from .properties import OpenCLProperties


class KnownFaultWarning(UserWarning):
    """A device is used whose runtime is known to be wrong in places."""


@dataclass(frozen=True)
class KnownFault:
    """What is wrong with a version of a runtime."""

    vendor: str
    """As in the names of `tile-devices`."""
    driver_version: str
    """How the driver's own version begins."""
    name: str
    """What people call the version."""
    fault: str
    advice: str

    def __str__(self) -> str:
        return f"{self.name} {self.fault}; {self.advice}"


_FAULTS = (
    KnownFault(
        "intel",
        "2026.22.10.",
        "intel-opencl-rt 2026.2.0",
        "compiles sums in loops wrongly, which Gingham's kernels avoid",
        "`pip install 'intel-opencl-rt<2026.2' 'intel-cmplr-lib-rt<2026.2'` installs "
        "one that does not",
    ),
)


def known_fault(device: str, details: OpenCLProperties) -> KnownFault | None:
    """What is known to be wrong with the runtime of a device, if anything."""
    vendor = device.rpartition(".")[0]
    version = details.driver_version
    for fault in _FAULTS:
        if fault.vendor == vendor and version.startswith(fault.driver_version):
            return fault
    return None


def tell_of_fault(device: str, details: OpenCLProperties) -> None:
    """Warn, once, of what is known to be wrong with the runtime of a device."""
    fault = known_fault(device, details)
    if fault is not None:
        _warn_once(f"device {device!r}: {fault}")


@cache
def _warn_once(message: str) -> None:
    warn(message, KnownFaultWarning)
