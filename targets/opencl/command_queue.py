"""Work sent to a device in order: launches, copies, and events that tell their end.

OpenCL keeps a buffer alive until the work on it has ended, but not the host memory
under a buffer that wraps a NumPy array. So every unfinished event holds what its work
touches, and the queue holds its unfinished events.
"""

from __future__ import annotations

import atexit
import math
from collections import deque
from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

from ...errors import GinghamError
from ...observation import observe_copy, observe_queue
from ..host_arrays import format_bytes
from .bare_launches import bare_enqueue
from .closing import ClosedLock, builds, has_daemons, wait_for_daemons
from .events import Event, RunEvent
from .handles.buffer import DeviceBuffer
from .status import as_gingham_error

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

    from .events import Explain
    from .handles.handle import DeviceHandle
    from .kernel import Kernel

    # A scalar's NumPy type must be that of the kernel's parameter.
    KernelArgument: TypeAlias = DeviceBuffer | np.generic

# Without it pyopencl refuses a launch of no work-items. Keywords are slow in its calls,
# so it is given only where it matters.
_EMPTY_LAUNCH = {"allow_empty_ndrange": True}

# Runs and commands that a queue holds before it looks which have ended, and before it
# waits for the oldest, so that a long batch does not hold memory without bound.
_MANY_IN_FLIGHT = 64
_MOST_IN_FLIGHT = 512

# Of runs whose launches have no events every so manieth gets one, so that what runs
# hold is let go, and who waits for one waits for no more than those behind it.
_MOST_UNMARKED = 16

# Of the device's memory, for runs that nobody waits for. A few may always be in flight,
# so that the device has work while the next is enqueued.
_SHARE_IN_FLIGHT = 1 / 8
_FEW_IN_FLIGHT = 4


class CommandQueue:
    """An in-order queue of one device. Its methods may be called from any thread."""

    def __init__(
        self, device: DeviceHandle, context: cl.Context, profiling: bool = False
    ) -> None:
        import pyopencl as cl

        flags = cl.command_queue_properties
        properties = (flags.PROFILING_ENABLE,) if profiling else ()
        self.has_timing = profiling
        """Whether events know when their commands ran."""
        self.is_bare = (
            not device.details.host_unified_memory and bare_enqueue() is not None
        )
        """Whether runs are started without events, which some drivers take long for."""
        self.starts_at_once = device.details.starts_at_once
        """Whether what is enqueued starts without `flush`."""
        self.device = device
        self.context = context
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
        self._runs = 0
        """How many commands and runs are in flight."""
        self.shared: RunEvent | None = None
        """The end of the runs since the last event, which have none of their own."""
        self.wants_mark = False
        """Whether the next run should have an event, after so many without."""
        self.ended: cl.Event | None = None
        """See `EventQueue`."""
        self._look_at = _MANY_IN_FLIGHT
        _queues.add(self)
        self._held_bytes = 0
        total = device.details.global_memory_bytes or math.inf
        self._most_bytes = total * _SHARE_IN_FLIGHT
        self._most_unmarked = self._most_bytes / _MOST_UNMARKED
        self._failure: GinghamError | None = None
        self.lock: RLock | ClosedLock = RLock()
        """Held while commands are enqueued."""

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
        waits = [event.handle for event in wait_for] if wait_for else None
        for event in wait_for:
            event.start()
        try:
            with kernel.lock, self.lock:
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
                    waits,
                    **(_EMPTY_LAUNCH if 0 in global_size else {}),
                )
                return self._hold(kernel.title, handle, tuple(arguments))
        except self.error_type as error:
            sizes = (global_size, local_size)
            buffers = [each for each in arguments if isinstance(each, DeviceBuffer)]
            needed = sum(each.size_in_bytes for each in buffers)
            raise launch_error(kernel, sizes, needed, error) from error

    def write(self, buffer: DeviceBuffer, source: NDArray[np.uint8]) -> Event:
        """Copy bytes of the host into a buffer; they must not change until it ends."""
        import pyopencl as cl

        action = f"copying to device {self.device.name!r}"
        observe_queue(self)
        try:
            with self.lock:
                handle = cl.enqueue_copy(
                    self.handle, buffer.handle, source, is_blocking=False
                )
                observe_copy(self, "to the device", source.nbytes, handle)
                return self._hold(action, handle, (buffer, source))
        except cl.Error as error:
            hint = _memory_hint(self.device, buffer.size_in_bytes)
            raise as_gingham_error(action, error, hint) from error

    def read(self, buffer: DeviceBuffer, target: NDArray[np.uint8]) -> Event:
        """Copy a buffer into bytes of the host, which are whole once it has ended."""
        import pyopencl as cl

        action = f"copying from device {self.device.name!r}"
        observe_queue(self)
        try:
            with self.lock:
                handle = cl.enqueue_copy(
                    self.handle, target, buffer.handle, is_blocking=False
                )
                observe_copy(self, "from the device", target.nbytes, handle)
                return self._hold(action, handle, (buffer, target))
        except cl.Error as error:
            raise as_gingham_error(action, error) from error

    def set_timing(self, is_on: bool) -> None:
        """Let events know from now on when their commands ran, or no longer.

        Blocks until every command so far has ended.
        """
        import pyopencl as cl

        properties = (cl.command_queue_properties.PROFILING_ENABLE,) if is_on else ()
        with self.lock:
            if is_on is self.has_timing:
                return
            try:
                # Commands of the new queue come after those of the old one.
                self.handle.finish()
                self.handle = cl.CommandQueue(
                    self.context, self.device.handle, *properties
                )
            except cl.Error as error:
                action = f"timing of device {self.device.name!r}"
                raise as_gingham_error(action, error) from error
            self.has_timing = is_on

    def hold(self, event: RunEvent) -> None:
        """Keep what `event` holds until it has ended.

        `lock` must be held since its commands were enqueued, so that no others are
        between them. Call `throttle` afterwards, without it.
        """
        self._in_flight.append(event)
        self._runs += 1
        self._held_bytes += event.bytes
        if event.mark is not None:
            self.end_shared(event.mark)

    def join(
        self,
        explain: Explain,
        held: object,
        size: int,
        sources: Sequence[RunEvent],
        mark: cl.Event | None,
    ) -> RunEvent:
        """The end of a run whose launches have no event, and of those around it.

        As `hold`; `mark` is the event of its last launch, where that has one.
        """
        event = self.shared
        if event is None:
            event = self.shared = RunEvent(self, (), explain, None, is_shared=True)
            self._in_flight.append(event)
        # Not by a method, whose call would take as long as all of this.
        event.explain = explain
        event.held = (held, event.held)
        event.bytes += size
        event.runs += 1
        if sources:
            # Those that it is the end of itself are no runs before it.
            others = [each for each in sources if each is not event]
            event.sources = (*event.sources, *others)
        self._runs += 1
        self._held_bytes += size
        if mark is not None:
            self.end_shared(mark)
        elif event.runs >= _MOST_UNMARKED - 1 or event.bytes > self._most_unmarked:
            self.wants_mark = True
        return event

    def mark(self, event: Event) -> cl.Event:
        """See `EventQueue`: what the queue has been given so far ends before it, too.

        Raises `pyopencl.Error` where the device is lost.
        """
        import pyopencl as cl

        with self.lock:
            if event.mark is None:
                if event is self.shared:
                    # Also where there can be no marker.
                    self.end_shared(None)
                event.mark = cl.enqueue_marker(self.handle)
                self.end_shared(event.mark)
            return event.mark

    def end_shared(self, mark: cl.Event | None) -> None:
        """Let runs without an event end with one that is behind them, and none join.

        What has no `mark` gets one when somebody asks for its end. `lock` must be held.
        """
        if self.shared is not None:
            self.shared.mark = mark
            self.shared = None
            self.wants_mark = False

    def flush(self) -> None:
        """See that what was queued gets started: runtimes may collect commands."""
        self.handle.flush()

    def throttle(self) -> None:
        """Let go of what has ended; wait where too much is in flight.

        What `hold` was given is not looked at there, as its caller has locks.
        """
        few = self._runs <= self._look_at
        if few and self._held_bytes <= self._most_bytes:
            return
        with self.lock:
            held = self._ended()
            # Not at each call, as most of them find that the same one still runs.
            self._look_at = max(_MANY_IN_FLIGHT, self._runs + _MOST_UNMARKED)
        del held
        while (oldest := self._surplus()) is not None:
            oldest.settle()
            self.release_up_to(oldest)

    def _surplus(self) -> Event | None:
        """The oldest command in flight, if there are too many."""
        with self.lock:
            count = self._runs
            has_much = count > _FEW_IN_FLIGHT and self._held_bytes > self._most_bytes
            if count > _MOST_IN_FLIGHT or has_much:
                return self._in_flight[0]
        return None

    def release_ended(self) -> None:
        """Let go of what the commands that have ended held."""
        with self.lock:
            held = self._ended()
        del held

    def drain(self) -> None:
        """Block until every command so far has ended, and let go of what they held.

        A failure stays for `finish` to tell.
        """
        with self.lock:
            last = self._in_flight[-1] if self._in_flight else None
        if last is not None:
            last.settle()
            self.release_up_to(last)
            self._note_failure(last)

    def finish(self) -> None:
        """Block until every command so far has ended.

        Raises GinghamError with the first of them that failed, unless waiting for it
        has told already.
        """
        with self.lock:
            last = self._in_flight[-1] if self._in_flight else None
            # What is started from now on may not have ended then.
            self.end_shared(None)
        try:
            self.handle.finish()
        except self.error_type as error:
            action = f"work on device {self.device.name!r}"
            raise as_gingham_error(action, error) from error
        if last is not None:
            self.release_up_to(last)
            self._note_failure(last)
        with self.lock:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Let threads that Python does not wait for stop where they would enqueue.

        Those that wait for the lock do so for ever.
        """
        self.lock.__enter__()
        self.lock = ClosedLock()

    def release_up_to(self, event: Event) -> None:
        """Let go of what `event` and the commands before it held: they have ended."""
        with self.lock:
            if event not in self._in_flight:
                return
            self._look_at = _MANY_IN_FLIGHT
            held: list[object] = []
            oldest: Event | None = None
            while oldest is not event:
                oldest = self._in_flight.popleft()
                if oldest is not event:
                    self._note_failure(oldest)
                held.append(self._taken(oldest))
        # Freed here, as freeing may do anything.
        del held

    def _hold(self, action: str, handle: cl.Event, held: object) -> Event:
        """The event of the newest command.

        `lock` must be held since that was enqueued: the order of `_in_flight` is the
        order of the commands.
        """
        event = Event(self, action, handle, held)
        self.end_shared(handle)
        self._in_flight.append(event)
        self._runs += 1
        if len(self._in_flight) > _MANY_IN_FLIGHT:
            self._ended()
        if len(self._in_flight) > _MOST_IN_FLIGHT:
            oldest = self._in_flight.popleft()
            self._note_failure(oldest)
            self._taken(oldest)
        return event

    def _ended(self) -> list[object]:
        """What the commands that have ended held; it can be freed."""
        if not self.starts_at_once:
            self.handle.flush()
        held: list[object] = []
        while self._in_flight and self._in_flight[0].done:
            oldest = self._in_flight.popleft()
            self._note_failure(oldest)
            held.append(self._taken(oldest))
        return held

    def _taken(self, event: Event) -> object:
        """What an ended event held, and does no longer."""
        self._held_bytes -= event.bytes
        self._runs -= event.runs
        held, event.held = event.held, None
        return held

    def _note_failure(self, event: Event) -> None:
        """Keep the first failure that nobody else tells, for `finish` to tell."""
        failure = event.settle()
        if self._failure is None and not event.is_told_by_owner:
            self._failure = failure


_queues: WeakSet[CommandQueue] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Wait for what still runs, and let no thread enqueue more: see `closing`."""
    queues = [*_queues]
    for queue in queues:
        queue.drain()
    if not has_daemons():
        return
    builds.close()
    for queue in queues:
        queue.close()
    for queue in queues:
        queue.drain()
    wait_for_daemons()


def launch_error(
    kernel: Kernel,
    sizes: tuple[Sequence[int], Sequence[int] | None],
    needed_bytes: int,
    error: cl.Error,
) -> GinghamError:
    """The failed launch with the sizes asked for and the limit that it met.

    Its arguments have `needed_bytes` of the device's memory.
    """
    import pyopencl as cl

    global_size, local_size = sizes
    group = list(local_size) if local_size is not None else "the device's choice"
    action = (
        f"launching kernel {kernel.name!r} on device {kernel.device.name!r} "
        f"(global size {list(global_size)}, local size {group})"
    )
    # Some drivers (NVIDIA's) allocate when a buffer is first used.
    if error.code == cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE:
        hint = _memory_hint(kernel.device, needed_bytes)
        return as_gingham_error(action, error, hint)
    try:
        hint = (
            f"this kernel may have {kernel.max_work_group_size} work-items in a group "
            f"and uses {kernel.local_memory_bytes} of "
            f"{kernel.device.details.local_memory_bytes} bytes of local memory"
        )
    except cl.Error:
        hint = None
    return as_gingham_error(action, error, hint)


def _memory_hint(device: DeviceHandle, needed_bytes: int) -> str:
    """How much memory a failed command needs, and how much there is."""
    needed = format_bytes(needed_bytes)
    total = format_bytes(device.details.global_memory_bytes)
    return f"it works on {needed}, and the device has {total} in all"
