"""What a device can do at best: the roofline of its hardware description.

After S. Williams, A. Waterman and D. Patterson, Roofline: An Insightful Visual
Performance Model (2009), with a roof for each level of memory. The one that holds for a
kernel is that of the nearest memory that has room for all bytes that the kernel
touches: whatever wrote them may have left them there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...targets.hardware import Hardware


@dataclass(frozen=True)
class MemoryLevel:
    """A memory, all cores together."""

    name: str
    size_in_bytes: float
    """Infinite for the last."""
    bytes_per_second: float


@dataclass(frozen=True)
class Roofline:
    """Rates at best, of all cores together."""

    flops_per_second: float
    """Of 32-bit floats, by multiply-adds, which are two."""
    levels: tuple[MemoryLevel, ...]
    """The nearest first."""

    @staticmethod
    def of(hardware: Hardware) -> Roofline:
        """By the figures of a hardware description."""
        cycles = hardware.clock_gigahertz * 1e9 * hardware.cores
        levels = [
            MemoryLevel(
                f"L{number}",
                cache.size_bytes * (1 if cache.is_shared else hardware.cores),
                cache.bytes_per_cycle * cycles,
            )
            for number, cache in enumerate(hardware.caches, 1)
        ]
        rate = hardware.memory_gigabytes_per_second * 1e9
        levels.append(MemoryLevel("memory", float("inf"), rate))
        return Roofline(2 * hardware.multiply_adds_per_second, tuple(levels))

    def level_for(self, size_in_bytes: float) -> MemoryLevel:
        """The nearest memory that has room for so much."""
        return next(x for x in self.levels if size_in_bytes <= x.size_in_bytes)

    def seconds(self, flops: float, moved: float) -> float:
        """The least time that so many operations on so many bytes take."""
        rate = self.level_for(moved).bytes_per_second
        return max(flops / self.flops_per_second, moved / rate)

    def share(self, flops: float, moved: float, seconds: float) -> float | None:
        """What part of the best a kernel reached; None for one that does nothing.

        It may be above 1 where the description says less than the device can do.
        """
        least = self.seconds(flops, moved)
        return least / seconds if least > 0 and seconds > 0 else None
