"""An OpenCL device as Gingham names it: its properties, context and command queue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ....errors import GinghamError
from ..command_queue import CommandQueue
from ..handles.handle import DeviceHandle
from ..handles.known_faults import known_fault as fault_of
from ..handles.properties import DeviceKind, OpenCLProperties, PropertyValue
from ..memory.spare_buffers import SpareBuffers
from .partition import SEPARATOR, divided, range_of, ranges
from .probe import probe

if TYPE_CHECKING:
    import pyopencl as cl

# Platforms whose name does not begin with what people call them.
_SLUGS = {"portable": "pocl"}


class OpenCLDevice(DeviceHandle):
    """A device that programs run on.

    Making it costs nothing; the context and the queue are made when first asked for.
    Whether it really computes is found out by `failure` or `require_usable`, once.
    """

    is_reference = False
    has_buffers = True

    def __init__(
        self,
        name: str,
        kind: DeviceKind,
        details: OpenCLProperties,
        handle: cl.Device,
    ) -> None:
        super().__init__(name, kind, details, handle)
        self._lock = Lock()
        self._queue: CommandQueue | None = None
        self._transfer_queue: CommandQueue | None = None
        self._spare_buffers: SpareBuffers | None = None
        self._parts: dict[tuple[int, int], OpenCLDevice] = {}
        self._probe_lock = Lock()
        self._probed = False
        self._failure: str | None = None

    def __deepcopy__(self, memo: object) -> OpenCLDevice:
        """There is one object for each device of a process."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            f"device '{self.name}' cannot be pickled: keep its name, for gingham.device"
        )

    @property
    def description(self) -> str:
        """The device's own name with its platform: `AMD EPYC (Intel(R) OpenCL)`."""
        return f"{self.details.device} ({self.details.platform})"

    @property
    def properties(self) -> dict[str, PropertyValue]:
        """`details` by name, for printing and for JSON."""
        return self.details.as_dict()

    @property
    def queue(self) -> CommandQueue:
        """The device's common in-order queue, without profiling."""
        context = self.context
        with self._lock:
            if self._queue is None:
                self._queue = CommandQueue(self, context)
                self.pool.attach(self._queue)
            return self._queue

    @property
    def memory_budget_bytes(self) -> int:
        """The most that programs may use of its memory."""
        return self.pool.budget_bytes

    @property
    def known_fault(self) -> str | None:
        """What is known to be wrong with the version of its runtime."""
        fault = fault_of(self.name, self.details)
        return None if fault is None else str(fault)

    def part_named(self, text: str) -> OpenCLDevice:
        """The part of its compute units that `0:1` names.

        Raises GinghamError for what is no range of them, and where the driver can not
        divide the device.
        """
        return self.part(*range_of(self, text))

    def split(self, counts: Sequence[int]) -> list[OpenCLDevice]:
        """Parts of so many compute units each, as devices: `intel.0/0:1`.

        Raises GinghamError where there are too few, and where the driver can not.
        """
        return [self.part(start, stop) for start, stop in ranges(self, counts)]

    def part(self, start: int, stop: int) -> OpenCLDevice:
        """The compute units from `start` to before `stop`; the same object each time.

        Raises GinghamError as `split` does.
        """
        with self._lock:
            if (start, stop) not in self._parts:
                handle, details = divided(self, start, stop)
                name = f"{self.name}{SEPARATOR}{start}:{stop}"
                made = OpenCLDevice(name, self.kind, details, handle)
                if handle is not self.handle and details.host_unified_memory:
                    # One memory has one budget.
                    made.pool = self.pool
                self._parts[start, stop] = made
            return self._parts[start, stop]

    @property
    def spare_buffers(self) -> SpareBuffers:
        """The memory of results that nobody has any more."""
        queue = self.queue
        with self._lock:
            if self._spare_buffers is None:
                self._spare_buffers = SpareBuffers(self, queue)
            return self._spare_buffers

    @property
    def transfer_queue(self) -> CommandQueue:
        """The queue for copies, which run beside the kernels of `queue`.

        Where memory is shared with the host, they would only compete for it.
        """
        if self.details.host_unified_memory:
            return self.queue
        context = self.context
        with self._lock:
            if self._transfer_queue is None:
                self._transfer_queue = CommandQueue(self, context)
                self.pool.attach(self._transfer_queue)
            return self._transfer_queue

    def profiling_queue(self) -> CommandQueue:
        """A new queue whose events know how long they took; it is a little slower."""
        return CommandQueue(self, self.context, profiling=True)

    def failure(self) -> str | None:
        """Why the device can not be used, or None when it computes as it should.

        The first call builds and runs a small kernel, about 0.2 seconds.
        """
        with self._probe_lock:
            if not self._probed:
                self._failure = probe(self, lambda: self.queue)
                self._probed = True
            return self._failure

    def trust(self) -> None:
        """Take it that the device computes, as it did when it was probed before."""
        with self._probe_lock:
            self._probed = True

    @property
    def is_probed(self) -> bool:
        """Whether `failure` knows its answer."""
        return self._probed

    def require_usable(self) -> None:
        """Raise GinghamError when the device can not be used."""
        reason = self.failure()
        if reason is not None:
            raise GinghamError(
                f"device {self.name!r} can not be used: {reason}",
                hint="`tile-devices --probe` tries all devices",
            )

    def __repr__(self) -> str:
        return f"<OpenCLDevice {self.name}: {self.description}>"


def vendor_slug(platform: str) -> str:
    """The short name of a platform: `intel` for `Intel(R) OpenCL`, `pocl`, `nvidia`."""
    words: list[str] = re.findall(
        r"[a-z0-9]+", re.sub(r"\([^)]*\)", " ", platform.lower())
    )
    if not words:
        return "opencl"
    return _SLUGS.get(words[0], words[0])
