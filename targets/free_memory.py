"""How much of the host's memory this process may still use.

What the operating system calls available, within `ulimit -v` and the limits of the
control groups that the process is in: a container may have less than its machine. Where
nothing is known, as on other systems than Linux, that is said, and a caller takes what
the device tells.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_MEMORY = "/proc/meminfo"
_GROUPS = "/proc/self/cgroup"
_OWN_PAGES = "/proc/self/statm"
_MOUNT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class HostMemory:
    """Bytes that the process may use in all, can still get, and has in real pages."""

    total: int
    available: int
    resident: int


@dataclass(frozen=True)
class _Files:
    """What the files of a control group's version are called."""

    mount: Path
    limit: str
    usage: str
    reclaimable: str
    """The line of `memory.stat` with what the system gives back when asked."""


SECOND_VERSION = _Files(_MOUNT, "memory.max", "memory.current", "inactive_file")
FIRST_VERSION = _Files(
    _MOUNT / "memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
)


def host_memory() -> HostMemory | None:
    """The memory of this process as it is now; None where the system does not tell."""
    try:
        lines = Path(_MEMORY).read_text().splitlines()
        figures = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}
        total, available = figures["MemTotal"], figures["MemAvailable"]
        size = os.sysconf("SC_PAGE_SIZE")
        pages = Path(_OWN_PAGES).read_text().split()
        addresses, resident = (int(number) * size for number in pages[:2])
    except (OSError, ValueError, LookupError, AttributeError):
        return None
    for limit, left in [*_limits(), *_address_limit(addresses)]:
        total = min(total, limit)
        available = min(available, left)
    return HostMemory(total, max(available, 0), resident)


def _address_limit(used: int) -> list[tuple[int, int]]:
    """What `ulimit -v` leaves a process that uses so many addresses, if it is set."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if limit == resource.RLIM_INFINITY else [(limit, limit - used)]


def _limits() -> list[tuple[int, int]]:
    """The limit of each control group around this process, and what is left of it."""
    try:
        lines = Path(_GROUPS).read_text().splitlines()
    except OSError:
        return []
    limits: list[tuple[int, int]] = []
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers:
            limits += _around(SECOND_VERSION, path)
        elif "memory" in controllers.split(","):
            limits += _around(FIRST_VERSION, path)
    return limits


def _around(files: _Files, path: str) -> list[tuple[int, int]]:
    # In a container the mount begins at its own group, so some of these are not there.
    folder = files.mount / path.strip("/")
    groups = [folder, *folder.parents]
    inside = [each for each in groups if each.is_relative_to(files.mount)]
    found = [_limit(files, each) for each in inside]
    return [each for each in found if each is not None]


def _limit(files: _Files, group: Path) -> tuple[int, int] | None:
    try:
        limit = int((group / files.limit).read_text())
        usage = int((group / files.usage).read_text())
        lines = (group / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):  # not there, or "max"
        return None
    words = [line.split() for line in lines]
    given_back = [int(word[1]) for word in words if word[0] == files.reclaimable]
    return limit, limit - usage + sum(given_back)
