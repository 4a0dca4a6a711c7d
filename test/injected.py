"""Failures of OpenCL, injected: what pyopencl does when a device or a driver fails."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pyopencl as cl
import pytest

from gingham.targets.opencl import bare_launches, launches, small_calls

OUT_OF_MEMORY = -4
OUT_OF_RESOURCES = -5
NOT_AVAILABLE = -2


def opencl_error(code: int, routine: str = "clSomething") -> cl.Error:
    """What pyopencl raises for a status code."""
    record: Any = vars(import_module("pyopencl._cl"))["_ErrorRecord"]
    kind = cl.MemoryError if code == OUT_OF_MEMORY else cl.RuntimeError
    return kind(record(routine, code, "injected"))


class FailingEvent:
    """The end of a command that failed, as seen when it is waited for."""

    def __init__(self, real: cl.Event, code: int) -> None:
        self._real = real
        self._code = code

    def wait(self) -> None:
        self._real.wait()
        raise opencl_error(self._code, "clWaitForEvents")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Faults:
    """Which launches fail, counted from when it is made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.launches = 0
        self.refuses: Callable[[int], bool] = lambda _: False
        """Whether the launch of this number is refused."""
        self.breaks: Callable[[int], bool] = lambda _: False
        """Whether it fails while it runs."""
        self.code = OUT_OF_RESOURCES
        self._real = cl.enqueue_nd_range_kernel
        self._real_bare = launches.bare_enqueue()
        self._real_marker = cl.enqueue_marker
        self._was_refused = self._is_broken = False
        # Bound by what is compiled from now on.
        monkeypatch.setattr(cl, "enqueue_nd_range_kernel", self._launch)
        monkeypatch.setattr(launches, "bare_enqueue", lambda: self._launch_bare)
        monkeypatch.setattr(cl, "enqueue_marker", self._mark)
        self._real_read = bare_launches.bare_read()
        monkeypatch.setattr(small_calls, "bare_read", lambda: self._read)

    def heal(self) -> None:
        """Let nothing fail any more."""
        self.refuses = self.breaks = lambda _: False
        self._is_broken = False

    def _launch_bare(self, *arguments: Any) -> int:
        """Without an event; what is refused is tried once more by `_launch`."""
        number = self.launches
        self.launches += 1
        self._was_refused = self.refuses(number)
        self._is_broken |= self.breaks(number)
        if self._was_refused or self._real_bare is None:
            return self.code
        return self._real_bare(*arguments)

    def _mark(self, queue: cl.CommandQueue) -> Any:
        """Fails where a launch has failed that had no event."""
        event = self._real_marker(queue)
        is_broken, self._is_broken = self._is_broken, False
        return FailingEvent(event, self.code) if is_broken else event

    def _read(self, *arguments: Any) -> int:
        """A copy behind launches that had no event."""
        is_broken, self._is_broken = self._is_broken, False
        status = self._real_read(*arguments)
        return self.code if is_broken else status

    def _launch(self, *arguments: Any, **rest: Any) -> Any:
        if self._was_refused:
            self._was_refused = False
            raise opencl_error(self.code, "clEnqueueNDRangeKernel")
        number = self.launches
        self.launches += 1
        if self.refuses(number):
            raise opencl_error(self.code, "clEnqueueNDRangeKernel")
        event = self._real(*arguments, **rest)
        return FailingEvent(event, self.code) if self.breaks(number) else event
