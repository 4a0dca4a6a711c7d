"""What OpenCL's runtimes depend on beside their versions."""

from __future__ import annotations

import os

from .discovery import discover

_VARIABLES = ("CL_CONFIG_", "OCL_ICD_", "POCL_")


def driver_state() -> list[tuple[object, ...]]:
    """Their libraries, with what shows that one was replaced, and variables.

    These tell them how to compile.
    """
    states: list[tuple[object, ...]] = [
        (name, value)
        for name, value in sorted(os.environ.items())
        if name.startswith(_VARIABLES)
    ]
    for library in discover().libraries:
        # An update of one of several libraries of a runtime changes their folder.
        for path in (library, os.path.dirname(library)):
            try:
                status = os.stat(path)
            except OSError:
                continue
            states.append((path, status.st_size, status.st_mtime_ns))
    return states
