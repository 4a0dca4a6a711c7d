"""The gate between two versions: `python -m bench.compare OLD [NEW]`.

Both take turns at each benchmark in one run, with NumPy, which their results are
checked against. Of each the fastest round counts: what else runs on the machine only
ever makes a round slower. What fails is measured a second time, by new processes, and
its rounds are pooled. The exit status is 1 when the new version is slower than the
limits allow, wrong, or without a result that the old one has.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .cases import LISTS, Case, select
from .contest import Contest, Result, Row, place_of
from .report import as_json, geometric_mean
from .versions import ROOT, VersionError, interpreter_of

_ALL = "all rows"
_NEW, _OLD, _REFERENCE = "gingham", "gingham-old", "numpy"


@dataclass(frozen=True)
class Limits:
    """What the new version's time may be, as a part of the old one's."""

    row: float = 1.10
    mean: float = 1.02


@dataclass(frozen=True)
class Verdict:
    """What was found of each row, and what is held against the new version."""

    ratios: dict[str, float]
    """New time over old, of the rows that both have."""
    faults: dict[str, str]
    """Rows that fail, and why; under "all rows" what fails of them together."""

    @property
    def mean(self) -> float | None:
        """The geometric mean of the ratios, None where there are none."""
        return geometric_mean(list(self.ratios.values())) if self.ratios else None


def judge(rows: Sequence[Row], limits: Limits) -> Verdict:
    """Hold rows, in which "gingham" and "gingham-old" took part, against the limits."""
    ratios = {
        row.case.name: found for row in rows if (found := _ratio(row)) is not None
    }
    faults = {
        row.case.name: fault
        for row in rows
        if (fault := _fault(row, ratios.get(row.case.name), limits))
    }
    verdict = Verdict(ratios, faults)
    if verdict.mean is None:
        faults[_ALL] = "no row has times of both"
    elif verdict.mean > limits.mean:
        faults[_ALL] = f"the mean {verdict.mean:.3f} is above {limits.mean:.3f}"
    return verdict


def _ratio(row: Row) -> float | None:
    """The new version's fastest round over the old one's, None where one has none."""
    new, old = row.result(_NEW), row.result(_OLD)
    return min(new.seconds) / min(old.seconds) if new and old else None


def _fault(row: Row, found: float | None, limits: Limits) -> str:
    if not row.ours.seconds:
        had = row.result(_OLD) is not None
        return f"is missing: {row.ours.missing}" if had else ""
    if not row.is_correct:
        return "is wrong, or there is nothing to check it against"
    if found is not None and found > limits.row:
        return f"the ratio {found:.3f} is above {limits.row:.3f}"
    return ""


def pooled(row: Row, again: Row | None) -> Row:
    """A row with the rounds of two measurements; what was wrong in one is wrong."""
    if again is None:
        return row
    pairs = zip(row.results, again.results, strict=True)
    return Row(row.case, tuple(_pooled(first, second) for first, second in pairs))


def _pooled(first: Result, second: Result) -> Result:
    if not (first.seconds and second.seconds):
        return first if first.seconds else second
    errors = (first.error, second.error)
    return Result(
        first.peer,
        first.seconds + second.seconds,
        first.first_seconds,
        None if None in errors else max(e for e in errors if e is not None),
    )


def _measure(
    cases: Sequence[Case], pythons: dict[str, str], options: argparse.Namespace
) -> list[Row]:
    rows: list[Row] = []
    place = place_of(options.device)
    peers = (_NEW, _OLD, _REFERENCE) if place == "host" else (_NEW, _OLD)
    with Contest(peers, pythons, options.device, place) as contest:
        for case in cases:
            print(f"\r{case.name:60}", end="", file=sys.stderr, flush=True)
            rows.append(contest.run(case, options.seconds, options.rounds))
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    return rows


def main() -> int:
    """Measure both versions, print and judge; 2 when there is nothing to measure."""
    options = _arguments()
    limits = Limits(options.row_limit, options.mean_limit)
    cases = select(LISTS[place_of(options.device)], options.names)
    if not cases:
        print(f"no benchmark has {' or '.join(options.names)}", file=sys.stderr)
        return 2
    try:
        pythons = {
            _OLD: str(interpreter_of(options.old, options.folder)),
            _NEW: str(interpreter_of(options.new, options.folder)),
        }
    except VersionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = _measure(cases, pythons, options)
    faults = judge(rows, limits).faults
    if faults:
        # For the mean all of them: the slower half alone would only come out faster.
        failed = [c for c in cases if c.name in faults or _ALL in faults]
        again = {row.case.name: row for row in _measure(failed, pythons, options)}
        rows = [pooled(row, again.get(row.case.name)) for row in rows]
    verdict = judge(rows, limits)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            found = {"ratios_to_old": verdict.ratios, "faults": verdict.faults}
            json.dump({**as_json(rows), **found}, file, indent=2)
    print_verdict(rows, verdict)
    return 1 if verdict.faults else 0


def print_verdict(rows: Sequence[Row], verdict: Verdict) -> None:
    """Print each row's times and ratio, the mean and the worst row, and the faults."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Milliseconds a call, the fastest of interleaved rounds")
    table.add_column("benchmark", overflow="fold")
    for heading in ("old", "new", "new / old"):
        table.add_column(heading, justify="right")
    for row in rows:
        name = row.case.name
        times = [
            f"{min(result.seconds) * 1e3:.3f}" if result else "-"
            for result in (row.result(_OLD), row.result(_NEW))
        ]
        found = verdict.ratios.get(name)
        text = "-" if found is None else f"{found:.3f}"
        table.add_row(name, *times, text)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    if verdict.mean is not None:
        worst = max(verdict.ratios, key=lambda name: verdict.ratios[name])
        print(f"geometric mean of {len(verdict.ratios)} rows: {verdict.mean:.3f}")
        print(f"worst row: {worst}, {verdict.ratios[worst]:.3f}")
    for name, fault in verdict.faults.items():
        print(f"FAILED: {name}: {fault}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.compare",
        description="Compare the speed of two versions, in one interleaved run.",
    )
    a_version = "a commit, or a checkout with an environment .venv"
    parser.add_argument("old", help=a_version)
    parser.add_argument(
        "new", nargs="?", default="HEAD", help=f"{a_version} (default HEAD)"
    )
    parser.add_argument(
        "names", nargs="*", help="only benchmarks whose name has this, or of this group"
    )
    parser.add_argument(
        "--row-limit",
        type=float,
        default=Limits.row,
        metavar="RATIO",
        help="new time over old, at most, in each row (default %(default)s)",
    )
    parser.add_argument(
        "--mean-limit",
        type=float,
        default=Limits.mean,
        metavar="RATIO",
        help="and at most in the geometric mean of all (default %(default)s)",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "compare",
        help="where commits are installed, and found again (default build/compare)",
    )
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument("--json", metavar="FILE", help="also write all figures there")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="time for each benchmark (default 3)"
    )
    parser.add_argument("--rounds", type=int, default=7, help="turns (default 7)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
