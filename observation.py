"""Who watches what the compiler and the devices do: mostly nobody.

Code that does what is worth seeing asks for the observer and tells it. Without one that
is a look at a variable. `gingham.runtime.profiling` is who observes.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any, Protocol


class Observer(Protocol):
    """What is told, by any thread; times are those of `time.perf_counter_ns`."""

    @property
    def wants_passes(self) -> bool:
        """Whether programs should be compiled though a compiled one is stored."""
        ...

    def is_calling(self, function: object) -> bool:
        """Whether a call of a function is being watched in this thread."""
        ...

    def call(self, function: Any, run: Any) -> Any:
        """Watch `run()`, a call of a function; its result."""
        ...

    def span(self, category: str, name: str, start: int) -> int:
        """The thread has done something from `start` until now, which is returned."""
        ...

    def stage(self, name: str, module: Any) -> None:
        """A module is `specialized`, or has reached a stage of the pipeline."""
        ...

    def after_pass(self, name: str, start: int, module: Any) -> None:
        """A pass has run on a module from `start` until now."""
        ...

    def source(self, text: str, language: str) -> None:
        """The kernels of a program that has been compiled or loaded, in a language."""
        ...

    def time(self, queue: Any) -> None:
        """Let a queue's commands know their times from now on, if need be.

        The caller holds no lock of the queue.
        """
        ...

    def launched(self, queue: Any, launches: Sequence[Any], events: Any) -> None:
        """A queue has been given launches of a program, with these events."""
        ...

    def ran(self, device: Any, launch: Any, start: int, end: int) -> None:
        """A device that takes part in calls has run a launch of a program."""
        ...

    def copied(self, queue: Any, name: str, size: int, event: Any) -> None:
        """A queue has been given a copy of so many bytes."""
        ...

    def ended(self) -> None:
        """The commands that the thread has given have ended."""
        ...


observer: Observer | None = None
"""Who watches; None is nobody. To be looked up each time: `observation.observer`.

Another thread may take it away, so it is looked up once for a question and a call.
"""


def note(category: str, name: str, start: int) -> None:
    """Tell the observer, if there is one, what has been done since `start`."""
    if (watching := observer) is not None:
        watching.span(category, name, start)


def observe_queue(queue: object) -> None:
    """Let the observer, if there is one, see what a queue is given next."""
    if (watching := observer) is not None:
        watching.time(queue)


def observe_copy(queue: object, name: str, size: int, event: object) -> None:
    """Tell the observer, if there is one, of a copy of so many bytes."""
    if (watching := observer) is not None:
        watching.copied(queue, name, size, event)


now = perf_counter_ns
"""The time, for `start`."""
