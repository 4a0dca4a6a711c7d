"""The command: `python -m bench.rank [NAME ...] [--count N] [--keep FOLDER]`.

How well the cost model ranks. For programs that differ in kind, decisions all over
the space are compiled and measured, good and bad ones, and compared with the times that
the model predicts. What is printed is Spearman's rank correlation: 1 when the model
puts them into the order of their times, 0 when it might as well guess. Beside it that
of the half which the model holds for the faster, where decisions are much nearer to
each other; and how much slower than the fastest measured one is that which the model
likes best among them.

Measured by `tile-tune`, one after the other, each in turn with the model's own choice:
what counts is the ratio of the two, so that it hardly matters when a machine is slower
for a while. `--list device` has large programs for GPUs, where the arrays stay on the
device, and runs follow each other. All takes some ten minutes. With `--keep` a run that
was ended goes on where it stood, and `--turn` ends it after some seconds, to let others
measure.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .rank_cases import LISTS, Ranked

_UNFINISHED = 3


@dataclass(frozen=True)
class Ranking:
    """How predictions and measurements of one program go together."""

    name: str
    candidates: int
    correlation: float
    faster_half: float
    """The correlation among the half that is predicted to be faster."""
    first_choice: float
    """The time of what the model likes best, by the fastest that was measured."""
    fastest_ms: float
    slowest_ms: float
    failed: int
    predicted: tuple[float, ...]
    measured: tuple[float, ...]


def main() -> int:
    """Measure, print a table, write JSON.

    The status is 1 where a correlation is below the goal, 3 where a turn has ended
    before all is measured.
    """
    options = _options()
    chosen = [
        each
        for each in LISTS[options.list]
        if not options.names or any(n in each.name for n in options.names)
    ]
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(options.keep or temporary)
            folder.mkdir(parents=True, exist_ok=True)
            bench = _Bench(folder, options)
            rankings = [_rank(each.name, bench.measure(each)) for each in chosen]
    except subprocess.TimeoutExpired:
        print("not done yet: the same command goes on", file=sys.stderr)
        return _UNFINISHED
    _print_table(rankings, options.goal)
    if options.json:
        text = json.dumps([asdict(ranking) for ranking in rankings], indent=2)
        Path(options.json).write_text(text, encoding="utf-8")
    if options.plot:
        from .plot import plot_ranking

        plot_ranking(
            [(r.name, r.predicted, r.measured) for r in rankings], options.plot
        )
    return 0 if all(r.correlation >= options.goal for r in rankings) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.rank",
        description="Compare the order of predicted times with that of measured ones.",
    )
    parser.add_argument("names", nargs="*", help="only programs whose name has this")
    parser.add_argument("--list", choices=LISTS, default="usual", help="of programs")
    parser.add_argument("--count", type=int, default=64, help="decisions (default 64)")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each of them")
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument("--goal", type=float, default=0.8, help="(default 0.8)")
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--plot", metavar="FILE", help="draw them there (Matplotlib)")
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep what is measured there, and go on from it",
    )
    parser.add_argument(
        "--turn", type=float, metavar="SECONDS", help="end after so long (with --keep)"
    )
    return parser.parse_args()


def _rank(name: str, records: list[dict[str, Any]]) -> Ranking:
    # What else the program has beside the block has fewer decisions.
    units = [record["unit"] for record in records]
    unit = max(set(units), key=units.count)
    own = [record for record in records if record["unit"] == unit]
    good = [record for record in own if record["status"] == "ok"]
    good.sort(key=lambda record: record["predicted_seconds"])
    predicted = [float(record["predicted_seconds"]) for record in good]
    # The model's own choice, at the best that the machine did.
    choice = min(record["seconds"] * record["speedup"] for record in good)
    measured = [choice / float(record["speedup"]) for record in good]
    half = len(good) // 2
    return Ranking(
        name,
        len(good),
        spearman(predicted, measured),
        spearman(predicted[:half], measured[:half]),
        measured[0] / min(measured),
        min(measured) * 1e3,
        max(measured) * 1e3,
        len(own) - len(good),
        tuple(predicted),
        tuple(measured),
    )


class _Bench:
    """Has decisions measured, and keeps the records in a folder."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self._folder = folder
        self._options = options
        self._end = None if options.turn is None else time.monotonic() + options.turn

    def measure(self, program: Ranked) -> list[dict[str, Any]]:
        """The records of `tile-tune` for decisions all over the space."""
        options = self._options
        stem = "".join(c if c.isalnum() else "-" for c in program.name)
        text = self._folder / f"{stem}.tile"
        text.write_text(program.text, encoding="utf-8")
        records = ["--records", str(self._folder / f"{stem}.sqlite")]
        done = self._folder / f"{stem}.json"
        if not done.exists():
            run = ["run", str(text), "--shape", *program.shapes, "--spread"]
            run += ["--count", str(options.count), "--seconds", str(options.seconds)]
            if options.device is not None:
                run += ["--device", options.device]
            self._tile_tune([*run, *records])
            shown = self._tile_tune(["show", "--all", "--json", *records])
            done.write_text(shown, encoding="utf-8")
        found: list[dict[str, Any]] = json.loads(done.read_text(encoding="utf-8"))
        return found

    def _tile_tune(self, arguments: Sequence[str]) -> str:
        """Run the command; raises TimeoutExpired when the turn is over."""
        command = [sys.executable, "-m", "gingham.tools.tune", *arguments]
        left = None if self._end is None else max(self._end - time.monotonic(), 0.0)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            try:
                text, _ = running.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                # It ends its measuring processes and keeps what it has.
                running.send_signal(signal.SIGINT)
                raise
        if running.returncode:
            raise subprocess.CalledProcessError(running.returncode, command)
        return text


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """The correlation of the ranks of two rows of numbers; equal ones share a rank."""
    a, b = _ranks(left), _ranks(right)
    mean = (len(a) - 1) / 2
    above = sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True))
    below = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return above / below if below else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    return [
        (sum(other < value for other in values) + sum(o <= value for o in values) - 1)
        / 2
        for value in values
    ]


def _print_table(rankings: Sequence[Ranking], goal: float) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Predicted against measured times")
    table.add_column("program")
    headings = "decisions", "correlation", "faster half", "first choice", "ms"
    for heading in headings:
        table.add_column(heading, justify="right")
    for ranking in rankings:
        mark = "" if ranking.correlation >= goal else " (!)"
        failed = f" ({ranking.failed} failed)" if ranking.failed else ""
        table.add_row(
            ranking.name,
            f"{ranking.candidates}{failed}",
            f"{ranking.correlation:.3f}{mark}",
            f"{ranking.faster_half:.3f}",
            f"{ranking.first_choice:.2f} x fastest",
            f"{ranking.fastest_ms:.3g} to {ranking.slowest_ms:.3g}",
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    sys.exit(main())
