"""Memory for results that is used again when the caller has let go of them.

A result must be an array of its own, but asking the system for new pages in every call
costs as much as a fast kernel. Where device and host share memory, a result's memory is
used again as soon as no array refers to it any more; elsewhere the device's buffer is
copied out of and can be used in every call.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .buffer import DeviceBuffer, allocate

if TYPE_CHECKING:
    import numpy as np

    from .device import OpenCLDevice

# While a caller computes a result it often still holds the one before.
_MOST_KEPT = 2


@dataclass(frozen=True)
class _Kept:
    """A buffer, the array that owns its memory, and the references to it without users."""

    buffer: DeviceBuffer
    owner: Any
    references: int

    @property
    def is_free(self) -> bool:
        """Whether no array outside refers to the memory."""
        return sys.getrefcount(self.owner) <= self.references


class ResultMemory:
    """Hands out buffers for one result of a program; not thread-safe."""

    def __init__(
        self, device: OpenCLDevice, shape: Sequence[int], dtype: np.dtype[Any]
    ) -> None:
        self._device = device
        self._shape = tuple(shape)
        self._dtype = dtype
        self._kept: list[_Kept] = []

    def take(self) -> DeviceBuffer:
        """A buffer that no earlier result refers to; its contents are undefined."""
        for kept in self._kept:
            if kept.is_free:
                return kept.buffer
        buffer = allocate(self._device, self._shape, self._dtype)
        if len(self._kept) < _MOST_KEPT and hasattr(sys, "getrefcount"):
            self._keep(buffer)
        return buffer

    def _keep(self, buffer: DeviceBuffer) -> None:
        # Views that callers make refer to the array that owns the memory, not to `host`.
        host = buffer.host
        owner = buffer if host is None else host if host.base is None else host.base
        kept = _Kept(buffer, owner, 0)
        self._kept.append(_Kept(buffer, owner, sys.getrefcount(kept.owner)))
