"""Events: the end of commands that a queue was given, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from ... import observation
from ...errors import GinghamError, again
from ...observation import now
from .status import as_gingham_error

if TYPE_CHECKING:
    import pyopencl as cl

    from .handles.handle import DeviceHandle

    Explain = Callable[[int, cl.Error], GinghamError]


class EventQueue(Protocol):
    """What events need of the queue of their commands."""

    device: DeviceHandle
    context: cl.Context
    handle: cl.CommandQueue
    error_type: type[cl.Error]
    ended: cl.Event | None
    """What was found to have ended well last; several runs may have it as `mark`."""

    def release_up_to(self, event: Event) -> None:
        """Let go of what `event` and the commands before it held: they have ended."""
        ...

    def mark(self, event: Event) -> cl.Event:
        """Give `event` a handle, of something behind its commands."""
        ...


class Event:
    """The end of one command: wait for it, or give it to a command that must follow."""

    __slots__ = ("action", "held", "mark", "queue")

    bytes = 0
    """About what `held` keeps in memory, where that is counted."""

    runs = 1
    """Of how many runs it is the end."""

    is_told_by_owner = False
    """Whether who has the event tells of a failure, so that the queue need not."""

    def __init__(
        self, queue: EventQueue, action: str, mark: cl.Event | None, held: object
    ) -> None:
        self.action = action
        self.mark = mark
        """What OpenCL has for its end; None where nothing tells that yet."""
        self.held = held
        self.queue = queue

    @property
    def handle(self) -> cl.Event:
        """What OpenCL has for its end. Raises `pyopencl.Error` of a lost device."""
        return self.queue.mark(self) if self.mark is None else self.mark

    @property
    def done(self) -> bool:
        """Whether the command has ended, well or in failure."""
        try:
            if self.mark is None:
                # Who asks may look now and then, and never wait.
                self.queue.mark(self)
                self.start()
            # Queued, submitted and running are positive, failures negative.
            return int(self.handle.command_execution_status) <= 0
        except self.queue.error_type:
            return True

    def start(self) -> None:
        """See that the command gets started, before a command elsewhere waits for it.

        A runtime may collect commands (PoCL does) until its queue is flushed.
        """
        self.queue.handle.flush()

    def wait(self) -> None:
        """Block until the command has ended. Raises GinghamError where it failed."""
        try:
            self.handle.wait()
        except self.queue.error_type as error:
            raise as_gingham_error(self.action, error) from error
        finally:
            self.queue.release_up_to(self)

    def settle(self) -> GinghamError | None:
        """Block until it has ended, and say why it failed, if it did.

        An ended event's status does not tell failure everywhere (Intel's runtime shows
        0), but waiting does, and takes no time then.
        """
        try:
            self.handle.wait()
        except self.queue.error_type as error:
            return as_gingham_error(self.action, error)
        return None

    @property
    def seconds(self) -> float:
        """How long the device worked on it; only on a queue made for profiling."""
        import pyopencl as cl

        try:
            start = self.handle.profile.start
            return (self.handle.profile.end - start) * 1e-9
        except cl.Error as error:
            raise as_gingham_error(f"timing of {self.action}", error) from error


class RunEvent(Event):
    """The end of several commands, and of what they were computed from.

    Where the commands have no events (see `bare_launches`), one that is enqueued behind
    them when it is asked for tells their end, and which of them failed is not known.
    So the runs up to there share an event.

    `sources` are the runs whose results they read. A run fails when one of its commands
    does, or one of its sources; it is executed all the same, as kernels are safe on any
    contents, so that a failure spreads by what reads what, and in no other way.
    """

    __slots__ = (
        "_handles",
        "bytes",
        "explain",
        "failure",
        "is_settled",
        "is_shared",
        "runs",
        "sources",
    )

    is_told_by_owner = True

    def __init__(
        self,
        queue: EventQueue,
        handles: Sequence[cl.Event],
        explain: Explain,
        held: object,
        sources: Sequence[RunEvent] = (),
        held_bytes: int = 0,
        *,
        is_shared: bool = False,
    ) -> None:
        """`explain` makes the error of a command by its number in `handles`.

        Without handles, its number is -1.
        """
        # As of `Event`, without the call, which would be a twentieth of all of a run's.
        self.queue = queue
        self.action = "a run"
        self.mark = handles[-1] if handles else None
        self.held = held
        self.is_shared = is_shared
        """Whether it is the end of all that its queue was given behind another end."""
        self.runs = 0 if is_shared else 1
        self.bytes = held_bytes
        self.failure: GinghamError | None = None
        """Why the results are not to be used; known when `is_settled`."""
        self.is_settled = False
        self._handles = handles
        self.explain = explain
        self.sources = sources

    @property
    def done(self) -> bool:
        """Whether all of it has ended, well or in failure."""
        if self.is_settled:
            return True
        if self.mark is not None and self.mark is self.queue.ended:
            return True
        return super().done

    def wait(self) -> None:
        """Block until all has ended. Raises GinghamError where something failed."""
        start = now()
        failure = self.settle()
        self.queue.release_up_to(self)
        if (observer := observation.observer) is not None:
            observer.span("step", "wait", start)
            observer.ended()
        if failure is not None:
            raise again(failure)

    def settle(self) -> GinghamError | None:
        """Block until all has ended, and say why it failed, if it did."""
        # Runs that are not settled may form a long chain, so no recursion.
        pending = [self]
        while pending:
            run = pending[-1]
            if run.is_shared:
                # No more sources from now on.
                with suppress(self.queue.error_type):
                    run.queue.mark(run)
            unknown = [each for each in run.sources if not each.is_settled]
            if unknown:
                pending += unknown
                continue
            pending.pop()._settle()
        return self.failure

    def _settle(self) -> None:
        """As `settle`, where the sources are settled."""
        # Another thread may settle it as well, and forgets these when it has.
        handles, sources, explain = self._handles, self.sources, self.explain
        if self.is_settled:
            return
        failure: GinghamError | None = None
        if handles:
            for number in reversed(range(len(handles))):
                try:
                    handles[number].wait()
                except self.queue.error_type as error:
                    failure = explain(number, error)
        elif self.mark is None or self.mark is not self.queue.ended:
            try:
                handle = self.handle
                handle.wait()
                self.queue.ended = handle
            except self.queue.error_type as error:
                failure = explain(-1, error)
        for source in sources:
            failure = source.failure or failure
        self.failure = failure
        self.is_settled = True
        self.sources = ()
        self._handles = ()
        self.explain = _told


def _told(number: int, error: cl.Error) -> GinghamError:
    """In place of an `explain` that has been asked, and may hold much."""
    return GinghamError(f"a command failed: {error}")


def failed_run(queue: EventQueue, failure: GinghamError) -> RunEvent:
    """The event of a run that could not even be started."""
    import pyopencl as cl

    ended = cl.UserEvent(queue.context)
    ended.set_status(cl.command_execution_status.COMPLETE)
    run = RunEvent(queue, [ended], lambda _, error: failure, None)
    run.failure = failure
    run.is_settled = True
    return run
