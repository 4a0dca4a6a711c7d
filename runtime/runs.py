"""Runs of functions on buffers, in turn with views of what is in them.

A `Buffer` is an array that runs and views use in turn, as `claims` orders them. A run
is started as soon as no view is in its way, and lets others have the buffers when it is
started: what comes after it, comes after it on the device, too. When it fails, its
outputs hold the error until something else is written there; nothing else notices.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError, again
from .arrays.array import Array, from_host
from .backends import memory_of
from .claims import Claim, Resource, WouldDeadlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..targets.device_memory import Event
    from .device import Device
    from .function import Function


class Buffer(Resource):
    """An array, and what became of the last run that should have written it."""

    def __init__(self, name: str, array: Array) -> None:
        super().__init__()
        self.name = name
        self.array = array
        self._failure: GinghamError | None = None

    def check(self) -> None:
        """Wait for the contents.

        Raises the error of the run that should have written them, if that failed.
        """
        self.check_known()
        self.array.wait()

    def check_known(self) -> None:
        """As `check`, for failures that need not be waited for."""
        if self._failure is not None:
            raise again(self._failure)

    def write(self, array: Array, failure: GinghamError | None = None) -> None:
        """Have other contents, or none, and why."""
        self.array = array
        self._failure = failure

    def settle(self) -> None:
        """Wait until no run uses the contents, however they end."""
        for user in self.array.memory.users():
            user.settle()

    def forget(self) -> None:
        """Let the contents be good, whatever they are; nobody must use them."""
        self._failure = None
        self.array.memory.written = None


class Worker:
    """The runs of one device, or of programs that are placed on several."""

    def __init__(self, *devices: Device) -> None:
        self._devices = devices
        self._changed = threading.Condition()
        self._runs: set[Run] = set()
        self._mine = _Ready()
        self.is_closed = False
        """Whether it takes no further runs."""
        self.has_closed = False
        """Whether it starts none either."""

    def start(self, run: Run) -> None:
        """Take part in the order of runs and views from now on."""
        with self._changed:
            if self.is_closed:
                raise GinghamError("the device is closed")
            self._runs.add(run)
        try:
            run.claim.enter()
        except WouldDeadlock:
            self.finish(run)
            raise

    def execute(self, run: Run) -> None:
        """Start a run whose buffers are free, and those that get free by that."""
        ready = self._mine
        ready.runs.append(run)
        if ready.is_busy:
            return
        ready.is_busy = True
        try:
            while ready.runs:
                ready.runs.popleft().execute()
        finally:
            ready.is_busy = False

    def finish(self, run: Run) -> None:
        """Forget a run."""
        with self._changed:
            self._runs.discard(run)
            self._changed.notify_all()

    def close(self) -> None:
        """Wait for all runs but those that wait for a view; these will fail."""
        with self._changed:
            self.is_closed = True
            while any(not run.claim.waits_for_a_holder() for run in self._runs):
                self._changed.wait()
            self.has_closed = True
        for each in self._devices:
            memory = memory_of(each)
            if memory is not None:
                memory.queue.drain()

    def target(self, buffer: Buffer, shape: tuple[int, ...]) -> Array | None:
        """The array that a result may be written to; None where runs are placed."""
        return buffer.array.viewed(shape) if len(self._devices) == 1 else None


class _Ready(threading.local):
    """The runs that a thread is about to start: one after the other, never nested."""

    def __init__(self) -> None:
        self.runs: deque[Run] = deque()
        self.is_busy = False


class Run:
    """One call of a function with buffers for its results.

    `inputs` are buffers, or arrays that nobody changes; `outputs` has a buffer for each
    result, all different, whose shape may be another one of as many elements than that
    in `shapes`. A buffer that is an input, too, gets another array.
    """

    def __init__(
        self,
        worker: Worker,
        name: str,
        function: Function,
        inputs: Sequence[Buffer | NDArray[Any]],
        outputs: Sequence[Buffer],
        shapes: Sequence[tuple[int, ...]],
    ) -> None:
        self._worker = worker
        self._function = function
        self._inputs = list(inputs)
        self._outputs = list(outputs)
        self._shapes = list(shapes)
        self._is_started = threading.Event()
        self._event: Event | None = None
        self._failure: GinghamError | None = None
        uses: dict[Resource, bool] = {
            each: False for each in inputs if isinstance(each, Buffer)
        }
        uses.update({buffer: True for buffer in outputs})
        self.claim = Claim(name, uses, self._submit)

    @property
    def is_done(self) -> bool:
        """Whether it has been executed, or has failed."""
        if not self._is_started.is_set():
            return False
        return self._event is None or self._event.done

    def wait(self) -> None:
        """Block until it is done. Raises the GinghamError that it failed with."""
        self._is_started.wait()
        if self._failure is not None:
            raise again(self._failure)
        if self._event is not None:
            self._event.wait()

    def execute(self) -> None:
        """Start to compute the results, and let others have the buffers."""
        try:
            if self._worker.has_closed:
                raise GinghamError("the device was closed before the run")
            self._start()
        except GinghamError as error:
            self._fail(error)
        except Exception as error:
            reason = str(error) or type(error).__name__
            self._fail(GinghamError(f"the run of {self.claim.name} failed: {reason}"))
        # Buffers are not kept alive by who still asks for the outcome.
        self._inputs, self._outputs = [], []
        self._is_started.set()
        self.claim.release()
        self._worker.finish(self)

    def _submit(self) -> None:
        self._worker.execute(self)

    def _start(self) -> None:
        device = self._function.device
        arrays: list[Array] = []
        for each in self._inputs:
            if isinstance(each, Buffer):
                each.check_known()
                arrays.append(each.array)
            else:
                arrays.append(from_host(each, device))
        read = {id(each) for each in self._inputs}
        targets = [
            None if id(buffer) in read else self._worker.target(buffer, shape)
            for buffer, shape in zip(self._outputs, self._shapes, strict=True)
        ]
        results = self._function.run(arrays, tuple(targets))
        for buffer, result in zip(self._outputs, results, strict=True):
            buffer.write(result.viewed(buffer.array.shape))
            self._event = result.event

    def _fail(self, error: GinghamError) -> None:
        self._failure = error
        for buffer in self._outputs:
            buffer.write(buffer.array, error)
