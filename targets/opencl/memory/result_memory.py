"""Memory for results that is used again when the caller has let go of them.

A result must be an array of its own, but new pages from the system in every call cost
as much as a fast kernel. Where device and host share memory, that of a result is used
again as soon as no array refers to it; elsewhere results are copies, whose memory is
used again, and so is the device's buffer in every call.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ...host_arrays import aligned_empty
from ..handles.buffer import DeviceBuffer, allocate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..handles.handle import DeviceHandle

    Array = NDArray[Any]

T = TypeVar("T")

# While a caller computes a result it often still holds the one before.
_MOST_KEPT = 2
_LARGEST_COPY = 64 << 20
"""Bytes of a copy whose memory is kept, which nobody counts."""


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
        self._kept: list[_Kept[DeviceBuffer]] = []
        self._copies: list[_Kept[Array]] = []

    def take(self) -> DeviceBuffer:
        """A buffer that no earlier result refers to; its contents are undefined."""
        for kept in self._kept:
            if kept.is_free():
                return kept.value
        buffer = allocate(self._device, self._shape, self._dtype, purpose="results")
        if len(self._kept) < _MOST_KEPT and hasattr(sys, "getrefcount"):
            self._kept.append(_Kept(buffer, buffer.host))
        return buffer

    def take_copy(self) -> Array:
        """An array of the host that no earlier result refers to, to be copied into."""
        for kept in self._copies:
            if kept.is_free():
                return kept.value
        array = aligned_empty(self._shape, self._dtype)
        is_small = array.nbytes <= _LARGEST_COPY
        if is_small and len(self._copies) < _MOST_KEPT and hasattr(sys, "getrefcount"):
            self._copies.append(_Kept(array, array))
        return array

    def drop(self) -> None:
        """Keep nothing that is free; what callers have is theirs anyway."""
        self._kept = [kept for kept in self._kept if not kept.is_free()]
        self._copies = [kept for kept in self._copies if not kept.is_free()]


class _Kept(Generic[T]):
    """What is kept, and how many references to its memory are not a caller's."""

    def __init__(self, value: T, host: Array | None) -> None:
        self.value = value
        # NumPy lets a view of a view refer to the array that owns the memory.
        self._owner = None if host is None else host.base
        self._references = self._count()

    def _count(self) -> int:
        return sys.getrefcount(self._owner)

    def is_free(self) -> bool:
        """Whether no array of a caller refers to the memory."""
        return self._owner is None or self._count() == self._references
