"""Which runs use the memory of arrays, so that who uses it next comes after them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Condition, Lock
from typing import TYPE_CHECKING

from ...errors import GinghamError, again

if TYPE_CHECKING:
    from ...targets.device_memory import Event, EventQueue, Spare

SUBMISSION = Lock()
"""Held while a run is started.

What a run waits for has been enqueued before it, on whatever device, so that no two
runs wait for each other.
"""


_READ_ENDED = Condition(SUBMISSION)
"""The host has read some memory."""


class Memory:
    """The memory that one or more arrays are in, also arrays of two devices.

    With a `spare` it goes back to the device when no array has it any more.
    """

    __slots__ = (
        "__weakref__",
        "_spare",
        "host_readers",
        "readers",
        "written",
    )

    def __init__(self, spare: Spare | None = None) -> None:
        self._spare = spare
        self.written: Event | None = None
        """The run that wrote it last, if any did."""
        self.readers: dict[EventQueue, Event] = {}
        """The last run of each queue that reads it."""
        self.host_readers = 0
        """How many runs of the interpreter read it now."""

    def users(self) -> list[Event]:
        """All runs that who writes to it has to come after."""
        users = [*self.readers.values()]
        return users if self.written is None else [*users, self.written]

    def sources(self) -> tuple[Event, ...]:
        """The run that has to end well for the contents to be what they should.

        Raises the GinghamError of one that is known to have failed.
        """
        written = self.written
        if written is None:
            return ()
        if not written.is_settled:
            return (written,)
        if written.failure is not None:
            raise again(written.failure)
        return ()

    def __del__(self) -> None:
        spare = self._spare
        if spare is None:
            return
        # The next user has to be of the same queue, and so is behind these.
        queue, written = spare.queue, self.written
        if written is not None and written.queue is not queue:
            return
        for reader in self.readers:
            if reader is not queue:
                return
        spare.kept.append(spare)


@contextmanager
def read_by_host(memories: Sequence[Memory]) -> Generator[None]:
    """Let nothing write to memories in a block of code that reads them.

    Nothing else may be waited for there but what they are written by.
    """
    with SUBMISSION:
        for memory in memories:
            memory.host_readers += 1
    try:
        yield
    finally:
        with SUBMISSION:
            for memory in memories:
                memory.host_readers -= 1
            _READ_ENDED.notify_all()


def wait_for_host(*memories: Memory) -> None:
    """Wait until the host reads none of the memories; `SUBMISSION` must be held.

    It is let go meanwhile, and held again afterwards.
    """
    while any(memory.host_readers for memory in memories):
        _READ_ENDED.wait()


class ClosedMemory(Memory):
    """What is left of the memory of an array that was closed: an error."""

    __slots__ = ("_description",)

    def __init__(self, description: str) -> None:
        super().__init__()
        self._description = description

    def users(self) -> list[Event]:
        """Raise GinghamError."""
        raise self.error()

    def sources(self) -> tuple[Event, ...]:
        """Raise GinghamError."""
        raise self.error()

    def error(self) -> GinghamError:
        """What every use of the array raises."""
        return GinghamError(
            f"the array {self._description} is closed",
            hint="its contents are gone; numpy() before close() keeps them",
        )
