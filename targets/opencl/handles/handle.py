"""What a device is to what it has: a name, properties, a context, and a budget.

Buffers, queues, kernels and programs are of a `DeviceHandle`; an `OpenCLDevice` is one
that has queues, and tells whether it works.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from ..status import as_gingham_error
from .known_faults import tell_of_fault
from .pool import MemoryPool
from .properties import DeviceKind, OpenCLProperties

if TYPE_CHECKING:
    import pyopencl as cl


class DeviceHandle:
    """One device of one OpenCL platform, named `<vendor>.<n>` such as `intel.0`."""

    def __init__(
        self,
        name: str,
        kind: DeviceKind,
        details: OpenCLProperties,
        handle: cl.Device,
    ) -> None:
        self.name = name
        self.kind: DeviceKind = kind
        self.details = details
        self.handle = handle
        self.pool = MemoryPool(
            name,
            details.global_memory_bytes,
            details.max_allocation_bytes,
            is_own=not details.host_unified_memory,
        )
        """What is used of its memory."""
        self.built_count = 0
        """How many programs its compiler has built in this process."""
        self._opening = Lock()
        self._context: cl.Context | None = None

    @property
    def is_visible(self) -> bool:
        """Whether the host sees what kernels write to its memory without asking."""
        return self.details.shares_host_memory or self.kind == "cpu"

    @property
    def context(self) -> cl.Context:
        """The device's one context. Raises GinghamError where the driver refuses.

        What is known to be wrong with the driver is warned of.
        """
        import pyopencl as cl

        with self._opening:
            if self._context is None:
                try:
                    self._context = cl.Context([self.handle])
                except cl.Error as error:
                    raise as_gingham_error(
                        f"opening device {self.name!r}", error
                    ) from error
                tell_of_fault(self.name, self.details)
            return self._context
