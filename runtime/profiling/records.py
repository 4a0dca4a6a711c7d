"""What is noted of a command of a device, and of what a thread of the host did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from .roofline import Roofline

CommandKind: TypeAlias = Literal["kernel", "transfer"]


@dataclass(frozen=True)
class Thread:
    """A thread of the host."""

    number: int
    """As the operating system knows it."""
    name: str


@dataclass(frozen=True)
class Command:
    """A launch or a copy that has ended. Times are nanoseconds of the host's clock."""

    kind: CommandKind
    name: str
    """The kernel's name in C, or which way data went."""
    device: str
    queue: int
    """A number for each queue of all devices."""
    thread: Thread
    """That enqueued it."""
    enqueued: int
    started: int
    ended: int
    flops: int
    bytes_read: int
    bytes_written: int
    location: str | None
    """Where in the program the operation is that a kernel computes."""
    roofline: Roofline | None
    """What the device can do at best."""

    @property
    def seconds(self) -> float:
        """How long the device worked on it; at least a nanosecond."""
        return max(self.ended - self.started, 1) * 1e-9

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class Span:
    """What a thread of the host did. Times are nanoseconds of the host's clock."""

    category: str
    """`call` a whole call, `step` a part of one, `compile` and `pass` of compiling."""
    name: str
    thread: Thread
    started: int
    ended: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended - self.started) * 1e-9
