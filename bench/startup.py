"""How long a process takes to its first result: `python -m bench.startup`.

Each process imports NumPy, then Gingham, compiles ResNet-50 from Tile text and calls it
once, with weights that are there. The first one finds an empty cache, the others find
what it has stored. From what the first call takes, that of a call afterwards is taken
away, so that what is left is no work of the network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from tempfile import TemporaryDirectory

_PARTS = ("Python", "NumPy", "Gingham", "all")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 when a second process takes longer than allowed."""
    parser = argparse.ArgumentParser(prog="python -m bench.startup")
    parser.add_argument("--processes", type=int, default=10, help="after the first")
    parser.add_argument("--size", type=int, default=224, help="of the image (224)")
    parser.add_argument(
        "--limit",
        type=float,
        default=0.2,
        metavar="S",
        help="seconds that Gingham may take in a second process (default 0.2)",
    )
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="gingham-startup-") as folder:
        first = _process(folder, options.size)
        others = [_process(folder, options.size) for _ in range(options.processes)]
    fastest = [min(times) for times in zip(*others, strict=True)]
    medians = [sorted(t)[len(t) // 2] for t in zip(*others, strict=True)]
    _print(first, fastest, medians)
    return 0 if fastest[_PARTS.index("Gingham")] <= options.limit else 1


def _print(*columns: Sequence[float]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Seconds to the first result of ResNet-50, without its work")
    table.add_column("")
    for heading in ("empty cache", "compiled before: fastest", "median"):
        table.add_column(heading, justify="right")
    for part, *times in zip(_PARTS, *columns, strict=True):
        table.add_row(part, *(f"{seconds:.3f}" for seconds in times))
    Console(width=None if sys.stdout.isatty() else 110).print(table)


def _process(folder: str, size: int) -> list[float]:
    """The seconds of each of the parts in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-m", "bench.first_result", repr(time.time()), str(size)],
        env={**os.environ, "GINGHAM_CACHE": folder, "GINGHAM_SETTINGS": "off"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(result.stdout)


if __name__ == "__main__":
    sys.exit(main())
