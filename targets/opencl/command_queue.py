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
from .host_memory import format_bytes
from .status import as_gingham_error

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

    from .device import OpenCLDevice
    from .program import Kernel

    # A scalar's NumPy type must be that of the kernel's parameter.
    KernelArgument: TypeAlias = DeviceBuffer | np.generic

# Without it pyopencl refuses a launch of no work-items. Keywords are slow in its calls,
# so it is given only where it matters.
_EMPTY_LAUNCH = {"allow_empty_ndrange": True}

# Unfinished events that a queue holds before it looks which have ended, and before it
# waits for the oldest, so that a long batch does not hold memory without bound.
_MANY_IN_FLIGHT = 64
_MOST_IN_FLIGHT = 512


class Event:
    """The end of one command: wait for it, or give it to a command that must follow."""

    __slots__ = ("_queue", "action", "handle", "held")

    def __init__(
        self, queue: CommandQueue, action: str, handle: cl.Event, held: object
    ) -> None:
        self.action = action
        self.handle = handle
        self.held = held
        self._queue = queue

    @property
    def done(self) -> bool:
        """Whether the command has ended, well or in failure."""
        # Queued, submitted and running are positive, failures negative.
        return int(self.handle.command_execution_status) <= 0

    def start(self) -> None:
        """See that the command gets started, before a command elsewhere waits for it.

        A runtime may collect commands (PoCL does) until its queue is flushed.
        """
        self._queue.handle.flush()

    def wait(self) -> None:
        """Block until the command has ended. Raises GinghamError where it failed."""
        queue = self._queue
        try:
            self.handle.wait()
        except queue.error_type as error:
            raise as_gingham_error(self.action, error) from error
        finally:
            queue.release_up_to(self)

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
        properties = (flags.PROFILING_ENABLE,) if profiling else ()
        self.device = device
        try:
            self.handle = cl.CommandQueue(context, device.handle, *properties)
        except cl.Error as error:
            action = f"making a command queue on device {device.name!r}"
            raise as_gingham_error(action, error) from error
        # Bound once: a lookup of the lazily imported module costs as much as a tenth
        # of a launch.
        self.error_type = cl.Error
        self._launch = cl.enqueue_nd_range_kernel
        self._in_flight: deque[Event] = deque()
        self._failure: GinghamError | None = None
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
        if len(arguments) != kernel.argument_count:
            raise GinghamError(
                f"kernel {kernel.name!r} takes {kernel.argument_count} arguments, got "
                f"{len(arguments)}"
            )
        for event in wait_for:
            event.start()
        try:
            with kernel.lock, self._lock:
                for position, argument in enumerate(arguments):
                    if isinstance(argument, DeviceBuffer):
                        kernel.set_memory(position, argument.handle)
                    else:
                        kernel.set_scalar(position, argument)
                handle = self._launch(
                    self.handle,
                    kernel.handle,
                    tuple(global_size),
                    tuple(local_size) if local_size is not None else None,
                    None,
                    [event.handle for event in wait_for] if wait_for else None,
                    **(_EMPTY_LAUNCH if 0 in global_size else {}),
                )
                return self._hold(kernel.title, handle, tuple(arguments))
        except self.error_type as error:
            sizes = (global_size, local_size)
            raise launch_error(kernel, sizes, arguments, error) from error

    def write(self, buffer: DeviceBuffer, source: NDArray[np.uint8]) -> Event:
        """Copy bytes of the host into a buffer; they must not change until it ends."""
        import pyopencl as cl

        action = f"copying to device {self.device.name!r}"
        try:
            with self._lock:
                handle = cl.enqueue_copy(
                    self.handle, buffer.handle, source, is_blocking=False
                )
                return self._hold(action, handle, (buffer, source))
        except cl.Error as error:
            hint = _memory_hint(self.device, [buffer])
            raise as_gingham_error(action, error, hint) from error

    def read(self, buffer: DeviceBuffer, target: NDArray[np.uint8]) -> Event:
        """Copy a buffer into bytes of the host, which are whole once it has ended."""
        import pyopencl as cl

        action = f"copying from device {self.device.name!r}"
        try:
            with self._lock:
                handle = cl.enqueue_copy(
                    self.handle, target, buffer.handle, is_blocking=False
                )
                return self._hold(action, handle, (buffer, target))
        except cl.Error as error:
            raise as_gingham_error(action, error) from error

    def finish(self) -> None:
        """Block until every command so far has ended.

        Raises GinghamError with the first of them that failed, unless waiting for it
        has told already.
        """
        with self._lock:
            last = self._in_flight[-1] if self._in_flight else None
        try:
            self.handle.finish()
        except self.error_type as error:
            action = f"work on device {self.device.name!r}"
            raise as_gingham_error(action, error) from error
        if last is not None:
            self.release_up_to(last)
            self._note_failure(last)
        with self._lock:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def release_up_to(self, event: Event) -> None:
        """Let go of what `event` and the commands before it held: they have ended."""
        with self._lock:
            if event not in self._in_flight:
                return
            while (oldest := self._in_flight.popleft()) is not event:
                self._let_go(oldest)
            event.held = None

    def _hold(self, action: str, handle: cl.Event, held: object) -> Event:
        """The event of the newest command.

        `_lock` must be held since that was enqueued: the order of `_in_flight` is the
        order of the commands.
        """
        event = Event(self, action, handle, held)
        self._in_flight.append(event)
        if len(self._in_flight) > _MANY_IN_FLIGHT:
            self.handle.flush()
            while self._in_flight and self._in_flight[0].done:
                self._let_go(self._in_flight.popleft())
        if len(self._in_flight) > _MOST_IN_FLIGHT:
            self._let_go(self._in_flight.popleft())
        return event

    def _let_go(self, event: Event) -> None:
        self._note_failure(event)
        event.held = None

    def _note_failure(self, event: Event) -> None:
        """Wait, and keep the first failure, for `finish` to tell.

        An ended event's status does not tell failure everywhere (Intel's runtime shows
        0), but waiting does, and takes no time then.
        """
        try:
            event.handle.wait()
        except self.error_type as error:
            if self._failure is None:
                self._failure = as_gingham_error(event.action, error)


def launch_error(
    kernel: Kernel,
    sizes: tuple[Sequence[int], Sequence[int] | None],
    arguments: Sequence[KernelArgument],
    error: cl.Error,
) -> GinghamError:
    """The failed launch with the sizes asked for and the limit that it met."""
    import pyopencl as cl

    global_size, local_size = sizes
    group = list(local_size) if local_size is not None else "the device's choice"
    action = (
        f"launching kernel {kernel.name!r} on device {kernel.device.name!r} "
        f"(global size {list(global_size)}, local size {group})"
    )
    # Some drivers (NVIDIA's) allocate when a buffer is first used.
    if error.code == cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE:
        buffers = [each for each in arguments if isinstance(each, DeviceBuffer)]
        return as_gingham_error(action, error, _memory_hint(kernel.device, buffers))
    try:
        hint = (
            f"this kernel may have {kernel.max_work_group_size} work-items in a group "
            f"and uses {kernel.local_memory_bytes} of "
            f"{kernel.device.details.local_memory_bytes} bytes of local memory"
        )
    except cl.Error:
        hint = None
    return as_gingham_error(action, error, hint)


def _memory_hint(device: OpenCLDevice, buffers: Sequence[DeviceBuffer]) -> str:
    """How much memory the buffers of a failed command need, and how much there is."""
    needed = format_bytes(sum(buffer.size_in_bytes for buffer in buffers))
    total = format_bytes(device.details.global_memory_bytes)
    return f"it works on {needed}, and the device has {total} in all"
