"""How many cores there are for this process."""

from __future__ import annotations

import os


def core_count() -> int:
    """The cores that the operating system lets this process run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
