"""`tile-opt`: runs passes over a program. `tile-opt --help` says how."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

from .command import open_closed_streams


def main() -> int:
    """The command; returns its exit status."""
    # Most of a short run is the import of modules, whose objects all stay: looking
    # for garbage among them costs a tenth of it.
    gc.set_threshold(100_000)
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")

    from .optimizer.driver import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
