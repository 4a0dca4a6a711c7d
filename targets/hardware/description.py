"""What the cost model knows of a device: figures in data files, one per kind of device.

A description is a TOML file beside this one, or anywhere. Every field has its unit in
its name; see `Hardware` for what each means, and `loading` for how a file is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypeVar

from .instruction import LOAD, MULTIPLY_ADD, STORE, Instruction, check_instructions
from .lanes import LaneFigures
from .overheads import Overheads
from .parallel import Level, LevelName, check_levels
from .positive import require_positive

LANE_BITS = 32
"""Of one lane, or of one element that a vector's count is of."""
MOST_BUFFERS = 96
"""That passes put into a kernel. Every OpenCL device has room for 1024 bytes of
arguments, the least that CL_DEVICE_MAX_PARAMETER_SIZE may be: 128 pointers, and there
may be numbers, and memory between kernels. Compilers also take longer for each buffer,
the more there are."""


@dataclass(frozen=True)
class Cache:
    """One level of cache; those of a device are listed from the core outwards."""

    size_bytes: int
    """Of one core, or of all together where it is shared."""
    ways: int
    """Lines that one set holds: addresses that differ by a multiple of
    `size_bytes / ways` meet in one set."""
    bytes_per_cycle: float
    """What one core reads from it per cycle, sustained, while all cores do."""
    latency_cycles: float
    """From an address to the value, on a hit."""
    is_shared: bool = False
    """Whether all cores use one."""

    def __post_init__(self) -> None:
        require_positive(self)


@dataclass(frozen=True)
class Hardware:
    """The figures of a device. Raises ValueError where they can not be so."""

    name: str
    """Of the description: `cpu-avx512`."""
    clock_gigahertz: float
    """Under a load of multiply-adds on all cores."""
    cache_line_bytes: int
    """What is moved between caches and memory at a time."""
    parallel: tuple[Level, ...]
    """What runs at the same time, from the whole device inwards."""
    instructions: tuple[Instruction, ...]
    """What a core does at once, and how often."""
    caches: tuple[Cache, ...]
    """The nearest first."""
    memory_gigabytes_per_second: float
    """All cores together, reading."""
    memory_latency_nanoseconds: float
    """From an address to the value, missing all caches."""
    page_bytes: int
    """The reach of one entry of the table of pages."""
    page_entries: int
    """Entries of the table's last level: streams over more pages miss it."""
    launch_microseconds: float
    """An empty kernel, from its launch to its end."""
    group_nanoseconds: float
    """Starting one more work-group."""
    overheads: Overheads
    """What a core loses beside its work."""
    lanes: LaneFigures
    """What cores have for lanes, where work-items are such, and what these lose."""
    near_page_entries: int = 1 << 30
    """Entries of the table's first level, where missing it shows: each look-up in the
    last level delays what comes from the next cache. By default there are more than
    programs reach."""
    compute_units_per_core: int = 1
    """How many of what the device counts as compute units make up a core."""
    origin: str = field(default="", compare=False)
    """The name or path that it was loaded from, with what was changed; see `loading`.
    Not a figure: it is not part of a file."""

    def __post_init__(self) -> None:
        if not self.caches:
            raise ValueError("caches: expected one or more")
        require_positive(self)
        check_levels(self.parallel)
        check_instructions(self.instructions)

    # What runs at the same time. Who asks what a device is like goes by these.

    @property
    def innermost(self) -> Level:
        """The vectors of a work-item, or the lanes that each are one."""
        return self.parallel[-1]

    @cached_property
    def has_vectors(self) -> bool:
        """Whether a work-item has vectors; else it is a lane among others."""
        return self.innermost.name == "vector"

    @property
    def items_at_once(self) -> int:
        """The work-items that run as one."""
        return 1 if self.has_vectors else self.innermost.count

    @cached_property
    def cores(self) -> int:
        """The cores of a CPU, or multiprocessors of a GPU."""
        return self.parallel[0].count

    @cached_property
    def vector_bits(self) -> int:
        """The width of a vector, or of the lanes that run as one, in bits."""
        return self.innermost.count * LANE_BITS

    @property
    def access_bits(self) -> int:
        """The most that a work-item loads or stores at once, in bits."""
        return self.vector_bits if self.has_vectors else self.innermost.access_bits

    @property
    def vector_registers(self) -> int:
        """Vectors that a work-item may use, or the registers of a lane."""
        return self.innermost.registers

    @property
    def local_memory_bytes(self) -> int:
        """Of one work-group."""
        return self.parallel[0].memory_bytes

    @property
    def array_memory_bytes(self) -> int:
        """Of one work-group, where the kernel says how much it is."""
        return max(self.local_memory_bytes, self.lanes.array_memory_bytes)

    @property
    def work_group_limit(self) -> int:
        """The most work-items of a group."""
        return self.parallel[0].item_limit

    @property
    def work_group_size(self) -> int:
        """The work-items of a group that are worth having: 1 if they have vectors."""
        if self.has_vectors:
            return 1
        return min(
            prod(each.count for each in self.parallel[1:]), self.work_group_limit
        )

    @property
    def point_bytes(self) -> int:
        """What a point of a nest may hold: a work-item's private memory.

        Lanes share a point, and hold it in a quarter of their registers together.
        """
        if self.has_vectors:
            return self.overheads.private_bytes
        return self.work_group_limit * self.vector_registers

    def with_level(self, name: LevelName, **figures: int) -> Hardware:
        """The same with other figures of a level.

        Raises ValueError for those that none can have.
        """
        return replace(self, parallel=_with(self.parallel, name, figures))

    def with_vectors(self, bits: int = 0, registers: int = 0) -> Hardware:
        """The same with other vectors, or lanes, and registers; 0 leaves a figure.

        Raises ValueError for those that none can have.
        """
        if bits and (bits < LANE_BITS or bits.bit_count() != 1):
            raise ValueError(
                f"vector_bits: expected a power of two from 32 on, got {bits}"
            )
        inner = self.innermost
        return self.with_level(
            inner.name,
            count=bits // LANE_BITS or inner.count,
            registers=registers or inner.registers,
        )

    # Instructions.

    def instruction(self, name: str) -> Instruction | None:
        """The instruction of that name, if there is one."""
        found = (each for each in self.instructions if each.name == name)
        return next(found, None)

    def with_instruction(self, name: str, **figures: float) -> Hardware:
        """The same with other figures of an instruction.

        Raises ValueError for those that none can have.
        """
        return replace(self, instructions=_with(self.instructions, name, figures))

    @cached_property
    def multiply_adds_per_cycle(self) -> float:
        """Vector multiply-adds that one core starts per cycle."""
        return self._plain(MULTIPLY_ADD).per_cycle

    @cached_property
    def multiply_add_latency_cycles(self) -> float:
        """From an accumulator to its next value."""
        return self._plain(MULTIPLY_ADD).latency_cycles

    @cached_property
    def loads_per_cycle(self) -> float:
        """Vector (or scalar, or broadcast) loads that one core starts per cycle."""
        return self._plain(LOAD).per_cycle

    @cached_property
    def stores_per_cycle(self) -> float:
        """Vector stores that one core starts per cycle."""
        return self._plain(STORE).per_cycle

    def _plain(self, name: str) -> Instruction:
        """One that every description has."""
        return next(each for each in self.instructions if each.name == name)

    # Data.

    @property
    def own_cache_bytes(self) -> int:
        """The size of the last cache that a core has for itself, or 0."""
        own = (cache.size_bytes for cache in self.caches if not cache.is_shared)
        return max(own, default=0)

    def cache_bounds(self, cache: Cache) -> tuple[float, float]:
        """The part of a cache in which all stays, and that from which on nothing does.

        In between misses grow linearly: see `Overheads.cache_fits`.
        """
        figures = self.overheads
        if cache.is_shared:
            return figures.shared_cache_fits, figures.shared_cache_overflows
        if cache.size_bytes > cache.ways * self.page_bytes:
            return figures.paged_cache_fits, figures.paged_cache_overflows
        return figures.cache_fits, figures.cache_overflows

    @property
    def multiply_adds_per_second(self) -> float:
        """Multiply-adds of 32-bit floats on all cores, at best."""
        per_cycle = self.cores * self.multiply_adds_per_cycle * self.innermost.count
        return per_cycle * self.clock_gigahertz * 1e9


_Row = TypeVar("_Row", Level, Instruction)


def _with(
    rows: Sequence[_Row], name: str, figures: Mapping[str, float]
) -> tuple[_Row, ...]:
    """The rows, with other figures in the one of that name."""
    return tuple(
        replace(each, **figures) if each.name == name else each for each in rows
    )
