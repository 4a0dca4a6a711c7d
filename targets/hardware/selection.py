"""Chooses the description of a device from what the device says of itself.

A CPU is known by the width of its vectors, the native one: what a runtime prefers may
be 1 where it vectorizes by itself. Intel's server cores with AVX-512 are known by their
name. A GPU is known by its vendor and its name. Figures that the device tells take the
place of those of the file; of a GPU whose vendor nobody knows these are all there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from .description import Cache, Hardware
from .loading import load_hardware

_X86_VENDORS = re.compile(r"intel|amd|advanced micro|zhaoxin|hygon", re.IGNORECASE)
_BITS_OF_A_FLOAT = 32

# More than any processor has of a shared cache for each of its cores (AMD's stacked
# cache: 12 MiB). A machine that tells more is a virtual one with few of the cores of
# its host, whose other cores fill their parts of the cache.
_MOST_SHARED_BYTES_PER_CORE = 16 << 20


class CacheSize(NamedTuple):
    """What a machine tells of one level of its caches."""

    size_bytes: int
    ways: int
    is_shared: bool


class ToldByGpu(NamedTuple):
    """What a GPU tells of itself beside its groups; 0 is "it does not say"."""

    lanes: Callable[[], int] = lambda: 0
    """Work-items that run as one, which may take a moment to find out."""
    clock_megahertz: int = 0
    cache_bytes: int = 0
    """Of the last cache."""
    line_bytes: int = 0


_TOLD_NOTHING = ToldByGpu()


class _Family(NamedTuple):
    """The GPUs that a description stands for: patterns of vendor and name."""

    vendor: str
    name: str
    description: str


ANY_GPU = "gpu"
"""The description of those that nobody knows."""

# The first that fits; the last of a vendor takes all of its others.
_FAMILIES = (
    _Family("nvidia", r"\bH[18]00\b", "nvidia-h100"),
    _Family("nvidia", r"\b(GH?[12]00|[HB][12]00|H20|GB[12]00)\b", "nvidia-h200"),
    _Family("nvidia", r"\b(A100|A800|A30|V100|P100)\b", "nvidia-a100"),
    _Family("nvidia", r"", "nvidia-rtx-4090"),
    _Family("amd|advanced micro", r"\bMI\d|gfx9|Instinct", "amd-mi300x"),
    _Family("amd|advanced micro", r"", "amd-rdna3"),
    _Family("intel", r"\bMax\b", "intel-max"),
    _Family("intel", r"", "intel-arc"),
    _Family("", r"", ANY_GPU),
)


def select_hardware(
    kind: str,
    vendor: str,
    name: str,
    *,
    native_float_width: int,
    compute_units: int,
    local_memory_bytes: int,
    work_group_limit: int = 0,
    caches: Sequence[CacheSize] = (),
    told: ToldByGpu = _TOLD_NOTHING,
) -> Hardware:
    """The description of a device with these OpenCL properties; 0 is "it does not say".

    `kind` is "gpu", or anything else for a device that is described as a CPU. `caches`
    are those of the machine that a CPU device runs on, the nearest first; a described
    level that they lack is left out, and one more than described is not taken. Of a
    shared level a device counts on 16 MiB for each of its cores at most. `told` is for
    GPUs, and asked of those that no description is of.
    """
    if kind == "gpu":
        hardware = load_hardware(_gpu_description(vendor, name))
        if hardware.name == ANY_GPU:
            limit = work_group_limit or hardware.work_group_limit
            hardware = _as_told(hardware, told, limit, local_memory_bytes)
    else:
        hardware = _cpu(vendor, name, native_float_width)
        sizes = [_share(cache, compute_units) for cache in caches]
        hardware = replace(hardware, caches=_with_sizes(hardware.caches, sizes))
    cores = -(-compute_units // hardware.compute_units_per_core)
    return hardware.with_level(
        "group",
        count=cores or hardware.cores,
        memory_bytes=local_memory_bytes or hardware.local_memory_bytes,
        item_limit=work_group_limit or hardware.work_group_limit,
    )


def _gpu_description(vendor: str, name: str) -> str:
    return next(
        family.description
        for family in _FAMILIES
        if re.search(family.vendor, vendor, re.IGNORECASE)
        and re.search(family.name, name, re.IGNORECASE)
    )


def _as_told(
    hardware: Hardware, told: ToldByGpu, group_limit: int, memory_bytes: int
) -> Hardware:
    """A description of any GPU with the figures of one.

    With other lanes as many of them as before work at once.
    """
    before, items = hardware.innermost.count, hardware.work_group_size
    lanes = told.lanes()
    if lanes.bit_count() != 1 or lanes > group_limit:
        lanes = before
    hardware = hardware.with_level("lane", count=lanes)
    groups = max(min(items, group_limit) // lanes, 1)
    hardware = hardware.with_level("subgroup", count=groups)
    for each in hardware.instructions:
        per_cycle = each.per_cycle * before / lanes
        hardware = hardware.with_instruction(each.name, per_cycle=per_cycle)
    first, last = hardware.caches
    line = told.line_bytes or hardware.cache_line_bytes
    if told.cache_bytes > first.size_bytes and told.cache_bytes % line == 0:
        last = replace(last, size_bytes=told.cache_bytes)
    memory = max(memory_bytes, hardware.lanes.core_memory_bytes)
    return replace(
        hardware,
        clock_gigahertz=told.clock_megahertz / 1000 or hardware.clock_gigahertz,
        cache_line_bytes=line,
        caches=(first, last),
        lanes=replace(hardware.lanes, core_memory_bytes=memory),
    )


def _cpu(vendor: str, name: str, native_float_width: int) -> Hardware:
    """The description with the widest vectors that the device has.

    Of those with AVX-512 the name tells whose cores they are: the vendor may be that of
    the runtime, which is Intel's on AMD's too.
    """
    bits = max(native_float_width, 1) * _BITS_OF_A_FLOAT
    if bits >= 512:
        is_mesh = re.search(r"\bXeon\b", name, re.IGNORECASE)
        hardware = load_hardware("cpu-avx512-xeon" if is_mesh else "cpu-avx512")
    elif bits >= 256:
        hardware = load_hardware("cpu-avx2")
    elif _X86_VENDORS.search(vendor):
        # SSE: half of AVX's width, the same count, and most else alike.
        hardware = load_hardware("cpu-avx2")
    else:
        hardware = load_hardware("cpu-neon")
    return hardware.with_vectors(bits)


def _share(cache: CacheSize, cores: int) -> CacheSize:
    """What of a cache is there for a device with so many cores."""
    if not cache.is_shared or not cores:
        return cache
    most = cores * _MOST_SHARED_BYTES_PER_CORE
    return cache._replace(size_bytes=min(cache.size_bytes, most))


def _with_sizes(
    described: Sequence[Cache], told: Sequence[CacheSize]
) -> tuple[Cache, ...]:
    """The described levels with the sizes that a machine tells of its own."""
    if not told:
        return tuple(described)
    return tuple(
        replace(level, **size._asdict())
        for level, size in zip(described, told, strict=False)
    )
