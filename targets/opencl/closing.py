"""The end of the interpreter: nothing is enqueued any more, and what runs ends first.

Runtimes crash when they are unloaded under their work. And Python ends the threads that
it does not wait for (daemons) wherever they next ask for the interpreter: inside of
pyopencl, which is C++, that aborts the process.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Final

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_PYOPENCL: Final = f"{os.sep}pyopencl{os.sep}"
_MOST_SECONDS: Final = 20
"""How long threads may take to leave OpenCL: a build takes some seconds."""

_LOOK: Final = 0.005
_STILL: Final = 3
"""A thread that stands where it stood at so many looks is blocked."""


class Builds:
    """Counts the calls of drivers' compilers, so that the end waits for them.

    From outside, a thread in a compiler looks like one that is blocked.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._is_closed = False

    def __enter__(self) -> None:
        with self._changed:
            is_late = self._is_closed and threading.current_thread().daemon
            self._running += not is_late
        if is_late:
            threading.Event().wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def close(self) -> None:
        """Let daemons begin no more, and wait for what runs."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: not self._running, _MOST_SECONDS)


builds = Builds()
"""Of all devices."""


class ClosedLock:
    """The lock of a queue at the end: daemons stop here, the main thread passes."""

    def acquire(self) -> None:
        """Stop a daemon."""
        if threading.current_thread().daemon:
            threading.Event().wait()

    def release(self) -> None:
        """Do nothing."""

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None


def has_daemons() -> bool:
    """Whether there are threads that Python does not wait for."""
    return any(thread.daemon for thread in threading.enumerate())


def wait_for_daemons() -> None:
    """Let daemons leave OpenCL, until each is elsewhere or blocked by a closed lock."""
    end = time.monotonic() + _MOST_SECONDS
    before: dict[int, tuple[int, int]] = {}
    looks = 0
    while looks < _STILL and time.monotonic() < end:
        time.sleep(_LOOK)
        places, is_busy = _places()
        looks = looks + 1 if places == before and not is_busy else 0
        before = places


def _places() -> tuple[dict[int, tuple[int, int]], bool]:
    """Where daemons are in our code; whether one is in pyopencl."""
    daemons = {thread.ident for thread in threading.enumerate() if thread.daemon}
    frames: Callable[[], dict[int, FrameType]] = vars(sys)["_current_frames"]
    places: dict[int, tuple[int, int]] = {}
    is_busy = False
    for thread, frame in frames().items():
        if thread in daemons:
            file = frame.f_code.co_filename
            if _PYOPENCL in file:
                is_busy = True
            elif file.startswith(_PACKAGE):
                places[thread] = id(frame), frame.f_lasti
    return places, is_busy
