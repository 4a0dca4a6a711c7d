"""The host program of compiled code over numbered buffers, as the executor runs it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import SourceLocation

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Slot:
    """A buffer of the host program; `place` is its first byte in the arena, if any."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: int | None = None

    @property
    def size_in_bytes(self) -> int:
        """The bytes of all elements."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class HostLaunch:
    """A launch of a kernel, by its name in C, with the numbers of its buffers."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    slots: tuple[int, ...]
    runs_once: bool
    location: str | None = None
    """Where the operation that it computes is in the program: `file:line:column`."""
    flops: int = 0
    """Operations of the program that it computes; a multiply-add is two."""
    bytes_read: int = 0
    """Of its inputs, each cell once."""
    bytes_written: int = 0
    """Of its outputs, each cell once."""

    @property
    def source_location(self) -> SourceLocation | None:
        """`location` as a place, where it is known."""
        if self.location is None:
            return None
        file, line, column = self.location.rsplit(":", 2)
        return SourceLocation(file, int(line), int(column))


@dataclass(frozen=True)
class HostProgram:
    """The function `@main` over numbered slots: inputs first, then allocations."""

    slots: tuple[Slot, ...]
    input_count: int
    constants: tuple[int, ...]
    """The inputs that are mostly the same arrays in all calls."""
    launches: tuple[HostLaunch, ...]
    """Those that have work, in order."""
    results: tuple[int, ...]

    def location_of(self, number: int) -> SourceLocation | None:
        """Where the operation that first uses a buffer is in the program."""
        for launch in self.launches:
            if number in launch.slots:
                return launch.source_location
        return None

    @property
    def kept(self) -> set[int]:
        """What launches that run once leave for those that run in every call."""
        once = {s for launch in self.launches if launch.runs_once for s in launch.slots}
        each = {
            s for launch in self.launches if not launch.runs_once for s in launch.slots
        }
        return {number for number in once & each if number >= self.input_count}


@dataclass(frozen=True)
class LaunchTiming:
    """How long the device worked on one launch, which ran `global_size` work-items."""

    kernel: str
    global_size: tuple[int, ...]
    seconds: float
