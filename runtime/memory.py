"""How much memory a compiled program needs, and which buffers share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import GinghamError
from .backends import memory_of
from .devices import default_device
from .devices import device as device_named

if TYPE_CHECKING:
    from ..targets.host_program import HostProgram
    from .device import Device


@dataclass(frozen=True)
class MemoryUsage:
    """What is used of a device's memory, in bytes. Printed, it is a table."""

    device: str
    budget: int
    """The most that programs may use: the setting `memory_budget`, or what there is."""
    used: int
    """By all that something refers to: tensors, results, scratch memory, constants."""
    cached: int
    """By free blocks that are kept for further buffers."""
    peak: int
    """The most that was used at once."""
    used_for: dict[str, int]
    """`used` by purpose; `scratch` is between the kernels of programs."""

    def __str__(self) -> str:
        """A table for people."""
        lines = [f"device {self.device}", f"budget     {_shown(self.budget)}"]
        lines.append(f"used       {_shown(self.used)}")
        lines += [f"  {name:9}{_shown(size)}" for name, size in self.used_for.items()]
        lines.append(f"cached     {_shown(self.cached)}")
        return "\n".join([*lines, f"peak       {_shown(self.peak)}"])


def memory_usage(device: str | Device | None = None) -> MemoryUsage:
    """What this process uses of a device's memory, the default device's without one.

    Arrays of a caller that kernels use in place are not counted. Raises GinghamError
    for a device that does not exist, and for one whose arrays are NumPy's.
    """
    chosen = default_device() if device is None else device
    if isinstance(chosen, str):
        chosen = device_named(chosen)
    memory = memory_of(chosen)
    if memory is None:
        raise GinghamError(
            f"the memory of device '{chosen.name}' is NumPy's and not counted",
            hint="`tile-devices` lists those of OpenCL",
        )
    pool = memory.pool
    used_for = dict(sorted(pool.used_for.items()))
    return MemoryUsage(
        chosen.name,
        pool.budget_bytes,
        sum(used_for.values()),
        pool.cached_bytes,
        pool.peak_bytes,
        {str(purpose): size for purpose, size in used_for.items()},
    )


@dataclass(frozen=True)
class PlacedBuffer:
    """A buffer that one call needs from launch `first` to launch `last`.

    It takes `size` bytes from byte `place` on.
    """

    name: str
    size: int
    place: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryReport:
    """The device memory of one program for inputs of certain shapes, in bytes."""

    inputs: int
    results: int
    kept: int
    """What is computed once of constant inputs."""
    peak: int
    """All that is between the launches of a call."""
    lower_bound: int
    """The most of `peak` that is in use at once: no placement needs less."""
    unshared: int
    """What `peak` would be with memory for each buffer of its own."""
    buffers: tuple[PlacedBuffer, ...]
    """What shares the memory of `peak`, in the order of first use."""

    def __str__(self) -> str:
        """A table for people."""
        lines = [
            f"inputs   {_shown(self.inputs)}",
            f"results  {_shown(self.results)}",
            f"kept     {_shown(self.kept)}",
            f"between  {_shown(self.peak)}, of which {_shown(self.lower_bound)} are in "
            f"use at once; {_shown(self.unshared)} without sharing",
        ]
        for buffer in self.buffers:
            lines.append(
                f"  {buffer.name}: {_shown(buffer.size)} at {buffer.place}, launches "
                f"{buffer.first} to {buffer.last}"
            )
        return "\n".join(lines)


def memory_report(program: HostProgram) -> MemoryReport:
    """The memory of a program, as its buffers are placed."""
    from ..passes.opencl.lifetimes import Lifetime, lower_bound

    slots = program.slots
    uses: dict[int, list[int]] = {}
    for number, launch in enumerate(program.launches):
        for slot in launch.slots:
            uses.setdefault(slot, []).append(number)
    results, kept = set(program.results), program.kept
    own = {
        number: Lifetime(slots[number].size_in_bytes, launches[0], launches[-1])
        for number, launches in uses.items()
        if number >= program.input_count and number not in results | kept
    }
    buffers = [
        PlacedBuffer(slots[number].name, each.size, place, each.first, each.last)
        for number, each in own.items()
        if (place := slots[number].place) is not None
    ]
    unshared = sum(each.size for each in own.values())
    unplaced = unshared - sum(buffer.size for buffer in buffers)
    ends = [buffer.place + buffer.size for buffer in buffers]
    made = sorted(number for number in results if number >= program.input_count)
    return MemoryReport(
        inputs=sum(slot.size_in_bytes for slot in slots[: program.input_count]),
        results=sum(slots[number].size_in_bytes for number in made),
        kept=sum(slots[number].size_in_bytes for number in kept - results),
        peak=max(ends, default=0) + unplaced,
        lower_bound=lower_bound(list(own.values())),
        unshared=unshared,
        buffers=tuple(sorted(buffers, key=lambda buffer: buffer.first)),
    )


def _shown(count: int) -> str:
    from ..targets.host_arrays import format_bytes

    return format_bytes(count)
