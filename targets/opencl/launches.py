"""A list of launches that is run again and again, with as little work as can be.

Every launch has a kernel object of its own, so that its arguments stay set from call to
call, and only those that changed are set again.

They run in order, also where they do not depend on each other. Queues without an order
gained 25 to 40 percent for launches with fewer work-groups than cores, but with two
threads waiting on one, Intel's CPU runtime (2026.2) sometimes waits for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ... import observation
from ...errors import GinghamError
from ..host_program import HostLaunch, Slot
from .bare_launches import bare_enqueue, launch_arguments
from .command_queue import launch_error
from .status import as_gingham_error

if TYPE_CHECKING:
    import pyopencl as cl

    from .command_queue import CommandQueue
    from .handles.buffer import DeviceBuffer
    from .handles.handle import DeviceHandle
    from .kernel import Kernel


class LaunchList:
    """The launches of one program on one device; not thread-safe."""

    def __init__(
        self,
        device: DeviceHandle,
        slots: Sequence[Slot],
        launches: Sequence[HostLaunch],
        kernels: Sequence[Kernel],
    ) -> None:
        import pyopencl as cl

        self.device = device
        self._slots = slots
        self.launches = launches
        self.kernels = kernels
        self._commands = tuple(
            (kernel.handle, launch.global_size, launch.local_size)
            for kernel, launch in zip(kernels, launches, strict=True)
        )
        self._setters: list[list[tuple[Callable[..., None], int]]] = [[] for _ in slots]
        for launch, kernel in zip(launches, kernels, strict=True):
            for position, used in enumerate(launch.slots):
                self._setters[used].append((kernel.set_memory, position))
        self._bound: dict[int, DeviceBuffer] = {}
        self._tokens: list[object] = [None] * len(slots)
        """Those of the buffers that `setter` has set the slots to, and nobody since."""
        self._enqueue_bare = bare_enqueue()
        self._bare_queue: cl.CommandQueue | None = None
        self._bare: list[tuple[object, ...]] = []
        self._enqueue = cl.enqueue_nd_range_kernel
        self._error = cl.Error

    def uses(self, slot: int) -> bool:
        """Whether a launch has the buffer as an argument."""
        return bool(self._setters[slot])

    def set(self, slot: int, handle: cl.Buffer) -> None:
        """Let all launches that have this buffer use `handle` from now on.

        A kernel does not keep its arguments alive: the caller must.
        """
        self._bound.pop(slot, None)
        self._tokens[slot] = None
        for set_memory, position in self._setters[slot]:
            set_memory(position, handle)

    def setter(self, slots: Sequence[int]) -> Callable[[Sequence[DeviceBuffer]], None]:
        """What sets all of these slots, as `set` does, in as little time as can be.

        Arguments that are as they should be stay: a driver looks at each that is set
        before it launches.
        """
        tokens, set_one = self._tokens, self.set
        used = [(n, slot) for n, slot in enumerate(slots) if self.uses(slot)]

        def set_all(buffers: Sequence[DeviceBuffer]) -> None:
            for number, slot in used:
                buffer = buffers[number]
                if tokens[slot] is not buffer.token:
                    set_one(slot, buffer.handle)
                    tokens[slot] = buffer.token

        return set_all

    def bind(self, slot: int, buffer: DeviceBuffer) -> None:
        """As `set`, for a buffer that is mostly the same, and kept alive here."""
        if self._bound.get(slot) is not buffer:
            self.set(slot, buffer.handle)
            self._bound[slot] = buffer

    def unbind(self, slot: int) -> None:
        """Keep the buffer of a slot alive no longer; it is set anew before a run."""
        self._bound.pop(slot, None)

    def run(self, queue: CommandQueue) -> None:
        """Run all launches and wait for their end.

        Raises GinghamError where the device can not run one, when those before it have
        ended, or where one failed.
        """
        self.wait(self.start(queue))

    def profile(self, queue: CommandQueue) -> list[float]:
        """Run all launches one after the other: the seconds that each took."""
        events = self.start(queue)
        self.wait(events)
        return [(event.profile.end - event.profile.start) * 1e-9 for event in events]

    def start(
        self, queue: CommandQueue, wait_for: Sequence[cl.Event] = ()
    ) -> list[cl.Event]:
        """Enqueue all launches, the first of them behind these events.

        Raises GinghamError where the device can not run one, when those before it have
        ended.
        """
        enqueue, handle = self._enqueue, queue.handle
        events: list[cl.Event] = []
        try:
            for kernel, global_size, local_size in self._commands:
                if wait_for:
                    events.append(
                        enqueue(handle, kernel, global_size, local_size, None, wait_for)
                    )
                    wait_for = ()
                else:
                    events.append(enqueue(handle, kernel, global_size, local_size))
        except BaseException as error:
            raise self._not_started(events, error) from error
        if (observer := observation.observer) is not None:
            observer.launched(queue, self.launches, events)
        return events

    def start_bare(self, queue: CommandQueue) -> cl.Event | None:
        """As `start`, without events: the last launch has one where `queue` wants it.

        Only for queues that are `is_bare`.
        """
        enqueue = self._enqueue_bare
        if queue.handle is not self._bare_queue:
            self._bare = [launch_arguments(queue.handle, *c) for c in self._commands]
            self._bare_queue = queue.handle
        if enqueue is None:
            return self._start_rest(queue, 0)
        started = 0
        for arguments in self._bare[:-1] if queue.wants_mark else self._bare:
            if enqueue(*arguments):
                break
            started += 1
        else:
            if not queue.wants_mark:
                return None
        # What is refused is tried once more, in the way that tells why.
        return self._start_rest(queue, started)

    def _start_rest(self, queue: CommandQueue, first: int) -> cl.Event | None:
        """Enqueue the launches from number `first` on: the event of the last one."""
        last: cl.Event | None = None
        for number in range(first, len(self._commands)):
            try:
                last = self._enqueue(queue.handle, *self._commands[number])
            except BaseException as error:
                # The buffers may go only when no kernel works on them.
                queue.handle.finish()
                raise self._refused(number, error) from error
        return last

    def _not_started(
        self, events: Sequence[cl.Event], error: BaseException
    ) -> BaseException:
        """What to raise when launch number `len(events)` was refused."""
        # The buffers may go only when no kernel works on them.
        self.wait(events)
        return self._refused(len(events), error)

    def _refused(self, number: int, error: BaseException) -> BaseException:
        if not isinstance(error, self._error):
            return error
        launch, kernel = self.launches[number], self.kernels[number]
        needed = sum(self._slots[number].size_in_bytes for number in {*launch.slots})
        sizes = launch.global_size, launch.local_size
        failure = launch_error(kernel, sizes, needed, error)
        return self.locate(failure, number)

    def wait(self, events: Sequence[cl.Event]) -> None:
        """Wait for all, though one fails or the user interrupts; then say so."""
        failure: BaseException | None = None
        for number in reversed(range(len(events))):
            try:
                events[number].wait()
            except self._error as error:
                failure = self.explain(number, error)
            except BaseException as error:
                events[number].wait()
                failure = error
        if failure is not None:
            raise failure

    def explain(self, number: int, error: cl.Error) -> GinghamError:
        """The error of a launch that failed while it ran."""
        failure = as_gingham_error(self.kernels[number].title, error)
        return self.locate(failure, number)

    def locate(self, error: GinghamError, number: int) -> GinghamError:
        """The error at the place in the program that a launch computes."""
        launch = self.launches[number]
        if launch.location is not None:
            error.location = launch.source_location
        return error
