"""The observer: hands what it is told to the profiles and logs that want it.

There is one for the process, installed while somebody is interested. Who wants all that
happens is a listener of all; a function that is compiled with `profile=True` listens to
its own calls only, in whatever thread they are. What a device has done is known when it
has ended: commands wait here until then.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ... import observation
from ...targets.opencl.clock import QueueClock
from ..hardware import hardware_of
from .records import Command, CommandKind, Span, Thread
from .roofline import Roofline

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ...targets.hardware import Hardware
    from ...targets.host_program import HostLaunch
    from ...targets.opencl.command_queue import CommandQueue
    from ..device import Device, Named

T = TypeVar("T")

_MANY_PENDING = 256
"""So many commands of a queue are kept before it is looked which have ended."""
_OF_CALLS = 0
"""The number of what is no queue, as calls wait for it; queues count from 1."""


class Listener(Protocol):
    """Who is told of what happened; by one thread at a time."""

    @property
    def wants_passes(self) -> bool:
        """Whether programs should be compiled though a compiled one is stored."""
        ...

    def command(self, command: Command) -> None:
        """A command of a device has ended."""
        ...

    def span(self, span: Span) -> None:
        """A thread has done something."""
        ...

    def stage(self, name: str, module: ModuleOp) -> None:
        """A module has reached a stage of the pipeline."""
        ...

    def after_pass(self, name: str, seconds: float, module: ModuleOp) -> None:
        """A pass has run on a module."""
        ...

    def source(self, text: str, language: str) -> None:
        """The kernels of a program, in a language."""
        ...


class Observed(Protocol):
    """A function whose calls are watched."""

    output_names: list[str]

    @property
    def own_profile(self) -> Listener | None:
        """Who listens to its own calls."""
        ...

    @property
    def hardware(self) -> Hardware | None:
        """The description that it is compiled by, where one was asked for."""
        ...


@dataclass
class _Pending:
    """A command whose end is not known yet."""

    queue: CommandQueue
    event: Any
    kind: CommandKind
    name: str
    work: tuple[int, int, int]
    location: str | None
    thread: Thread
    hardware: Hardware | None
    noted: int
    listeners: tuple[Listener, ...]


@dataclass
class _Queue:
    """What is known of a queue that times its commands."""

    number: int
    clock: QueueClock
    pending: deque[_Pending]


class _Here(threading.local):
    """What the watcher knows of a thread."""

    def __init__(self) -> None:
        self.functions: list[Observed] = []
        self.listeners: tuple[Listener, ...] = ()


class Watcher:
    """See `Observer` for what it is told."""

    def __init__(self) -> None:
        self._here = _Here()
        self._lock = threading.RLock()
        # Held, before any other lock, while a queue begins or ends to time commands.
        self._timing = threading.Lock()
        self._everywhere: tuple[Listener, ...] = ()
        self._armed = 0
        self._queues: WeakKeyDictionary[CommandQueue, _Queue] = WeakKeyDictionary()
        self._count = 0
        self._rooflines: dict[object, Roofline] = {}

    # Who listens.

    def add(self, listener: Listener) -> None:
        """Tell a listener of everything from now on."""
        with self._lock:
            self._everywhere = (*self._everywhere, listener)
        self.arm()

    def remove(self, listener: Listener) -> None:
        """Tell a listener of what is under way still, and then of nothing more."""
        self.flush()
        with self._lock:
            others = tuple(each for each in self._everywhere if each is not listener)
            self._everywhere = others
        self.disarm()
        self._stop_timing()

    def arm(self) -> None:
        """Watch until `disarm` has been called as often."""
        with self._lock:
            self._armed += 1
            observation.observer = self

    def disarm(self) -> None:
        """See `arm`."""
        with self._lock:
            self._armed -= 1
            if not self._armed:
                observation.observer = None

    def _stop_timing(self) -> None:
        """Let queues be as fast as before, when nobody watches any more.

        Not part of `disarm`, which may be called while a queue is locked.
        """
        with self._timing:
            with self._lock:
                if self._armed:
                    return
                queues = [*self._queues]
                self._queues.clear()
            for queue in queues:
                queue.set_timing(False)

    @property
    def is_listened_to(self) -> bool:
        """Whether somebody is told of what this thread does."""
        return observation.observer is not None and bool(self._listeners())

    @contextmanager
    def heard_by(self, listener: Listener) -> Generator[None]:
        """Tell a listener, too, of what this thread does in a block of code.

        Of commands it is told when they have ended and `ended` or `rest` is called.
        """
        here = self._here
        before = here.listeners
        here.listeners = (*before, listener)
        self.arm()
        try:
            yield
        finally:
            here.listeners = before
            self.disarm()

    def rest(self) -> None:
        """Tell of what has ended; let queues be fast again, if nobody watches."""
        self.ended()
        self._stop_timing()

    @property
    def wants_passes(self) -> bool:
        """See `Observer`."""
        return any(listener.wants_passes for listener in self._listeners())

    def _listeners(self) -> tuple[Listener, ...]:
        return self._everywhere + self._here.listeners

    # Calls.

    def is_calling(self, function: object) -> bool:
        """See `Observer`."""
        functions = self._here.functions
        return bool(functions) and functions[-1] is function

    def call(self, function: Observed, run: Callable[[], T]) -> T:
        """See `Observer`."""
        here = self._here
        before = here.listeners
        own = function.own_profile
        if own is not None and own not in before:
            here.listeners = (*before, own)
        here.functions.append(function)
        start = perf_counter_ns()
        try:
            return run()
        finally:
            self.span("call", f"({', '.join(function.output_names)})", start)
            here.functions.pop()
            here.listeners = before

    # What the host does.

    def span(self, category: str, name: str, start: int) -> int:
        """See `Observer`."""
        end = perf_counter_ns()
        listeners = self._listeners()
        if listeners:
            span = Span(category, name, _thread(), start, end)
            with self._lock:
                for listener in listeners:
                    listener.span(span)
        return end

    def stage(self, name: str, module: ModuleOp) -> None:
        """See `Observer`."""
        with self._lock:
            for listener in self._listeners():
                listener.stage(name, module)

    def after_pass(self, name: str, start: int, module: ModuleOp) -> None:
        """See `Observer`."""
        seconds = (self.span("pass", name, start) - start) * 1e-9
        with self._lock:
            for listener in self._listeners():
                listener.after_pass(name, seconds, module)

    def source(self, text: str, language: str) -> None:
        """See `Observer`."""
        with self._lock:
            for listener in self._listeners():
                listener.source(text, language)

    # What devices do.

    def time(self, queue: CommandQueue) -> None:
        """See `Observer`."""
        if queue in self._queues or not self._listeners():
            return
        with self._timing:
            if queue in self._queues:
                return
            queue.set_timing(True)
            clock = QueueClock()
            clock.calibrate(queue)
            with self._lock:
                self._count += 1
                self._queues[queue] = _Queue(self._count, clock, deque())

    def launched(
        self, queue: CommandQueue, launches: Sequence[HostLaunch], events: Sequence[Any]
    ) -> None:
        """See `Observer`."""
        for launch, event in zip(launches, events, strict=True):
            work = launch.flops, launch.bytes_read, launch.bytes_written
            self._note(queue, event, "kernel", launch.kernel, work, launch.location)
        known = self._queues.get(queue)
        if known is not None and len(known.pending) > _MANY_PENDING:
            self.ended()

    def ran(self, device: Device, launch: HostLaunch, start: int, end: int) -> None:
        """See `Observer`."""
        functions = self._here.functions
        hardware = functions[-1].hardware if functions else None
        command = Command(
            "kernel",
            launch.kernel,
            device.name,
            _OF_CALLS,
            _thread(),
            start,
            start,
            end,
            launch.flops,
            launch.bytes_read,
            launch.bytes_written,
            launch.location,
            self._roofline(device, hardware),
        )
        with self._lock:
            for listener in self._listeners():
                listener.command(command)

    def copied(self, queue: CommandQueue, name: str, size: int, event: Any) -> None:
        """See `Observer`."""
        self._note(queue, event, "transfer", name, (0, size, size), None)

    def _note(
        self,
        queue: CommandQueue,
        event: Any,
        kind: CommandKind,
        name: str,
        work: tuple[int, int, int],
        location: str | None,
    ) -> None:
        listeners = self._listeners()
        known = self._queues.get(queue)
        if not listeners or known is None:
            return
        functions = self._here.functions
        pending = _Pending(
            queue,
            event,
            kind,
            name,
            work,
            location,
            _thread(),
            functions[-1].hardware if functions else None,
            perf_counter_ns(),
            listeners,
        )
        with self._lock:
            known.pending.append(pending)

    def ended(self) -> None:
        """See `Observer`."""
        self._tell(is_last=False)

    def flush(self) -> None:
        """Wait for all commands that are under way, and tell of them."""
        self._tell(is_last=True)

    def _tell(self, *, is_last: bool) -> None:
        """Tell of the commands that have ended, or of all once they have."""
        with self._lock:
            queues = [*self._queues.items()]
        for queue, known in queues:
            if is_last and known.pending:
                queue.handle.finish()
                known.clock.calibrate(queue)
            with self._lock:
                while known.pending and _has_ended(known.pending[0]):
                    self._tell_of(known, known.pending.popleft())

    def _tell_of(self, known: _Queue, pending: _Pending) -> None:
        import pyopencl as cl

        try:
            profile = pending.event.profile
            times = profile.queued, profile.start, profile.end
        except cl.Error:
            # It failed, or was enqueued just before the queue timed its commands.
            return
        known.clock.note(times[0], pending.noted)
        enqueued, started, ended = map(known.clock.host, times)
        flops, bytes_read, bytes_written = pending.work
        command = Command(
            pending.kind,
            pending.name,
            pending.queue.device.name,
            known.number,
            pending.thread,
            enqueued,
            started,
            max(ended, started),
            flops,
            bytes_read,
            bytes_written,
            pending.location,
            self._roofline(pending.queue.device, pending.hardware),
        )
        for listener in pending.listeners:
            listener.command(command)

    def _roofline(self, device: Named, hardware: Hardware | None) -> Roofline:
        key = device.name, hardware
        if key not in self._rooflines:
            self._rooflines[key] = Roofline.of(hardware_of(device, hardware))
        return self._rooflines[key]


def _has_ended(pending: _Pending) -> bool:
    # Failures are negative.
    return int(pending.event.command_execution_status) <= 0


def _thread() -> Thread:
    return Thread(threading.get_native_id(), threading.current_thread().name)


watcher = Watcher()
"""The one of this process."""
