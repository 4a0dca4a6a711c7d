"""`tile-cache`: what compiled programs are on disk.

tile-cache            the folder, how much it holds, and the programs used last
tile-cache --files    all programs, with the files that they are in
tile-cache --clear    remove everything from the folder
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from .command import ArgumentParser, run_command, show

_MOST_SHOWN = 10
_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-cache",
        description="Show or clear the compiled programs on disk.",
        allow_abbrev=False,
    )
    parser.add_argument("--files", action="store_true", help="list all programs")
    parser.add_argument("--clear", action="store_true", help="remove all programs")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    from ..runtime.cache.programs import program_store
    from ..runtime.cache.store import PROGRAM
    from ..targets.host_arrays import format_bytes

    store = program_store()
    if store is None:
        show("programs are kept in memory only: GINGHAM_CACHE=on keeps them on disk")
        return 0
    files = store.files()
    programs = [file for file in reversed(files) if file.kind == PROGRAM]
    total = sum(file.size for file in files)
    show(f"folder: {store.folder}")
    show(f"{_programs(len(programs))}, {format_bytes(total)}", end="")
    show(f" of at most {format_bytes(store.limit_bytes)}")
    shown = programs if options.files else programs[:_MOST_SHOWN]
    now = time.time()
    for file, title in zip(shown, store.titles(shown), strict=True):
        age = _age(now - file.used)
        show(f"  {title or 'unknown'}: {format_bytes(file.size)}, used {age}")
        if options.files:
            show(f"    {file.name}")
    if len(shown) < len(programs):
        show(f"  and {len(programs) - len(shown)} more: --files lists all")
    if options.clear:
        show(f"removed {_programs(store.clear())}")
    return 0


def _programs(count: int) -> str:
    return "1 program" if count == 1 else f"{count} programs"


def _age(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    for unit, length in _UNITS:
        count = int(seconds // length)
        if count > 0:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


if __name__ == "__main__":
    sys.exit(main())
