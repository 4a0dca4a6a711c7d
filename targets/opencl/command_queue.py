"""Work sent to a device in order: launches, copies, and events that tell their end.

OpenCL keeps a buffer alive until the work on it has ended, but not the host memory
under a buffer that wraps a NumPy array. So every unfinished event holds what its work
touches, and the queue holds its unfinished events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from ...errors import GinghamError
from .buffer import DeviceBuffer
from .status import as_gingham_error

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

    from .device import OpenCLDevice
    from .program import Kernel

    # A scalar's NumPy type must be that of the kernel's parameter.
    KernelArgument: TypeAlias = DeviceBuffer | np.generic

# Unfinished events that a queue holds before it looks which have ended.
_MOST_IN_FLIGHT = 64


class Event:
    """The end of one command: wait for it, or give it to a command that must follow."""

    __slots__ = ("_held", "_queue", "action", "handle")

    def __init__(
        self, queue: CommandQueue, action: str, handle: cl.Event, held: object
    ) -> None:
        self.action = action
        self.handle = handle
        self._queue = queue
        self._held = held

    @property
    def status(self) -> int:
        """OpenCL's status of the command: 0 when it has ended, negative in failure."""
        return int(self.handle.command_execution_status)

    def wait(self) -> None:
        """Block until the command has ended. Raises GinghamError where it failed."""
        import pyopencl as cl

        try:
            self.handle.wait()
        except cl.Error as error:
            raise as_gingham_error(self.action, error) from error
        finally:
            self._queue.release_up_to(self)

    @property
    def seconds(self) -> float:
        """How long the device worked on it; only on a queue made for profiling."""
        import pyopencl as cl

        try:
            start = self.handle.profile.start
            return (self.handle.profile.end - start) * 1e-9
        except cl.Error as error:
            raise as_gingham_error(f"timing of {self.action}", error) from error


class CommandQueue:
    """An in-order queue of one device. Its methods may be called from any thread."""

    def __init__(
        self, device: OpenCLDevice, context: cl.Context, profiling: bool = False
    ) -> None:
        import pyopencl as cl

        flags = cl.command_queue_properties
        properties = flags.PROFILING_ENABLE if profiling else flags(0)
        self.device = device
        try:
            self.handle = cl.CommandQueue(context, device.handle, properties)
        except cl.Error as error:
            action = f"making a command queue on device {device.name!r}"
            raise as_gingham_error(action, error) from error
        self._in_flight: deque[Event] = deque()
        self._failed: Event | None = None
        self._lock = Lock()

    def enqueue(
        self,
        kernel: Kernel,
        global_size: Sequence[int],
        local_size: Sequence[int] | None,
        arguments: Sequence[KernelArgument],
        wait_for: Sequence[Event] = (),
    ) -> Event:
        """Launch `kernel` over `global_size` work-items in groups of `local_size`.

        Commands of a queue run in order, so `wait_for` is for events of other queues.
        No work-items at all is allowed and does nothing. Raises GinghamError, with the
        kernel's name, where the device can not run it so.
        """
        import pyopencl as cl

        if len(arguments) != kernel.argument_count:
            raise GinghamError(
                f"kernel {kernel.name!r} takes {kernel.argument_count} arguments, got "
                f"{len(arguments)}"
            )
        set_argument = kernel.handle.set_arg
        try:
            with kernel.lock:
                for position, argument in enumerate(arguments):
                    if isinstance(argument, DeviceBuffer):
                        set_argument(position, argument.handle)
                    else:
                        set_argument(position, argument)
                handle = cl.enqueue_nd_range_kernel(
                    self.handle,
                    kernel.handle,
                    tuple(global_size),
                    tuple(local_size) if local_size is not None else None,
                    None,
                    [event.handle for event in wait_for] if wait_for else None,
                    allow_empty_ndrange=True,
                )
        except cl.Error as error:
            raise _launch_error(kernel, global_size, local_size, error) from error
        return self._hold(f"kernel {kernel.name!r}", handle, arguments)

    def write(self, buffer: DeviceBuffer, source: NDArray[np.uint8]) -> Event:
        """Copy bytes of the host into a buffer; they must not change until it ends."""
        import pyopencl as cl

        action = f"copying to device {self.device.name!r}"
        try:
            handle = cl.enqueue_copy(
                self.handle, buffer.handle, source, is_blocking=False
            )
        except cl.Error as error:
            raise as_gingham_error(action, error) from error
        return self._hold(action, handle, (buffer, source))

    def read(self, buffer: DeviceBuffer, target: NDArray[np.uint8]) -> Event:
        """Copy a buffer into bytes of the host, which are whole once it has ended."""
        import pyopencl as cl

        action = f"copying from device {self.device.name!r}"
        try:
            handle = cl.enqueue_copy(
                self.handle, target, buffer.handle, is_blocking=False
            )
        except cl.Error as error:
            raise as_gingham_error(action, error) from error
        return self._hold(action, handle, (buffer, target))

    def finish(self) -> None:
        """Block until every command so far has ended.

        Raises GinghamError with the first of them that failed, unless waiting for it
        has told already.
        """
        import pyopencl as cl

        with self._lock:
            last = self._in_flight[-1] if self._in_flight else None
        try:
            self.handle.finish()
        except cl.Error as error:
            action = f"work on device {self.device.name!r}"
            raise as_gingham_error(action, error) from error
        if last is not None:
            self.release_up_to(last)
            self._note_failure(last)
        with self._lock:
            failed, self._failed = self._failed, None
        if failed is not None:
            raise as_gingham_error(failed.action, failed.status)

    def release_up_to(self, event: Event) -> None:
        """Let go of what `event` and the commands before it held: they have ended."""
        with self._lock:
            if event not in self._in_flight:
                return
            while (oldest := self._in_flight.popleft()) is not event:
                self._note_failure(oldest)

    def _hold(self, action: str, handle: cl.Event, held: object) -> Event:
        event = Event(self, action, handle, held)
        with self._lock:
            self._in_flight.append(event)
            if len(self._in_flight) > _MOST_IN_FLIGHT:
                while self._in_flight and self._in_flight[0].status <= 0:
                    self._note_failure(self._in_flight.popleft())
        return event

    def _note_failure(self, event: Event) -> None:
        """Keep the first failed command that nobody waited for, for `finish` to tell."""
        if self._failed is None and event.status < 0:
            self._failed = event


def _launch_error(
    kernel: Kernel,
    global_size: Sequence[int],
    local_size: Sequence[int] | None,
    error: cl.Error,
) -> GinghamError:
    """The failed launch with the sizes asked for and the kernel's limits."""
    import pyopencl as cl

    group = list(local_size) if local_size is not None else "the device's choice"
    action = (
        f"launching kernel {kernel.name!r} on device {kernel.device.name!r} "
        f"(global size {list(global_size)}, local size {group})"
    )
    try:
        hint = (
            f"this kernel may have {kernel.max_work_group_size} work-items in a group "
            f"and uses {kernel.local_memory_bytes} of "
            f"{kernel.device.details.local_memory_bytes} bytes of local memory"
        )
    except cl.Error:
        hint = None
    return as_gingham_error(action, error, hint)
