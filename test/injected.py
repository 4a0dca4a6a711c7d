"""Failures of OpenCL, injected: what pyopencl does when a device or a driver fails."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pyopencl as cl
import pytest

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
        # Bound by what is compiled from now on.
        monkeypatch.setattr(cl, "enqueue_nd_range_kernel", self._launch)

    def heal(self) -> None:
        """Let nothing fail any more."""
        self.refuses = self.breaks = lambda _: False

    def _launch(self, *arguments: Any, **rest: Any) -> Any:
        number = self.launches
        self.launches += 1
        if self.refuses(number):
            raise opencl_error(self.code, "clEnqueueNDRangeKernel")
        event = self._real(*arguments, **rest)
        return FailingEvent(event, self.code) if self.breaks(number) else event
