"""What every device can tell: `Device`; and the one that is always there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..targets.host_device import HostDevice

if TYPE_CHECKING:
    from ..targets.backend import DeviceKind, PropertyValue


class Named(Protocol):
    """What is known of a device before it is tried."""

    @property
    def name(self) -> str:
        """The name to ask for it by: `intel.0`, `nvidia.1`, `reference`."""
        ...

    @property
    def kind(self) -> DeviceKind:
        """`cpu`, `gpu`, `accelerator`, `custom` or `interpreter`."""
        ...


class Device(Named, Protocol):
    """What every device can tell."""

    @property
    def description(self) -> str:
        """One line for people."""
        ...

    @property
    def properties(self) -> dict[str, PropertyValue]:
        """What the device says about itself, by names that carry their units."""
        ...

    @property
    def is_reference(self) -> bool:
        """Whether this is the reference interpreter."""
        ...

    @property
    def has_buffers(self) -> bool:
        """Whether its arrays are buffers of OpenCL; else they are NumPy's."""
        ...

    @property
    def is_probed(self) -> bool:
        """Whether `failure` knows its answer, or finds it at once."""
        ...

    def trust(self) -> None:
        """Take it that the device computes, as it did when it was probed before."""
        ...

    @property
    def memory_budget_bytes(self) -> int | None:
        """The most that programs may use; None where that is not counted."""
        ...

    @property
    def known_fault(self) -> str | None:
        """What is known to be wrong with the version of its runtime."""
        ...

    def failure(self) -> str | None:
        """Why the device can not be used, or None; found out on the first call."""
        ...

    def require_usable(self) -> None:
        """Raise GinghamError when the device can not be used."""
        ...

    def split(self, counts: Sequence[int]) -> Sequence[Device]:
        """Parts of so many compute units each, as devices: `intel.0/0:1`.

        Raises GinghamError where there are too few, and where it can not be divided.
        """
        ...

    def part_named(self, text: str) -> Device:
        """The part with these compute units, as its name has them: `0:1`.

        Raises GinghamError where there is none, and where it can not be divided.
        """
        ...


class ReferenceDevice(HostDevice):
    """The NumPy interpreter as a device: always there, always right, and slow."""

    name = "reference"
    kind: DeviceKind = "interpreter"
    description = "reference interpreter on NumPy (slow; for checking)"
    is_reference = True

    @property
    def properties(self) -> dict[str, PropertyValue]:
        """The versions of what it runs on."""
        import numpy as np

        python = ".".join(str(part) for part in sys.version_info[:3])
        return {"numpy_version": np.__version__, "python_version": python}

    def failure(self) -> str | None:
        """None: it needs nothing that could be missing."""
        return None

    def require_usable(self) -> None:
        """Do nothing: it is always usable."""

    def __repr__(self) -> str:
        return f"<ReferenceDevice: {self.description}>"


REFERENCE = ReferenceDevice()
"""The one of this process."""
