"""The one clock: what work, data, launches and work-groups take on a device.

Whoever decides asks it: `estimate`, for nests of one block, with all that is known of
their loops; the fusion of blocks, the layout of outputs, the joining of launches,
prefetching and placement for coarser things. So a figure of the hardware, or the weight
of a function, is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from ..targets.hardware.description import Hardware


@dataclass(frozen=True)
class Clock:
    """Seconds on one device."""

    hardware: Hardware

    @property
    def cycle(self) -> float:
        """The seconds of one cycle."""
        return 1e-9 / self.hardware.clock_gigahertz

    # Arithmetic.

    def operations(self, count: float, cores: int = 0) -> float:
        """For so many vector operations, which cores share: all, or so many."""
        cores = cores or self.hardware.cores
        return count * self.cycle / self.hardware.multiply_adds_per_cycle / cores

    def step(
        self,
        operations: float,
        loads: float,
        stores: float = 0.0,
        latency_cycles: float = 0.0,
    ) -> tuple[float, str]:
        """The cycles of what runs side by side on a core, and what bounds them."""
        hardware = self.hardware
        most, limit = operations / hardware.multiply_adds_per_cycle, "multiply-adds"
        if (cycles := loads / hardware.loads_per_cycle) > most:
            most, limit = cycles, "loads"
        if (cycles := stores / hardware.stores_per_cycle) > most:
            most, limit = cycles, "stores"
        if latency_cycles > most:
            most, limit = latency_cycles, "latency"
        return most, limit

    # Data.

    def memory(self, size: float, cores: int = 0) -> float:
        """To read so many bytes from memory; one core gets its share of the rate."""
        share = (cores or self.hardware.cores) / self.hardware.cores
        return size / (self.hardware.memory_gigabytes_per_second * 1e9 * share)

    def again(self, size: float, held: float) -> float:
        """For one core to read so many bytes of `held` that it reads again and again.

        They come from the nearest cache that holds these.
        """
        for cache in self.hardware.caches:
            if self.stays(held, cache.size_bytes):
                return size / cache.bytes_per_cycle * self.cycle
        return self.memory(size, 1)

    def swept(self, size: float, held: float) -> tuple[float, float]:
        """For one core to read so many bytes of `held`, over which loops sweep again.

        The first number is of what stays in the core's own caches, the second of what
        comes from beyond.
        """
        for cache in self.hardware.caches:
            fits, _ = self.hardware.cache_bounds(cache)
            if held <= fits * cache.size_bytes:
                seconds = size / cache.bytes_per_cycle * self.cycle
                return (0.0, seconds) if cache.is_shared else (seconds, 0.0)
        return 0.0, self.memory(size, 1)

    def stays(self, held: float, room: float) -> bool:
        """Whether so many bytes stay in a cache of `room`."""
        return held <= self.hardware.overheads.shared_cache_fits * room

    def handed_on(self, size: float, readers: int = 1) -> float:
        """To read or write so many bytes that kernels before or after use, too.

        They are in the last cache if they stay there. Cores share them out, or so many
        `readers` each read all of them.
        """
        hardware = self.hardware
        last = hardware.caches[-1]
        room = last.size_bytes * (1 if last.is_shared else hardware.cores)
        cached = size / last.bytes_per_cycle * self.cycle / hardware.cores
        if not self.stays(size, room):
            return self.memory(size) + (readers - 1) * cached
        return min(cached, self.memory(size)) * readers

    # Kernels.

    @property
    def launch(self) -> float:
        """Of a launch, without any work."""
        return self.hardware.launch_microseconds * 1e-6

    def starts(self, groups: float) -> float:
        """Of so many work-groups, until their first loops."""
        hardware = self.hardware
        prologue = hardware.overheads.group_cycles * self.cycle / hardware.cores
        return groups * (hardware.group_nanoseconds * 1e-9 + prologue)

    def imbalance(self, groups: int, edge: float = 0.0) -> float:
        """By how much the last core is later than all together would be.

        `edge` is what work-groups at edges do beside the whole ones, in whole ones.
        """
        cores = self.hardware.cores
        together = (groups + edge) / cores
        busiest = min(ceil(together), ceil(groups / cores) + edge)
        return busiest / together

    def overlapped(
        self, arithmetic: float, levels: Sequence[Mapping[float, float]]
    ) -> float:
        """The time of arithmetic and of data beside it.

        `levels` has the time for data of each level of memory, by reuse: data of reuse
        r comes in during one r-th of the time, together with all data of a smaller
        reuse.
        """
        exponent = self.hardware.overheads.overlap_exponent
        reuses = sorted({1.0}.union(*levels))
        ends = [1 / reuse for reuse in reuses] + [0.0]
        rates = [0.0] * len(levels)
        seconds = 0.0
        for number, reuse in enumerate(reuses):
            for level, waiting in enumerate(levels):
                rates[level] += waiting.get(reuse, 0.0) * reuse
            both = arithmetic**exponent + sum([rate**exponent for rate in rates])
            seconds += (ends[number] - ends[number + 1]) * both ** (1 / exponent)
        return seconds

    def kernel(self, arithmetic: float, data: float, groups: int) -> float:
        """A kernel of equal work-groups, by the seconds of its parts on all cores."""
        busy = self.overlapped(arithmetic, [{1.0: data}])
        return self.launch + self.starts(groups) + busy * self.imbalance(groups)


@dataclass(frozen=True)
class Estimate:
    """The predicted time of one way to run a block, in seconds."""

    seconds: float
    breakdown: Mapping[str, float]
    """Its parts by name. Some overlap, and so do not add up."""


def time_text(seconds: float) -> str:
    """A time for people: `4.1 ms`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
