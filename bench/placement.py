"""Programs on two devices against each of them alone: `python -m bench.placement`.

Each program is placed on the devices by what was measured there, and takes turns with
the same program compiled for each device. Inputs and results are arrays of NumPy, so
that every transfer counts. Placed, a program must not take more than 5 % longer than on
the best single device, and a program of independent branches has to take less.

Any devices will do: `--devices pocl.0,nvidia.0`, or two halves of one CPU,
`--devices pocl.0/0:1,pocl.0/1:2`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_TOLERANCE = 1.05


@dataclass(frozen=True)
class Case:
    """A program with the shapes of its inputs, for CPUs and where there is a GPU."""

    name: str
    text: str
    small: tuple[tuple[int, ...], ...]
    large: tuple[tuple[int, ...], ...]
    has_branches: bool = False
    """Whether two devices have to be faster than one."""


CASES = (
    Case(
        "chain of contractions",
        """function (X[N, A], U[A, B], V[B, C], W[C, D]) -> (Z) {
  P[n, b : N, B] = +(X[n, a] * U[a, b]);
  Q[n, c : N, C] = +(P[n, b] * V[b, c]);
  R = relu(Q);
  Z[n, d : N, D] = +(R[n, c] * W[c, d]);
}""",
        ((512, 512),) * 4,
        ((4096, 4096),) * 4,
    ),
    Case(
        "equal branches",
        """function (X[N, A], U[A, B], V[A, B], S[B, C], T[B, C]) -> (Z) {
  P[n, b : N, B] = +(X[n, a] * U[a, b]);
  Q[n, b : N, B] = +(X[n, a] * V[a, b]);
  PR = tanh(P);
  QR = relu(Q);
  PS[n, c : N, C] = +(PR[n, b] * S[b, c]);
  QT[n, c : N, C] = +(QR[n, b] * T[b, c]);
  Z = PS + QT;
}""",
        ((768, 768),) * 5,
        ((4096, 4096),) * 5,
    ),
    Case(
        "contractions beside a scan of data",
        """function (X[N, A], U[A, B], V[B, C], L[M, K]) -> (Z, T, H) {
  P[n, b : N, B] = +(X[n, a] * U[a, b]);
  R = relu(P);
  Z[n, c : N, C] = +(R[n, b] * V[b, c]);
  E = L * L + 2.0;
  T[m : M] = +(E[m, k]);
  H[m : M] = >(L[m, k]);
}""",
        ((640, 640), (640, 640), (640, 640), (4096, 2048)),
        ((4096, 4096), (4096, 4096), (4096, 4096), (16384, 4096)),
        has_branches=True,
    ),
    Case(
        "block of a residual network",
        """function (I[N, H, W, C], J[A, B, C, D], K[A2, B2, D, D2], S[C, D3]) -> (Z) {
  F[n, y, x, d : N, H, W, D] = +(I[n, y + a - 1, x + b - 1, c] * J[a, b, c, d]);
  FR = relu(F);
  G[n, y, x, d : N, H, W, D2] = +(FR[n, y + a - 1, x + b - 1, c] * K[a, b, c, d]);
  Q[n, y, x, d : N, H, W, D3] = +(I[n, y, x, c] * S[c, d]);
  Z = relu(G + Q);
}""",
        ((1, 56, 56, 64), (3, 3, 64, 64), (3, 3, 64, 64), (64, 64)),
        ((32, 56, 56, 64), (3, 3, 64, 64), (3, 3, 64, 64), (64, 64)),
    ),
)


@dataclass(frozen=True)
class Row:
    """What one program took: seconds of a call, the fastest and the median."""

    program: str
    devices: dict[str, tuple[float, float]]
    placed: tuple[float, float]
    segments: list[str]
    """The device of each segment, in the order in which they are started."""
    preparing: float
    """Seconds to measure, decide and compile."""
    is_correct: bool
    has_branches: bool
    processors: int
    """How many there are: two runtimes for the same cores are one."""

    @property
    def best(self) -> float:
        return min(fastest for fastest, _ in self.devices.values())

    @property
    def ratio(self) -> float:
        """The time placed, as a part of that on the best device."""
        return self.placed[0] / self.best

    @property
    def is_good(self) -> bool:
        has_to_gain = self.has_branches and self.processors > 1
        limit = 1.0 if has_to_gain else _TOLERANCE
        return self.is_correct and self.ratio < limit


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 when placement costs where it should not."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.placement",
        description="Measure programs on several devices against each alone.",
    )
    parser.add_argument("--devices", required=True, metavar="A,B")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs by name")
    parser.add_argument(
        "--size", choices=("small", "large"), help="default: large with a GPU"
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for each program")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    import gingham

    names = options.devices.split(",")
    try:
        kinds = [gingham.device(name).kind for name in names]
        is_large = options.size == "large" or (not options.size and "gpu" in kinds)
        rows: list[Row] = []
        for case in CASES:
            if options.only in case.name:
                print(f"\r{case.name:60}", end="", file=sys.stderr, flush=True)
                rows.append(_measure(case, names, is_large, options))
    except gingham.GinghamError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    _print(rows, names)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([{**asdict(row), "ratio": row.ratio} for row in rows], file)
    return 0 if all(row.is_good for row in rows) else 1


def _measure(
    case: Case, names: Sequence[str], is_large: bool, options: argparse.Namespace
) -> Row:
    import numpy as np

    import gingham

    from .measure import interleaved

    generator = np.random.default_rng(0)
    inputs = [
        (generator.random(shape, np.float32) - 0.5) / 8
        for shape in (case.large if is_large else case.small)
    ]
    singles = [gingham.compile(case.text, device=name) for name in names]
    expected = [single(*inputs) for single in singles]
    start = time.perf_counter()
    placed = gingham.compile(case.text, device=[*names], measure=True)
    result = placed(*inputs)
    preparing = time.perf_counter() - start
    functions = [*singles, placed]
    measured = interleaved(
        [lambda f=f: f(*inputs) for f in functions], options.seconds, options.rounds
    )
    pairs = [(each.fastest, each.median) for each in measured]
    plan = placed.plan(*inputs)
    machine = placed.decision(*inputs).posed.machine
    return Row(
        case.name,
        dict(zip(names, pairs, strict=False)),
        pairs[-1],
        [plan.segments.segments[number].device for number in plan.order],
        preparing,
        all(_is_close(result, each) for each in expected),
        case.has_branches,
        len({each.processor for each in machine.devices}),
    )


def _is_close(result: Any, expected: Any) -> bool:
    import numpy as np

    return all(
        bool(np.allclose(a, b, rtol=1e-3, atol=1e-3 * float(np.abs(b).max())))
        for a, b in zip(_several(result), _several(expected), strict=True)
    )


def _several(results: Any) -> tuple[Any, ...]:
    return (results,) if hasattr(results, "shape") else tuple(results)


def _print(rows: Sequence[Row], names: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Milliseconds of a call: the fastest (the median)")
    table.add_column("program")
    for name in (*names, "placed"):
        table.add_column(name, justify="right")
    table.add_column("of the best", justify="right")
    table.add_column("segments")
    table.add_column("prepared in", justify="right")
    table.add_column("")
    for row in rows:
        times = [row.devices[name] for name in names]
        table.add_row(
            row.program,
            *[f"{least * 1e3:.2f} ({mid * 1e3:.2f})" for least, mid in times],
            f"{row.placed[0] * 1e3:.2f} ({row.placed[1] * 1e3:.2f})",
            f"{100 * row.ratio:.0f} %",
            _in_short(row.segments, names),
            f"{row.preparing:.1f} s",
            ("good" if row.is_good else "BAD") if row.is_correct else "WRONG",
        )
    Console(width=None if sys.stdout.isatty() else 150).print(table)


def _in_short(segments: Sequence[str], names: Sequence[str]) -> str:
    """How many there are on each device: `3 + 1`."""
    return " + ".join(str(segments.count(name)) for name in names)


if __name__ == "__main__":
    sys.exit(main())
