"""Runs of functions on buffers: queued at once, executed when what they need is free.

A `Buffer` is memory that runs and views use in turn, as `claims` orders them. A run is
executed by the thread of its device. When it fails, its outputs hold the error until
something else is written there; nothing else notices.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from .claims import Claim, Resource, WouldDeadlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .function import Function

    Array = NDArray[Any]


class Buffer(Resource):
    """An array in the memory of the host, and what became of the last run on it."""

    def __init__(self, name: str, array: Array) -> None:
        super().__init__()
        self.name = name
        self.array = array
        self.failure: GinghamError | None = None
        """Why there are no contents, where a run that should write them failed."""

    def check(self) -> None:
        """Raise the error of the run that should have written it, if that failed."""
        if self.failure is not None:
            raise again(self.failure)


class Worker:
    """The thread that executes the runs on one device, in the order they get ready."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._changed = threading.Condition()
        self._runs: set[Run] = set()
        self.is_closed = False
        """Whether it takes no further runs."""
        self.has_closed = False
        """Whether it executes none either."""

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
        """Execute a run whose buffers are free."""
        try:
            self._executor.submit(run.execute)
        except RuntimeError:
            # The thread is gone: what has waited for a view till now only fails.
            run.execute()

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
        self._executor.shutdown(wait=False)


class Run:
    """One call of a function with buffers for its results.

    `inputs` are buffers, or arrays that nobody changes; `outputs` has a buffer for each
    result, all different. A buffer that is an input, too, gets its new contents when
    all are computed.
    """

    def __init__(
        self,
        worker: Worker,
        name: str,
        function: Function,
        inputs: Sequence[Buffer | Array],
        outputs: Sequence[Buffer],
    ) -> None:
        self._worker = worker
        self._function = function
        self._inputs = list(inputs)
        self._outputs = list(outputs)
        self._is_done = threading.Event()
        self.failure: GinghamError | None = None
        uses: dict[Resource, bool] = {
            each: False for each in inputs if isinstance(each, Buffer)
        }
        uses.update({buffer: True for buffer in outputs})
        self.claim = Claim(name, uses, self._submit)

    @property
    def is_done(self) -> bool:
        """Whether it has been executed, or has failed."""
        return self._is_done.is_set()

    def wait(self) -> None:
        """Block until it is done. Raises the GinghamError that it failed with."""
        self._is_done.wait()
        if self.failure is not None:
            raise again(self.failure)

    def execute(self) -> None:
        """Compute the results, and let others have the buffers."""
        try:
            if self._worker.has_closed:
                raise GinghamError("the device was closed before the run")
            self._compute()
        except GinghamError as error:
            self.failure = error
        except Exception as error:
            reason = str(error) or type(error).__name__
            self.failure = GinghamError(
                f"the run of {self.claim.name} failed: {reason}"
            )
        for buffer in self._outputs:
            buffer.failure = self.failure
        # Buffers are not kept alive by who still asks for the outcome.
        self._inputs, self._outputs = [], []
        self._is_done.set()
        self.claim.release()
        self._worker.finish(self)

    def _submit(self) -> None:
        self._worker.execute(self)

    def _compute(self) -> None:
        for each in self._inputs:
            if isinstance(each, Buffer):
                each.check()
        arrays = [e.array if isinstance(e, Buffer) else e for e in self._inputs]
        read = {id(each) for each in self._inputs}
        targets = [
            None
            if id(buffer) in read or not buffer.array.flags.c_contiguous
            else buffer.array
            for buffer in self._outputs
        ]
        results = self._function.run(arrays, tuple(targets))
        for buffer, target, result in zip(self._outputs, targets, results, strict=True):
            if target is None:
                buffer.array[...] = result


def again(error: GinghamError) -> GinghamError:
    """The same error to be raised once more, maybe in another thread."""
    copy = GinghamError(error.message, error.location, error.hint)
    copy.__cause__ = error
    return copy
