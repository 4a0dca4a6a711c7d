"""`tile-opt`: runs passes over a program. `tile-opt --help` says how."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

from ..garbage import rare_collections
from .command import open_closed_streams


def main() -> int:
    """The command; returns its exit status."""
    # Imports, too: looking for garbage among what they make is a tenth of a short run.
    with rare_collections():
        try:
            return _run()
        finally:
            # The process ends, and would search twice more, when the thresholds are as
            # before and at exit, which takes a sixth of a short run.
            gc.freeze()


def _run() -> int:
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")

    from .optimizer.driver import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
