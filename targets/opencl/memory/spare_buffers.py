"""Memory of results that nobody refers to any more, for further results.

New pages from the system cost as much as a fast kernel. The commands of a queue run in
order, so that memory can be used for the next result while kernels still read what was
there before, as long as they are of the same queue.
"""

from __future__ import annotations

import sys
from collections import defaultdict
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
    Sized = dict["SparesOfAKind", None]
    """Kinds of which something is kept, of one size of blocks."""

# A loop has a result and the one before it.
_MOST_OF_A_KIND = 4
_PART_OF_MEMORY = 1 / 16


class SpareBuffers:
    """The memory that one device keeps. May be used from any thread."""

    def __init__(self, device: DeviceHandle, queue: CommandQueue) -> None:
        self.device = device
        self.queue = queue
        """The queue whose commands may follow each other in the same memory."""
        self.limit = device.details.global_memory_bytes * _PART_OF_MEMORY
        """The most bytes that are kept."""
        self._kinds: dict[Key, SparesOfAKind] = {}
        self._sizes: defaultdict[int, Sized] = defaultdict(dict)
        self._adding = Lock()
        self.bytes = 0
        """The bytes that are kept; about, as it is counted without a lock."""
        self.last_used = 0.0
        """Before all programs: this is the first memory to do without."""
        device.pool.add(self)

    def of(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SparesOfAKind:
        """Those of a shape and type."""
        found = self._kinds.get((shape, dtype))
        if found is None:
            with self._adding:
                found = self._kinds.get((shape, dtype))
                if found is None:
                    block = self.device.pool.size_class(prod(shape) * dtype.itemsize)
                    found = SparesOfAKind(self, shape, dtype, self._sizes[block])
                    self._kinds[shape, dtype] = found
        return found

    def give_up(self, what: Idle) -> None:
        """Let go of it as memory gets scarce, before any program does."""
        if what == "scratch":
            self.drop()

    def drop(self) -> None:
        """Give all of it back to the device."""
        for each in [*self._kinds.values()]:
            each.drop()
        self.bytes = 0


class SparesOfAKind:
    """The memory that is kept of one shape and type."""

    __slots__ = ("_all", "_dtype", "_kept", "_shape", "_sized", "queue")

    def __init__(
        self,
        spares: SpareBuffers,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        sized: Sized,
    ) -> None:
        self._all = spares
        self._shape = shape
        self._dtype = dtype
        self._kept: list[Spare] = []
        self._sized = sized
        self.queue = spares.queue
        """As of `SpareBuffers`."""

    def take(self) -> Spare:
        """Memory with undefined contents. Raises GinghamError where there is none."""
        spare = self._taken() or self._borrowed()
        return spare or Spare(allocate(self._all.device, self._shape, self._dtype))

    def _borrowed(self) -> Spare | None:
        """Memory of another shape or type that is as large, if that is kept.

        Not of devices that share the host's memory, whose arrays cannot be other ones.
        """
        if self._all.device.details.host_unified_memory:
            return None
        needed = prod(self._shape) * self._dtype.itemsize
        while self._sized:
            try:
                other, _ = self._sized.popitem()
            except KeyError:  # another thread was faster
                break
            spare = other._taken()
            if spare is None:
                continue
            if other._kept:
                self._sized[other] = None
            # Where memory was scarce, a block is no larger than it had to be.
            if spare.buffer.handle.size >= needed:
                buffer = replace(spare.buffer, shape=self._shape, dtype=self._dtype)
                return Spare(buffer)
        return None

    def _taken(self) -> Spare | None:
        """What is kept, if anything is."""
        kept = self._kept
        while kept:
            try:
                spare = kept.pop()
            except IndexError:  # another thread was faster
                break
            self._all.bytes -= spare.bytes
            if spare.is_free():
                return spare
        return None

    def give(self, spare: Spare) -> None:
        """Take memory back that nobody will use, unless there is enough already."""
        kept, spares = self._kept, self._all
        if len(kept) < _MOST_OF_A_KIND and spares.bytes + spare.bytes <= spares.limit:
            spares.bytes += spare.bytes
            kept.append(spare)
            self._sized[self] = None

    def drop(self) -> None:
        """Give it back to the device."""
        self._kept.clear()


class Spare:
    """A buffer, and how many references to its memory are not a user's."""

    __slots__ = ("_owner", "_references", "buffer", "bytes")

    def __init__(self, buffer: DeviceBuffer) -> None:
        self.buffer = buffer
        self.bytes = buffer.size_in_bytes
        # NumPy lets a view of a view refer to the array that owns the memory.
        self._owner = None if buffer.host is None else buffer.host.base
        self._references = self._count()

    def is_free(self) -> bool:
        """Whether no array of NumPy refers to the memory."""
        return self._owner is None or self._count() == self._references

    def _count(self) -> int:
        # Without counts of references no memory is found to be free.
        count = getattr(sys, "getrefcount", None)
        return id(self) if count is None else count(self._owner)
