"""The command: `python -m bench [NAME ...] [--peers P,...] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys

from .cases import CASES, select
from .contest import Contest, Row
from .peers import PEERS
from .report import as_json, print_tables


def main() -> int:
    """Measure, print tables, write files; 1 when a result is wrong or missing."""
    options = _arguments()
    # NumPy always takes part: the results of all others are checked against its own.
    others = [name for name in options.peers.split(",") if name]
    peers = [*dict.fromkeys(("gingham", *others, "numpy"))]
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        print(f"no peer {unknown[0]}; there are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    pythons = dict(entry.split("=", 1) for entry in options.python)
    cases = select(CASES, options.names)
    if not cases:
        print(f"no benchmark has {' or '.join(options.names)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    with Contest(peers, pythons, options.device) as contest:
        for case in cases:
            print(f"\r{case.name:60}", end="", file=sys.stderr, flush=True)
            rows.append(contest.run(case, options.seconds, options.rounds))
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(as_json(rows), file, indent=2)
    if options.plot:
        _plot(rows, options.plot)
    print_tables(rows, None if sys.stdout.isatty() else 140)
    return 0 if all(row.is_correct for row in rows) else 1


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
