"""What the operating system tells of this machine."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .selection import CacheSize

_LINUX_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@cache
def host_caches() -> tuple[CacheSize, ...]:
    """The data caches of this machine's first core, the nearest first.

    Empty where the operating system does not tell.
    """
    found: dict[int, CacheSize] = {}
    threads = 1
    for folder in sorted(_LINUX_CACHES.glob("index*")):
        try:
            texts = {
                name: (folder / name).read_text().strip()
                for name in ("type", "level", "size", "shared_cpu_list")
            }
            ways = int((folder / "ways_of_associativity").read_text())
            size, level = _bytes(texts["size"]), int(texts["level"])
            users = _count(texts["shared_cpu_list"])
        except (OSError, ValueError):
            return ()
        if texts["type"] == "Instruction" or size <= 0 or ways <= 0:
            continue
        if level == 1:
            threads = users
        cores = max(users // threads, 1)
        # The last level counts as one for all cores, an inner one as that of a core.
        is_shared = level > 2 and cores > 1
        own = size if is_shared else size // cores
        found[level] = CacheSize(own, ways, is_shared)
    return tuple(found[level] for level in sorted(found))


def _count(processors: str) -> int:
    """How many there are in `0-3,8`."""
    count = 0
    for part in processors.split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count


def _bytes(text: str) -> int:
    """The number of bytes in `1024K`."""
    unit = _UNITS.get(text[-1:], 1)
    return int(text.rstrip("".join(_UNITS))) * unit
