"""Programs on two devices against each of them alone: `python -m bench.placement`.

Each program is placed on the devices by what was measured there, and takes turns with
the same program compiled for each device. Inputs and results are arrays of NumPy, so
that every transfer counts. Placed, a program must not take more than 5 % longer than on
the best single device, and a program of independent branches has to take less.

Any devices will do: `--devices pocl.0,nvidia.0`, or two halves of one CPU,
`--devices pocl.0/0:1,pocl.0/1:2`. With `--sweep` fifty programs are measured, with
inputs on the host, on either device, or here and there; each is also placed without
measuring, by what its first calls take. There are as many rounds as it takes to know
that a program is good; one that misses by less than rounds differ by is unclear.

What a program takes, as a part of another's time, is the median over the rounds of what
it took in one round over what the other took in that: so a machine whose speed changes
by the minute does not count. The best device is the one with the least median.

On each device the same program is compiled once more. What that one takes on the best
device is the noise of the machine: nothing can be said of differences that are smaller.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import nan
from typing import Any

from .measure import Measurement, interleaved, interleaved_until
from .placement_programs import Case, sweep
from .report import geometric_mean

_TOLERANCE = 1.05
_FIRST_CALLS = 48
"""Behind so many, a program that was not measured is where it is the fastest."""
_FIRST_ROUNDS = 5
_MAY_BE_BEST = 1.3
"""Devices that take longer than the best one by so much in the first rounds are not."""

Call = Callable[[], Any]

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
    """What one program took, in rounds in which every way had a turn."""

    program: str
    devices: dict[str, Measurement]
    best: Measurement
    """Calls on the best single device."""
    placed: Measurement
    segments: list[str]
    """The device of each segment, in the order in which they are started."""
    preparing: float
    """Seconds to measure, decide and compile."""
    is_correct: bool
    has_branches: bool
    processors: int
    """How many there are: two runtimes for the same cores are one."""
    places: str = "host"
    """Where its inputs are."""
    unmeasured: Measurement | None = None
    """Placed without measuring, behind its first calls."""
    again: Measurement | None = None
    """The same program compiled once more for the best device."""

    @property
    def noise(self) -> float:
        """By what part the same differs from the same."""
        return abs(self._of_best(self.again) - 1) if self.again else nan

    @property
    def ratio(self) -> float:
        """The time placed, as a part of that on the best device."""
        return self._of_best(self.placed)

    @property
    def unmeasured_ratio(self) -> float:
        """As `ratio`, of the program that was not measured first; 0 for none."""
        return self._of_best(self.unmeasured) if self.unmeasured else 0.0

    @property
    def is_good(self) -> bool:
        """Whether it is right, and no slower than on the best device."""
        ratios = (self.ratio, self.unmeasured_ratio)
        return self.is_correct and max(ratios) < self._limit

    @property
    def is_clear(self) -> bool:
        """Whether it is good, and further rounds would hardly change that."""
        return self.is_correct and max(high for _, high in self._bounds) < self._limit

    @property
    def verdict(self) -> str:
        """In a word: `unclear` is what misses by less than rounds differ by."""
        if not self.is_correct:
            return "WRONG"
        if self.is_good:
            return "good"
        is_bad = max(low for low, _ in self._bounds) >= self._limit
        return "BAD" if is_bad else "unclear"

    @property
    def _bounds(self) -> list[tuple[float, float]]:
        """Of both ratios."""
        placed = [self.placed, *([self.unmeasured] if self.unmeasured else [])]
        return [each.bounds_to(self.best) for each in placed]

    @property
    def _limit(self) -> float:
        """Branches that can run beside each other on several processors gain."""
        return 1.0 if self.has_branches and self.processors > 1 else _TOLERANCE

    def _of_best(self, one: Measurement) -> float:
        return one.relative_to(self.best)


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
    parser.add_argument(
        "--seconds", type=float, default=6.0, help="at most, for each program"
    )
    parser.add_argument("--sweep", action="store_true", help="fifty programs")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    import gingham

    names = options.devices.split(",")
    try:
        kinds = [gingham.device(name).kind for name in names]
        is_large = options.size == "large" or (not options.size and "gpu" in kinds)
        cases = sweep(2 if is_large else 1) if options.sweep else CASES
        rows: list[Row] = []
        for case in cases:
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
    import gingham

    inputs = _inputs(case, names, is_large)
    single = partial(_alone, case, inputs)
    singles = {name: single(name) for name in names}
    expected = [call() for call in singles.values()]
    # Before anything is known of whole calls.
    unmeasured = [_by_first_calls(case, names, inputs)] if options.sweep else []
    placed = gingham.compile(case.text, device=[*names])
    start = time.perf_counter()
    placed.measure_placement(*inputs, again=True)
    preparing = time.perf_counter() - start
    call = partial(_call, placed, inputs, None)
    result = call()
    first = interleaved([*singles.values()], 0.0, _FIRST_ROUNDS)
    alone = dict(zip(names, first, strict=True))
    least = min(each.median for each in first)
    close = [n for n in names if alone[n].median < _MAY_BE_BEST * least]
    count = len(close)
    plan = placed.plan(*inputs)
    base = partial(
        Row,
        case.name,
        segments=[plan.segments.segments[number].device for number in plan.order],
        preparing=preparing,
        is_correct=all(_is_close(result, each) for each in expected),
        has_branches=case.has_branches,
        processors=len({d.processor for d in plan.decision.posed.machine.devices}),
        places=case.places,
    )

    def row(measured: Sequence[Measurement]) -> Row:
        best = min(range(count), key=lambda number: measured[number].median)
        return base(
            devices=alone | dict(zip(close, measured, strict=False)),
            best=measured[best],
            placed=measured[count],
            unmeasured=measured[count + 1] if unmeasured else None,
            again=measured[best - count],
        )

    calls = [*(singles[n] for n in close), call, *unmeasured, *map(single, close)]
    measured = interleaved_until(calls, lambda m: row(m).is_clear, options.seconds)
    return row(measured)


def _inputs(case: Case, names: Sequence[str], is_large: bool) -> list[Any]:
    import numpy as np

    generator = np.random.default_rng(0)
    hosts = [
        (generator.random(shape, np.float32) - 0.5) / 8
        for shape in (case.large if is_large else case.small)
    ]
    return _resident(hosts, case.places, names)


def _alone(case: Case, inputs: Sequence[Any], name: str) -> Call:
    """Calls of a program that is compiled for one device."""
    import gingham

    return partial(_call, gingham.compile(case.text, device=name), inputs, name)


def _by_first_calls(case: Case, names: Sequence[str], inputs: Sequence[Any]) -> Call:
    """Calls of a program that is placed by what its first ones took."""
    import gingham

    placed = gingham.compile(case.text, device=[*names])
    call = partial(_call, placed, inputs, None)
    for _ in range(_FIRST_CALLS):
        call()
    return call


def _resident(hosts: Sequence[Any], places: str, names: Sequence[str]) -> list[Any]:
    """Inputs where they are said to be: arrays of NumPy, or of a device."""
    import gingham

    first, *_, last = names
    patterns = {"host": [None], "first": [first], "second": [last]}
    where = patterns.get(places, [first, None, last])
    found: list[Any] = []
    for number, host in enumerate(hosts):
        device = where[number % len(where)]
        found.append(host if device is None else gingham.asarray(host, device))
    return found


def _call(function: Any, inputs: Sequence[Any], device: str | None) -> Any:
    """The results, once they are there; inputs go to the one device that runs it."""
    import gingham

    if device is not None:
        inputs = [
            each.to(device) if _is_elsewhere(each, device) else each for each in inputs
        ]
    results = function(*inputs)
    for each in _several(results):
        if isinstance(each, gingham.Array):
            each.wait()
    return results


def _is_elsewhere(value: Any, device: str) -> bool:
    """Whether it is an array of another device."""
    import gingham

    return isinstance(value, gingham.Array) and value.device.name != device


def _is_close(result: Any, expected: Any) -> bool:
    import numpy as np

    return all(
        bool(np.allclose(a, b, rtol=1e-3, atol=1e-3 * float(np.abs(b).max())))
        for a, b in zip(_hosts(result), _hosts(expected), strict=True)
    )


def _several(results: Any) -> tuple[Any, ...]:
    return (results,) if hasattr(results, "shape") else tuple(results)


def _hosts(results: Any) -> list[Any]:
    import numpy as np

    return [np.asarray(each) for each in _several(results)]


def _print(rows: Sequence[Row], names: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Milliseconds of a call")
    table.add_column("program")
    for name in (*names, "placed"):
        table.add_column(name, justify="right")
    table.add_column("of the best", justify="right")
    table.add_column("unmeasured", justify="right")
    table.add_column("noise", justify="right")
    table.add_column("segments")
    table.add_column("prepared in", justify="right")
    table.add_column("")
    for row in rows:
        times = [*(row.devices[name] for name in names), row.placed]
        table.add_row(
            row.program if row.places == "host" else f"{row.program} ({row.places})",
            *[f"{each.median * 1e3:.2f}" for each in times],
            f"{100 * row.ratio:.0f} %",
            "" if row.unmeasured is None else f"{100 * row.unmeasured_ratio:.0f} %",
            f"{100 * row.noise:.0f} %",
            _in_short(row.segments, names),
            f"{row.preparing:.1f} s",
            row.verdict,
        )
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    ratios = [
        each for row in rows for each in (row.ratio, row.unmeasured_ratio) if each
    ]
    mean = geometric_mean(ratios) if ratios else nan
    noises = sorted(row.noise for row in rows)
    count = sum(row.is_good for row in rows)
    unclear = sum(row.verdict == "unclear" for row in rows)
    print(f"good: {count} of {len(rows)}, unclear: {unclear}")
    print("of the best device's time: geometric mean")
    print(f"{100 * mean:.0f} %, worst {100 * max(ratios, default=0.0):.0f} %")
    if noises:
        middle = noises[len(noises) // 2]
        print(f"noise: median {100 * middle:.0f} %, worst {100 * noises[-1]:.0f} %")


def _in_short(segments: Sequence[str], names: Sequence[str]) -> str:
    """How many there are on each device: `3 + 1`."""
    return " + ".join(str(segments.count(name)) for name in names)


if __name__ == "__main__":
    sys.exit(main())
