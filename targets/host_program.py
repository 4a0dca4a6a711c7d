"""The host program of compiled code over numbered buffers, as the executor runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError, SourceLocation

if TYPE_CHECKING:
    import numpy as np

    from .host_arrays import ArrayType


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

    @property
    def inputs(self) -> tuple[Slot, ...]:
        """The buffers of the inputs."""
        return self.slots[: self.input_count]

    @cached_property
    def input_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each input."""
        return [(slot.shape, slot.dtype) for slot in self.inputs]

    @cached_property
    def output_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each output."""
        slots = [self.slots[number] for number in self.results]
        return [(slot.shape, slot.dtype) for slot in slots]

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


def check_inputs(slots: Sequence[Slot], inputs: Sequence[object]) -> None:
    """Refuse with GinghamError what is no array of the right shape and type."""
    import numpy as np

    if len(inputs) != len(slots):
        raise GinghamError(f"expected {len(slots)} input(s), got {len(inputs)}")
    array_type = np.ndarray
    for slot, array in zip(slots, inputs, strict=True):
        if (
            isinstance(array, array_type)
            and array.shape == slot.shape
            and array.dtype == slot.dtype
        ):
            continue
        _check_input(slot, array)


def _check_input(slot: Slot, array: object) -> None:
    """Refuse what is not an array of the slot's shape and type, in any byte order."""
    import numpy as np

    expected = f"shape {slot.shape} and type {slot.dtype.name}"
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
        message = f"expected a NumPy array of {expected}, got {got}"
    elif array.shape != slot.shape or array.dtype.newbyteorder("=") != slot.dtype:
        got = f"shape {array.shape} and type {array.dtype.name}"
        message = f"expected an array of {expected}, got {got}"
    else:
        return
    raise GinghamError(f"input '{slot.name}': {message}")
