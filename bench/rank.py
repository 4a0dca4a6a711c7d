"""The command: `python -m bench.rank [NAME ...] [--count N] [--json FILE]`.

How well the cost model ranks. For contractions that differ in kind, decisions all over
the space are compiled and measured, good and bad ones, and compared with the times that
the model predicts. What is printed is Spearman's rank correlation: 1 when the model
puts them into the order of their times, 0 when it might as well guess. Beside it, how
much slower than the fastest measured one is that which the model likes best among them.

Measured by `tile-tune`, one after the other. A result of its own for each contraction
needs about a minute; on a machine that does other work at the same time it is too low.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Contraction:
    """A Tile program of one contraction, and the shapes of its inputs."""

    name: str
    program: str
    shapes: tuple[str, ...]


CONTRACTIONS = (
    Contraction(
        "matrix product 1024",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("A=1024x1024", "B=1024x1024"),
    ),
    Contraction(
        "product with a transposed matrix 600x768x640",
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        ("A=600x768", "B=640x768"),
    ),
    Contraction(
        "convolution 3x3 64-64 at 56",
        "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
        " O[n, x, y, co : N, X, Y, CO] ="
        " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }",
        ("I=1x56x56x64", "K=3x3x64x64"),
    ),
    Contraction(
        "depthwise convolution 3x3 96 at 112, batch 2",
        "function (I[N, X, Y, C], K[KX, KY, C]) -> (O) {"
        " O[n, x, y, c : N, X, Y, C] ="
        " +(I[n, x + i - 1, y + j - 1, c] * K[i, j, c]); }",
        ("I=2x112x112x96", "K=3x3x96"),
    ),
    Contraction(
        "contraction abcd = aebf * dfce",
        "function (X[A, E, B, F], Y[D, F, C, E]) -> (O) {"
        " O[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }",
        ("X=24x28x26x30", "Y=32x30x25x28"),
    ),
    Contraction(
        "sum over the middle axis 64x512x768",
        "function (X[A, B, C]) -> (S) { S[a, c : A, C] = +(X[a, b, c]); }",
        ("X=64x512x768",),
    ),
)


@dataclass(frozen=True)
class Ranking:
    """How predictions and measurements of one contraction go together."""

    name: str
    candidates: int
    correlation: float
    first_choice: float
    """The time of what the model likes best, by the fastest that was measured."""
    fastest_ms: float
    slowest_ms: float
    failed: int
    predicted: tuple[float, ...]
    measured: tuple[float, ...]


def main() -> int:
    """Measure, print a table, write JSON; 1 where a correlation is below the goal."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.rank",
        description="Compare the order of predicted times with that of measured ones.",
    )
    parser.add_argument(
        "names", nargs="*", help="only contractions whose name has this"
    )
    parser.add_argument("--count", type=int, default=64, help="decisions (default 64)")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each of them")
    parser.add_argument("--device", help="a device of tile-devices")
    parser.add_argument("--goal", type=float, default=0.8, help="(default 0.8)")
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    options = parser.parse_args()
    chosen = [
        contraction
        for contraction in CONTRACTIONS
        if not options.names or any(n in contraction.name for n in options.names)
    ]
    rankings = [
        _rank(contraction, options.count, options.seconds, options.device)
        for contraction in chosen
    ]
    _print_table(rankings, options.goal)
    if options.json:
        text = json.dumps([asdict(ranking) for ranking in rankings], indent=2)
        Path(options.json).write_text(text, encoding="utf-8")
    return 0 if all(r.correlation >= options.goal for r in rankings) else 1


def _rank(
    contraction: Contraction, count: int, seconds: float, device: str | None
) -> Ranking:
    records = _measure(contraction, count, seconds, device)
    # What else the program has beside the contraction has fewer decisions.
    units = [record["unit"] for record in records]
    unit = max(set(units), key=units.count)
    own = [record for record in records if record["unit"] == unit]
    good = [record for record in own if record["status"] == "ok"]
    predicted = [float(record["predicted_seconds"]) for record in good]
    measured = [float(record["seconds"]) for record in good]
    first = measured[predicted.index(min(predicted))]
    return Ranking(
        contraction.name,
        len(good),
        spearman(predicted, measured),
        first / min(measured),
        min(measured) * 1e3,
        max(measured) * 1e3,
        len(own) - len(good),
        tuple(predicted),
        tuple(measured),
    )


def _measure(
    contraction: Contraction, count: int, seconds: float, device: str | None
) -> list[dict[str, Any]]:
    """The records of `tile-tune` for decisions all over the space."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.tile")
        program.write_text(contraction.program, encoding="utf-8")
        records = ["--records", str(Path(folder, "records.sqlite"))]
        run = ["run", str(program), "--shape", *contraction.shapes, "--spread"]
        run += ["--count", str(count), "--seconds", str(seconds)]
        if device is not None:
            run += ["--device", device]
        _tile_tune([*run, *records])
        shown: list[dict[str, Any]] = json.loads(
            _tile_tune(["show", "--all", "--json", *records])
        )
        return shown


def _tile_tune(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "gingham.tools.tune", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


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
    table.add_column("contraction")
    for heading in ("decisions", "rank correlation", "first choice", "ms"):
        table.add_column(heading, justify="right")
    for ranking in rankings:
        mark = "" if ranking.correlation >= goal else " (!)"
        failed = f" ({ranking.failed} failed)" if ranking.failed else ""
        table.add_row(
            ranking.name,
            f"{ranking.candidates}{failed}",
            f"{ranking.correlation:.3f}{mark}",
            f"{ranking.first_choice:.2f} x fastest",
            f"{ranking.fastest_ms:.3g} to {ranking.slowest_ms:.3g}",
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    sys.exit(main())
