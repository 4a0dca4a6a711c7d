"""What the cost model knows of a device: figures in data files, one per kind of device.

A description is a TOML file beside this one, or anywhere. Every field has its unit in
its name; see `Hardware` for what each means, and `loading` for how a file is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from .overheads import Overheads
from .positive import require_positive

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
class Level:
    """One level of what runs at the same time, inside of the one before it."""

    name: Literal["group", "subgroup", "lane", "vector"]
    """A `lane` is a work-item of 32 bits, a `vector` belongs to one work-item."""
    count: int
    """How many run at the same time; of a vector, its elements of 32 bits."""
    registers: int = 0
    """Of one lane, or vectors that a work-item may use; 0 where it has none."""
    memory_bytes: int = 0
    """That all inside of it share; 0 where it has none."""

    def __str__(self) -> str:
        """`32 lanes`."""
        if self.name == "vector":
            return f"vectors of {self.count}"
        return f"{self.count} {self.name}s"


@dataclass(frozen=True)
class Hardware:
    """The figures of a device. Raises ValueError where they can not be so."""

    name: str
    """Of the description: `cpu-avx512`."""
    kind: Literal["cpu", "gpu"]
    """Whether a work-item has vectors of its own, or is a lane of one."""
    cores: int
    """Cores of a CPU, multiprocessors of a GPU: what runs work-groups at the same
    time."""
    clock_gigahertz: float
    """Under a load of multiply-adds on all cores."""
    vector_bits: int
    """The width of a vector register of a CPU; of a GPU, the 32-bit lanes that run as
    one (a warp, wavefront or sub-group) times 32. A power of two."""
    vector_registers: int
    """Vector registers that a work-item may use before values spill to memory; of a
    GPU, 32-bit registers of a lane."""
    multiply_adds_per_cycle: float
    """Vector multiply-adds that one core starts per cycle."""
    multiply_add_latency_cycles: float
    """From an accumulator to its next value."""
    loads_per_cycle: float
    """Vector (or scalar, or broadcast) loads that one core starts per cycle."""
    stores_per_cycle: float
    """Vector stores that one core starts per cycle."""
    cache_line_bytes: int
    """What is moved between caches and memory at a time."""
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
    local_memory_bytes: int
    """Of one work-group."""
    work_group_size: int
    """Work-items of a group that are worth having: 1 on CPUs."""
    work_group_limit: int
    """The most work-items of a group."""
    overheads: Overheads
    """What a core loses beside its work."""
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
        if self.kind not in ("cpu", "gpu"):
            raise ValueError(f"kind: expected 'cpu' or 'gpu', got '{self.kind}'")
        if not self.caches:
            raise ValueError("caches: expected one or more")
        require_positive(self)
        if self.vector_bits < 32 or self.vector_bits.bit_count() != 1:
            raise ValueError(
                f"vector_bits: expected a power of two from 32 on, "
                f"got {self.vector_bits}"
            )
        if self.work_group_size > self.work_group_limit:
            raise ValueError(
                f"work_group_size: expected at most work_group_limit, "
                f"{self.work_group_limit}, got {self.work_group_size}"
            )

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """What runs at the same time, from the whole device inwards.

        Work-groups on cores; then either vectors, or sub-groups of lanes. Who asks what
        a device is like goes by these.
        """
        groups = Level("group", self.cores, memory_bytes=self.local_memory_bytes)
        width = self.vector_bits // 32
        if self.kind == "cpu":
            return groups, Level("vector", width, self.vector_registers)
        subgroups = Level("subgroup", max(self.work_group_size // width, 1))
        return groups, subgroups, Level("lane", width, self.vector_registers)

    @cached_property
    def has_vectors(self) -> bool:
        """Whether a work-item has vectors; else it is a lane among others."""
        return self.levels[-1].name == "vector"

    @property
    def items_at_once(self) -> int:
        """The work-items that run as one."""
        return 1 if self.has_vectors else self.levels[-1].count

    @property
    def own_cache_bytes(self) -> int:
        """The size of the last cache that a core has for itself, or 0."""
        own = (cache.size_bytes for cache in self.caches if not cache.is_shared)
        return max(own, default=0)

    @property
    def multiply_adds_per_second(self) -> float:
        """Multiply-adds of 32-bit floats on all cores, at best."""
        lanes = self.vector_bits // 32
        per_cycle = self.cores * self.multiply_adds_per_cycle * lanes
        return per_cycle * self.clock_gigahertz * 1e9
