"""What a device with memory of its own offers to who keeps arrays there.

`DeviceMemory` makes buffers and starts copies, which end with an `Event`. What is
started on a `Queue` is done in order. Devices without it work on NumPy's arrays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..errors import GinghamError

    Array = NDArray[Any]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class EventQueue(Protocol):
    """The queue of some event; to be compared."""

    @property
    def device(self) -> _Named:
        """Whose queue it is."""
        ...


class Queue(EventQueue, Protocol):
    """Commands of one device, which it takes one after the other."""

    @property
    def shared(self) -> Event | None:
        """The event that a run without one of its own would be given now, if any."""
        ...

    def throttle(self) -> None:
        """Wait where too much is in flight."""
        ...

    def flush(self) -> None:
        """See that what was queued gets started: runtimes may collect commands."""
        ...

    def drain(self) -> None:
        """Block until every command so far has ended, well or in failure."""
        ...

    def finish(self) -> None:
        """Block until every command so far has ended. Raises GinghamError."""
        ...


class Awaited(Protocol):
    """The end of some commands."""

    @property
    def queue(self) -> EventQueue:
        """The queue of its commands."""
        ...

    def start(self) -> None:
        """See that the commands get started, before one elsewhere waits for them."""
        ...

    def settle(self) -> GinghamError | None:
        """Block until all has ended, and say why it failed, if it did."""
        ...


class Event(Awaited, Protocol):
    """The end of a run, or of a copy."""

    @property
    def done(self) -> bool:
        """Whether all of it has ended, well or in failure."""
        ...

    @property
    def is_settled(self) -> bool:
        """Whether `failure` is known."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether it is the end of all that its queue was given behind another end."""
        ...

    @property
    def failure(self) -> GinghamError | None:
        """Why the results are not to be used; known when `is_settled`."""
        ...

    def wait(self) -> None:
        """Block until all has ended. Raises GinghamError where something failed."""
        ...


class Buffer(Protocol):
    """A row-major array in a device's memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        ...

    @property
    def host(self) -> Array | None:
        """The array of NumPy over the same memory, where it is shared."""
        ...

    def viewed(self, shape: tuple[int, ...]) -> Buffer:
        """The same memory under another shape of as many elements."""
        ...


class Spare(Protocol):
    """Memory for a result, which another may have when nobody has that any more."""

    @property
    def buffer(self) -> Any:
        """Its buffer."""
        ...

    @property
    def queue(self) -> EventQueue:
        """The queue whose commands may follow each other in it."""
        ...

    @property
    def kept(self) -> deque[Any]:
        """Where it is put when nobody will use it."""
        ...


BufferT = TypeVar("BufferT", bound=Buffer)
EventT = TypeVar("EventT", bound=Event)


class SparesOfAKind(Protocol):
    """Memory of results that nobody refers to any more, of a shape and type."""

    def take(self) -> Spare:
        """Memory with undefined contents. Raises GinghamError where there is none."""
        ...


class Spares(Protocol):
    """Memory of results that nobody refers to any more, for further results."""

    def of(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SparesOfAKind:
        """Those of a shape and type."""
        ...


class Pool(Protocol):
    """What of a device's memory is in use."""

    @property
    def budget_bytes(self) -> int:
        """The most that programs may use."""
        ...

    @property
    def used_for(self) -> Mapping[Any, int]:
        """The bytes in use, by purpose."""
        ...

    @property
    def cached_bytes(self) -> int:
        """Free blocks that are kept for further buffers."""
        ...

    @property
    def peak_bytes(self) -> int:
        """The most that was used at once."""
        ...


class DeviceMemory(Protocol[BufferT, EventT]):
    """Buffers of a device, and copies to, from and on it.

    Copies come behind all `sources`, whose failure is theirs, and behind all `behind`,
    however these end; both may be of other devices. They are None where there is
    nothing to copy. All methods raise GinghamError where the device refuses.
    """

    @property
    def queue(self) -> Queue:
        """The queue of its kernels."""
        ...

    @property
    def spares(self) -> Spares:
        """The memory of results that nobody has any more."""
        ...

    @property
    def pool(self) -> Pool:
        """What is in use."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether it is the host's memory, so that arrays are used in place."""
        ...

    @property
    def is_visible(self) -> bool:
        """Whether the host sees what kernels write without asking for it."""
        ...

    def allocate(self, shape: Sequence[int], dtype: np.dtype[Any]) -> BufferT:
        """An uninitialised buffer."""
        ...

    def host_array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """An uninitialised array of NumPy that fits for kernels and is counted."""
        ...

    def in_place(self, host: Array) -> BufferT:
        """A buffer over a fitting array, where memory is shared.

        Kernels may write to it where NumPy may.
        """
        ...

    def upload(self, host: Array) -> BufferT:
        """An array for kernels to read; it must not change until they have ended."""
        ...

    def download(self, buffer: BufferT) -> Array:
        """A buffer's contents when all commands of `queue` so far have ended."""
        ...

    def show(self, buffer: BufferT) -> None:
        """Bring what kernels wrote into the array over the same memory."""
        ...

    def fill(self, buffer: BufferT, host: Array) -> None:
        """Copy a contiguous array into a buffer that nothing uses, and wait for it."""
        ...

    def fetch(self, buffer: BufferT, host: Array) -> None:
        """Copy a buffer, whose contents are there, into a contiguous array, and wait.

        Nothing may write to it meanwhile.
        """
        ...

    def write(
        self,
        buffer: BufferT,
        host: Array,
        sources: Sequence[EventT] = (),
        behind: Sequence[EventT] = (),
    ) -> EventT | None:
        """Begin to copy a contiguous array into a buffer.

        It must not change until the copy has ended.
        """
        ...

    def read(
        self,
        buffer: BufferT,
        host: Array,
        sources: Sequence[EventT] = (),
        behind: Sequence[EventT] = (),
    ) -> EventT | None:
        """Begin to copy a buffer into a contiguous array."""
        ...

    def copy(
        self,
        source: BufferT,
        target: BufferT,
        sources: Sequence[EventT] = (),
        behind: Sequence[EventT] = (),
    ) -> EventT | None:
        """Begin to copy a buffer into another one of the device."""
        ...

    def failed(self, failure: GinghamError) -> EventT:
        """The event of a run that could not even be started."""
        ...
