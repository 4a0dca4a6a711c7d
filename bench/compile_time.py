"""How compile time grows with a program: `python -m bench.compile_time [FAMILY ...]`.

Programs of each family (chains, trees, layers, networks, and their gradients) are
compiled at several sizes, and each pass, the verifier and the device's compiler are
measured in processor time, since the machine may be shared. Each program has a process
of its own, in which a small one of its family is compiled before, so that imports do
not count. `exponent` is the slope of time over statements, both as logarithms, from 100
statements on: 1 is linear.

`training` is a training step of ResNet-50. The exit status is 1 when a program takes
longer than allowed for each of its statements.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import gingham
from gingham import observation

from .growing import FAMILIES, ProgramText
from .measured import DRIVER, Measured
from .training import resnet50_training

_SIZES = (10, 30, 100, 300, 1000)
_LARGE = 100
"""Statements from which on the growth is fitted."""
_VISIBLE = 0.01
"""The part of a family's time that gives something a row of its own."""
_WORDS = {"print OpenCL C": "print", "build": DRIVER, "passes": "other"}
"""What the compiler's own words for its steps are here."""
_TRAINING = "training"


@dataclass
class _Watch:
    """Counts processor time from one thing that the compiler has done to the next."""

    wants_passes: bool = True
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    driver_wall: float = 0.0
    operations: int = 0
    _before: float = field(default_factory=time.process_time)

    def count(self, name: str) -> None:
        """Something has been done since the last time."""
        now = time.process_time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._before
        self._before = now

    # As an observer: see `gingham.observation`.

    def is_calling(self, function: object) -> bool:
        return True

    def call(self, function: Any, run: Any) -> Any:
        return run()

    def span(self, category: str, name: str, start: int) -> int:
        now = observation.now()
        if name == "build":
            self.driver_wall += (now - start) * 1e-9
        self.count(_WORDS.get(name, name))
        return now

    def stage(self, name: str, module: Any) -> None:
        if name == "tile":
            self.operations = sum(1 for op in module.walk() if op.results)
        # A stage ends with the verifier, where it verifies.
        self.count("specialize" if name == "specialized" else "verify")

    def after_pass(self, name: str, start: int, module: Any) -> None:
        self.count(name)

    def source(self, text: str, language: str) -> None: ...

    def time(self, queue: Any) -> None: ...

    def launched(self, queue: Any, launches: Sequence[Any], events: Any) -> None: ...

    def copied(self, queue: Any, name: str, size: int, event: Any) -> None: ...

    def ended(self) -> None: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print tables; 1 when something takes longer than allowed."""
    options = _arguments(arguments)
    if options.one:
        print(json.dumps(asdict(_measured(*options.one))))
        return 0
    names = options.families or [*FAMILIES, _TRAINING]
    unknown = [name for name in names if name not in (*FAMILIES, _TRAINING)]
    if unknown:
        families = ", ".join([*FAMILIES, _TRAINING])
        print(f"no family '{unknown[0]}'; there are {families}", file=sys.stderr)
        return 2
    rows: list[Measured] = []
    for name in names:
        for size in (0,) if name == _TRAINING else options.sizes:
            line = f"{name} {size}"
            print(f"\r{line:60}", end="", file=sys.stderr, flush=True)
            rows.append(_in_process(name, size))
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([{**asdict(row), "total": row.total} for row in rows], file)
    if options.plot:
        _plot(rows, options.plot)
    _print(rows)
    slow = [row for row in rows if _too_slow(row, options.limit)]
    for row in slow:
        print(f"{row.family} {row.statements}: {row.total:.1f} s", file=sys.stderr)
    return 1 if slow else 0


def _too_slow(row: Measured, limit: float) -> bool:
    return row.statements >= _LARGE and row.total * 1e3 > limit * row.statements


def _in_process(family: str, size: int) -> Measured:
    with TemporaryDirectory(prefix="gingham-compile-time-") as folder:
        found = subprocess.run(
            [sys.executable, "-m", "bench.compile_time", "--one", family, str(size)],
            env={
                **os.environ,
                "GINGHAM_CACHE": folder,
                "GINGHAM_RECORDS": "off",
                "GINGHAM_SETTINGS": "off",
            },
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    return Measured(**json.loads(found.stdout))


def _measured(family: str, size: str) -> Measured:
    """Compile a program in this process, and a small one before."""
    import resource

    is_training = family == _TRAINING
    build: Callable[[int], ProgramText] = FAMILIES["convolutions, gradients"]
    _compile(build(9) if is_training else FAMILIES[family](9), _Watch())
    program = resnet50_training() if is_training else FAMILIES[family](int(size))
    watch = _Watch()
    _compile(program, watch)
    return Measured(
        family,
        int(size) or watch.operations,
        watch.operations,
        watch.seconds,
        watch.driver_wall,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _compile(program: ProgramText, watch: _Watch) -> None:
    import numpy as np

    text, shapes = program
    arrays = [np.empty(shape, np.float32) for shape in shapes]
    observation.observer = watch
    watch.count("other")
    function = gingham.compile(text, tuned=False)
    watch.count("parse")
    function.prepare(arrays)
    watch.count("other")
    observation.observer = None


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """The slope of seconds over statements, as logarithms; None where none is known."""
    known = [(math.log(n), math.log(s)) for n, s in points if n >= _LARGE and s > 0]
    if len(known) < 2:
        return None
    middle = [sum(axis) / len(known) for axis in zip(*known, strict=True)]
    spread = sum((x - middle[0]) ** 2 for x, _ in known)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in known) / spread


def _print(rows: Sequence[Measured]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 120)
    families = {row.family: [r for r in rows if r.family == row.family] for row in rows}
    for family, sizes in families.items():
        table = Table(title=f"{family}: seconds of processor time")
        table.add_column("")
        for row in sizes:
            table.add_column(str(row.statements), justify="right")
        table.add_column("exponent", justify="right")
        for name in _visible(sizes):
            points = [(row.statements, row.seconds.get(name, 0.0)) for row in sizes]
            table.add_row(name, *_cells(points))
        table.add_section()
        table.add_row("all", *_cells([(row.statements, row.total) for row in sizes]))
        console.print(table)
    summary = Table(title="Largest programs")
    summary.add_column("")
    for heading in ("statements", "operations", "own s", "driver s", "driver wall s"):
        summary.add_column(heading, justify="right")
    summary.add_column("exponent of own", justify="right")
    summary.add_column("MB", justify="right")
    for family, sizes in families.items():
        row = sizes[-1]
        own = [(each.statements, each.own) for each in sizes]
        summary.add_row(
            family,
            str(row.statements),
            str(row.operations),
            f"{row.own:.2f}",
            f"{row.seconds.get(DRIVER, 0.0):.2f}",
            f"{row.driver_wall:.2f}",
            _slope(own),
            f"{row.megabytes:.0f}",
        )
    console.print(summary)


def _visible(rows: Sequence[Measured]) -> list[str]:
    """What takes a part of a family's largest program that is worth a row."""
    largest = rows[-1]
    names = dict.fromkeys(name for row in rows for name in row.seconds)
    least = _VISIBLE * largest.total
    return [name for name in names if largest.seconds.get(name, 0.0) >= least]


def _cells(points: Sequence[tuple[int, float]]) -> list[str]:
    return [*(f"{seconds:.3f}" for _, seconds in points), _slope(points)]


def _slope(points: Sequence[tuple[int, float]]) -> str:
    found = exponent(points)
    return "" if found is None else f"{found:.2f}"


def _plot(rows: Sequence[Measured], path: str) -> None:
    try:
        from .plot import plot_growth
    except ImportError:
        print("no picture: Matplotlib is not installed", file=sys.stderr)
        return
    plot_growth(rows, path)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.compile_time",
        description="Measure how compile time grows with the size of a program.",
    )
    parser.add_argument(
        "families", nargs="*", help=f"which: {', '.join(FAMILIES)}, {_TRAINING}"
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=_SIZES,
        metavar="N,...",
        help=f"statements (default {','.join(map(str, _SIZES))})",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=20.0,
        metavar="MS",
        help="milliseconds that each statement of 100 or more may take (default 20)",
    )
    parser.add_argument("--json", metavar="FILE", help="also write all figures there")
    parser.add_argument("--plot", metavar="FILE", help="also draw them there")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted(int(size) for size in text.split(",")))
    if not sizes or sizes[0] < 1:
        raise ValueError
    return sizes


if __name__ == "__main__":
    sys.exit(main())
