"""The command: `python -m bench [NAME ...] [--peers P,...] [--json FILE]`.

On a GPU the arrays of all contenders lie in its memory, the benchmarks are those of the
list `device`, and times are of calls behind each other that nobody waits for.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence

from .cases import LISTS, Case, select
from .contest import Contest, Row, place_of
from .device_report import print_device_tables
from .peers import PEERS, Place
from .report import as_json, print_tables

_SHARE = 3.0
"""A benchmark may take so many times its share of the time that is left."""


def main() -> int:
    """Measure, print tables, write files; 1 when a result is wrong or missing."""
    options = _arguments()
    place: Place = options.arrays or place_of(options.device)
    others = [name for name in options.peers.split(",") if name]
    if place == "host":
        # NumPy takes part: the results of all others are checked against its own.
        others.append("numpy")
    peers = [*dict.fromkeys(("gingham", *others))]
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        print(f"no peer {unknown[0]}; there are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    pythons = dict(entry.split("=", 1) for entry in options.python)
    names = [*options.names, *filter(None, options.only.split(","))]
    cases = select(LISTS[options.list or place], names)
    if not cases:
        print(f"no benchmark has {' or '.join(names)}", file=sys.stderr)
        return 2
    with Contest(peers, pythons, options.device, place) as contest:
        rows = _rows(contest, cases, options)
        absent = contest.absent
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(as_json(rows), file, indent=2)
    if options.plot:
        _plot(rows, options.plot)
    width = None if sys.stdout.isatty() else 140
    if place == "host":
        print_tables(rows, width)
    else:
        print_device_tables(rows, width, absent)
    return 0 if all(row.is_correct for row in rows) else 1


def _rows(
    contest: Contest, cases: Sequence[Case], options: argparse.Namespace
) -> list[Row]:
    """What is found of the cases, of as many as there is time for."""
    end = time.monotonic() + (options.budget or math.inf)
    contest.open()
    for name, why in contest.absent.items():
        print(f"no {name}: {why}", file=sys.stderr)
    rows: list[Row] = []
    for number, case in enumerate(cases):
        left = end - time.monotonic()
        if rows and left <= 0:
            missed = ", ".join(each.name for each in cases[number:])
            print(f"\rno time was left for: {missed}", file=sys.stderr)
            break
        print(f"\r{case.name:60}", end="", file=sys.stderr, flush=True)
        # Of those that follow each may take as long; what one leaves is for them.
        at_most = left / (len(cases) - number) * _SHARE
        rows.append(contest.run(case, options.seconds, options.rounds, at_most))
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    return rows


def _plot(rows: list[Row], path: str) -> None:
    try:
        from .plot import plot
    except ImportError:
        print("no picture: Matplotlib is not installed", file=sys.stderr)
        return
    plot(rows, path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure Gingham against peers, each in a process of its own.",
    )
    parser.add_argument(
        "names", nargs="*", help="only benchmarks whose name has this, or of this group"
    )
    parser.add_argument(
        "--peers",
        default="numpy",
        help=f"which peers, by commas (default numpy): {', '.join(PEERS)}",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="NAME,...",
        help="further names, by commas",
    )
    parser.add_argument(
        "--list",
        choices=[*LISTS],
        help="which benchmarks: those for CPUs, for GPUs (default on one), or odd "
        "shapes for GPUs",
    )
    parser.add_argument(
        "--arrays",
        choices=["host", "device"],
        help="whose memory inputs and results are in (default: a GPU's own)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        metavar="SECONDS",
        help="for all benchmarks together, with preparations (default: no limit)",
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PEER=PATH",
        help="the Python interpreter of a peer that lives in another environment",
    )
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument("--json", metavar="FILE", help="also write all figures there")
    parser.add_argument("--plot", metavar="FILE", help="also draw the ratios there")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="time for each benchmark (default 3)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="turns (default 5)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
