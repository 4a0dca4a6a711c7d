"""`tile-cache`: what compiled programs are on disk.

tile-cache            the folder, how much it holds, and since when
tile-cache --files    also each program, the one used last at the top
tile-cache --clear    remove them all
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from .command import ArgumentParser, run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-cache",
        description="Show or clear the compiled programs on disk.",
        allow_abbrev=False,
    )
    parser.add_argument("--files", action="store_true", help="list each program")
    parser.add_argument("--clear", action="store_true", help="remove all programs")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    from ..runtime.program_cache import CACHE_VARIABLE, program_store
    from ..targets.opencl.host_memory import format_bytes

    store = program_store()
    if store is None:
        print(
            f"programs are kept in memory only: {CACHE_VARIABLE}=on keeps them on disk"
        )
        return 0
    files = store.files()
    total = sum(file.size for file in files)
    print(f"folder: {store.folder}")
    print(f"{_programs(len(files))}, {format_bytes(total)}", end="")
    print(f" of at most {format_bytes(store.limit_bytes)}")
    if options.files:
        for file in reversed(files):
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.used))
            print(f"  {file.name}  {format_bytes(file.size)}, used {used}")
    if options.clear:
        print(f"removed {_programs(store.clear())}")
    return 0


def _programs(count: int) -> str:
    return "1 program" if count == 1 else f"{count} programs"
