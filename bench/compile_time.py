"""How compile time grows with a program: `python -m bench.compile_time [FAMILY ...]`.

Programs of each family (chains, trees, layers, networks, and their gradients) are
compiled at several sizes, as users have them compiled: kernels go to helpers while the
passes make others. `wall` is what a user waits for. Each pass, the search for nests,
the verifier and the device's compiler are measured in processor time of the process,
since the machine may be shared, and so are all helpers together. Each program has a
process of its own, in which a small one of its family is compiled before, so that
imports do not count. `exponent` is the slope of time over statements, both as
logarithms, from 100 statements on: 1 is linear.

`training` is a training step of ResNet-50. The exit status is 1 when a user has to wait
longer for a program than allowed for each of its statements.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import gingham

from .growing import FAMILIES, ProgramText
from .measured import Measured
from .splits import SEARCH, Splits, seconds_of_helpers
from .training import resnet50_training

_SIZES = (10, 30, 100, 300, 1000)
_LARGE = 100
"""Statements from which on the growth is fitted."""
_VISIBLE = 0.01
"""The part of a family's time that gives something a row of its own."""
_TRAINING = "training"


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
        print(f"{row.family} {row.statements}: {row.wall:.1f} s", file=sys.stderr)
    return 1 if slow else 0


def _too_slow(row: Measured, limit: float) -> bool:
    return row.statements >= _LARGE and row.wall * 1e3 > limit * row.statements


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
    is_training = family == _TRAINING
    build: Callable[[int], ProgramText] = FAMILIES["convolutions, gradients"]
    _compile(build(9) if is_training else FAMILIES[family](9), Splits())
    program = resnet50_training() if is_training else FAMILIES[family](int(size))
    splits = Splits()
    operations, wall, helpers = _compile(program, splits)
    return Measured(
        family,
        int(size) or operations,
        operations,
        splits.seconds,
        wall,
        splits.driver_wall,
        helpers,
        getrusage(RUSAGE_SELF).ru_maxrss / 1024,
    )


def _compile(program: ProgramText, splits: Splits) -> tuple[int, float, float]:
    """The operations of a program, the seconds until it is there, those of helpers."""
    text, shapes = program
    arrays = [np.empty(shape, np.float32) for shape in shapes]
    before = seconds_of_helpers()
    start = perf_counter()
    with splits.watching():
        with splits.within("parse"):
            function = gingham.compile(text, tuned=False)
        function.prepare(arrays)
    wall = perf_counter() - start
    helped = seconds_of_helpers() - before
    module = function.specialized(*arrays)
    return sum(1 for op in module.walk() if op.results), wall, helped


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
        helped = [(row.statements, row.helpers) for row in sizes]
        table.add_row("helpers", *_cells(helped))
        table.add_section()
        table.add_row("wall", *_cells([(row.statements, row.wall) for row in sizes]))
        console.print(table)
    summary = Table(title="Largest programs")
    summary.add_column("")
    for heading in (
        "statements",
        "wall s",
        "exponent",
        "own s",
        "exponent",
        "search s",
        "driver wall s",
        "helpers s",
        "MB",
    ):
        summary.add_column(heading, justify="right")
    for family, sizes in families.items():
        row = sizes[-1]
        summary.add_row(
            family,
            str(row.statements),
            f"{row.wall:.2f}",
            _slope([(each.statements, each.wall) for each in sizes]),
            f"{row.own:.2f}",
            _slope([(each.statements, each.own) for each in sizes]),
            f"{row.seconds.get(SEARCH, 0.0):.2f}",
            f"{row.driver_wall:.2f}",
            f"{row.helpers:.2f}",
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
        help="milliseconds to wait for each statement of 100 or more (default 20)",
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
