"""Memory for results that is used again when the caller has let go of them.

A result must be an array of its own, but new pages from the system in every call cost
as much as a fast kernel. Where device and host share memory, that of a result is used
again as soon as no array refers to it; elsewhere results are copies, and the device's
buffer is used again in every call.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..handles.buffer import DeviceBuffer, allocate

if TYPE_CHECKING:
    import numpy as np

    from ..handles.handle import DeviceHandle

# While a caller computes a result it often still holds the one before.
_MOST_KEPT = 2


class ResultMemory:
    """Hands out buffers for one result of a program; not thread-safe.

    A caller may be given views of a buffer's `host`, never that array itself.
    """

    def __init__(
        self, device: DeviceHandle, shape: Sequence[int], dtype: np.dtype[Any]
    ) -> None:
        self._device = device
        self._shape = tuple(shape)
        self._dtype = dtype
        self._kept: list[_Kept] = []

    def take(self) -> DeviceBuffer:
        """A buffer that no earlier result refers to; its contents are undefined."""
        for kept in self._kept:
            if kept.is_free():
                return kept.buffer
        buffer = allocate(self._device, self._shape, self._dtype, purpose="results")
        if len(self._kept) < _MOST_KEPT and hasattr(sys, "getrefcount"):
            self._kept.append(_Kept(buffer))
        return buffer

    def drop(self) -> None:
        """Keep nothing that is free; what callers have is theirs anyway."""
        self._kept = [kept for kept in self._kept if not kept.is_free()]


class _Kept:
    """A buffer, and how many references to its memory are not a caller's."""

    def __init__(self, buffer: DeviceBuffer) -> None:
        self.buffer = buffer
        # NumPy lets a view of a view refer to the array that owns the memory.
        self._owner = None if buffer.host is None else buffer.host.base
        self._references = self._count()

    def _count(self) -> int:
        return sys.getrefcount(self._owner)

    def is_free(self) -> bool:
        """Whether no array of a caller refers to the memory."""
        return self._owner is None or self._count() == self._references
