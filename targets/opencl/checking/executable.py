"""A compiled program whose first results are checked before anybody has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..executor import OpenCLExecutable
from ..memory.copies import download
from .trial import ending, tried

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...backend import FixedInputs, Subject
    from ..compiled import CompiledCode
    from ..devices.device import OpenCLDevice
    from ..events import Event, RunEvent
    from ..handles.buffer import DeviceBuffer

    Array = NDArray[Any]
    Started = tuple[list[DeviceBuffer], RunEvent | None]


class CheckedExecutable(OpenCLExecutable):
    """As an `OpenCLExecutable`, whose first call waits for its results to be checked.

    Where they are wrong, it runs a safer build from then on. Raises GinghamError, and
    hands out nothing, where no build is right.
    """

    def __init__(
        self, code: CompiledCode, device: OpenCLDevice, subject: Subject
    ) -> None:
        super().__init__(code, device)
        self._code = code
        self._subject: Subject | None = subject
        """What is to be checked; None when it has been."""
        self._checking = Lock()

    @property
    def _is_settled(self) -> bool:
        return self._subject is None

    def run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None = None,
        fixed: FixedInputs | None = None,
    ) -> list[Array]:
        """See `OpenCLExecutable.run`."""
        if self._is_settled:
            return super().run(inputs, outputs, fixed)
        with self._checking:
            # Another thread may have been first.
            if self._is_settled:
                return super().run(inputs, outputs, fixed)
            return self._first_run(inputs, outputs)

    def start(
        self,
        inputs: Sequence[DeviceBuffer],
        outputs: Sequence[DeviceBuffer] | None = None,
        wait_for: Sequence[Event] = (),
        sources: Sequence[RunEvent] = (),
        contents: Sequence[object] | None = None,
    ) -> Started:
        """See `OpenCLExecutable.start`; the first results are there when it returns."""

        def begin() -> Started:
            return super(CheckedExecutable, self).start(
                inputs, outputs, wait_for, sources, contents
            )

        if self._is_settled:
            return begin()
        with self._checking:
            if self._is_settled:
                return begin()
            # The check reads the inputs, whoever computes them.
            for event in (*wait_for, *sources):
                event.settle()
            return self._first_start(begin, inputs)

    def join(
        self, buffers: Sequence[DeviceBuffer], sources: Sequence[RunEvent]
    ) -> RunEvent | None:
        """See `OpenCLExecutable.join`; first results are for `start`."""
        return super().join(buffers, sources) if self._is_settled else None

    def _first_run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None
    ) -> list[Array]:
        self._rehearse(inputs)
        # Into new arrays: those of the caller stay as they are if no build is right.
        results = super().run(inputs)

        def attempt(code: CompiledCode) -> Sequence[Array]:
            nonlocal results
            self._replace(code)
            results = super(CheckedExecutable, self).run(inputs)
            return results

        self._settle(inputs, results, attempt)
        for number, target in enumerate(outputs or ()):
            if target is not None:
                target[...] = results[number]
                results[number] = target
        return results

    def _first_start(
        self, begin: Callable[[], Started], inputs: Sequence[DeviceBuffer]
    ) -> Started:
        arrays = self._on_host(inputs)
        self._rehearse(arrays)
        started = begin()
        if started[1] is not None and started[1].settle() is not None:
            # It has failed, which those who ask for the results are told.
            return started

        def attempt(code: CompiledCode) -> Sequence[Array]:
            nonlocal started
            self._replace(code)
            started = begin()
            return self._on_host(started[0])

        self._settle(arrays, self._on_host(started[0]), attempt)
        return started

    def _rehearse(self, inputs: Sequence[Array]) -> None:
        """Take a safer build where the kernels do not end."""
        if self._subject is not None:
            self._replace(ending(self._subject, self.device, self._code, inputs))

    def _on_host(self, buffers: Sequence[DeviceBuffer]) -> list[Array]:
        return [download(self._queue, buffer) for buffer in buffers]

    def _settle(
        self,
        inputs: Sequence[Array],
        results: Sequence[Array],
        attempt: Callable[[CompiledCode], Sequence[Array]],
    ) -> None:
        """Try builds until one is right."""
        original = self._code
        if self._subject is None:
            return
        try:
            tried(self._subject, self.device, original, inputs, results, attempt)
        except BaseException:
            # The next call is checked as this one was.
            self._replace(original)
            raise
        self._subject = None

    def _replace(self, code: CompiledCode) -> None:
        """Run other code from now on."""
        if code is self._code:
            return
        with self._calling, self._binding:
            self._load(code)
            self._code = code
