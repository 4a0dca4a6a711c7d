"""Memory of results that nobody refers to any more, for further results.

New pages from the system cost as much as a fast kernel. The commands of a queue run in
order, so that memory can be used for the next result while kernels still read what was
there before, as long as they are of the same queue.
"""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from dataclasses import replace
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..handles.buffer import DeviceBuffer, allocate

if TYPE_CHECKING:
    import numpy as np

    from ...backend import Idle
    from ..command_queue import CommandQueue
    from ..handles.handle import DeviceHandle

    Key = tuple[tuple[int, ...], np.dtype[Any]]

# A loop has a result and the one before it.
_MOST_OF_A_KIND = 4
_PART_OF_MEMORY = 1 / 16


class SpareBuffers:
    """The memory that one device keeps. May be used from any thread."""

    def __init__(self, device: DeviceHandle, queue: CommandQueue) -> None:
        self.device = device
        self.queue = queue
        """The queue whose commands may follow each other in the same memory."""
        self._limit = device.details.global_memory_bytes * _PART_OF_MEMORY
        """The bytes that are kept when a further kind is asked for, at most."""
        self._kinds: dict[Key, SparesOfAKind] = {}
        self._alike: defaultdict[int, list[SparesOfAKind]] = defaultdict(list)
        """Those of one size of blocks."""
        self._adding = Lock()
        self.last_used = 0.0
        """Before all programs: this is the first memory to do without."""
        device.pool.add(self)

    def of(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SparesOfAKind:
        """Those of a shape and type."""
        with self._adding:
            found = self._kinds.get((shape, dtype))
            if found is None:
                if sum(each.bytes for each in self._kinds.values()) > self._limit:
                    self.drop()
                size = prod(shape) * dtype.itemsize
                alike = self._alike[self.device.pool.size_class(size)]
                most = min(_MOST_OF_A_KIND, int(self._limit // max(size, 1)))
                found = SparesOfAKind(self, shape, dtype, alike, most)
                self._kinds[shape, dtype] = found
        return found

    def give_up(self, what: Idle) -> None:
        """Let go of it as memory gets scarce, before any program does."""
        if what == "scratch":
            self.drop()

    def drop(self) -> None:
        """Give all of it back to the device."""
        for each in [*self._kinds.values()]:
            each.kept.clear()


class SparesOfAKind:
    """The memory that is kept of one shape and type."""

    __slots__ = ("_alike", "_device", "_dtype", "_shape", "kept", "queue")

    def __init__(
        self,
        spares: SpareBuffers,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        alike: list[SparesOfAKind],
        most: int,
    ) -> None:
        self._device = spares.device
        self._shape = shape
        self._dtype = dtype
        self._alike = alike
        alike.append(self)
        self.kept: deque[Spare] = deque(maxlen=most)
        """Those that nobody has."""
        self.queue = spares.queue
        """As of `SpareBuffers`."""

    @property
    def bytes(self) -> int:
        """What is kept."""
        return len(self.kept) * prod(self._shape) * self._dtype.itemsize

    def take(self) -> Spare:
        """Memory with undefined contents. Raises GinghamError where there is none."""
        try:
            spare = self.kept.pop()
        except IndexError:
            return self._found()
        return spare if spare.owner is None or spare.is_free() else self._found()

    def _found(self) -> Spare:
        spare = self._taken() or self._borrowed()
        if spare is None:
            spare = Spare(self, allocate(self._device, self._shape, self._dtype))
        return spare

    def _borrowed(self) -> Spare | None:
        """Memory of another shape or type that is as large, if that is kept.

        Not of devices that share the host's memory, whose arrays cannot be other ones.
        """
        if self._device.details.host_unified_memory:
            return None
        needed = prod(self._shape) * self._dtype.itemsize
        for other in self._alike:
            if not other.kept or (spare := other._taken()) is None:
                continue
            # Where memory was scarce, a block is no larger than it had to be.
            if spare.buffer.handle.size >= needed:
                buffer = replace(spare.buffer, shape=self._shape, dtype=self._dtype)
                return Spare(self, buffer)
        return None

    def _taken(self) -> Spare | None:
        """What is kept, if anything is."""
        kept = self.kept
        while kept:
            try:
                spare = kept.pop()
            except IndexError:  # another thread was faster
                break
            if spare.owner is None or spare.is_free():
                return spare
        return None


class Spare:
    """A buffer, and how many references to its memory are not a user's."""

    __slots__ = ("_references", "buffer", "kept", "owner", "queue")

    def __init__(self, kind: SparesOfAKind, buffer: DeviceBuffer) -> None:
        self.buffer = buffer
        self.kept = kind.kept
        """Where it goes when nobody will use it."""
        self.queue = kind.queue
        """As of `SpareBuffers`."""
        # NumPy lets a view of a view refer to the array that owns the memory.
        self.owner = None if buffer.host is None else buffer.host.base
        """The array of NumPy that has the memory, where it is the host's."""
        self._references = self._count()

    def is_free(self) -> bool:
        """Whether no array of NumPy refers to the memory of `owner`."""
        return self._count() == self._references

    def _count(self) -> int:
        # Without counts of references no memory is found to be free.
        count = getattr(sys, "getrefcount", None)
        return id(self) if count is None else count(self.owner)
