"""All backend tests of ONNX on a device, compared with the list of those that fail.

    python -m test.onnx_suite [--device NAME] [--jobs N] [--match PATTERN] [--write]

Tests are run in several processes, so that one that crashes is a failure, too.
`failures.txt` has the tests that fail on the default device with their reasons;
`--write` writes it anew, otherwise a difference is an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from .suite import Outcome, cases, run

FAILURES = Path(__file__).with_name("failures.txt")
_PORTION = 50
"""Tests that a process runs before another one is started."""


def main() -> int:
    """Run the tests; the exit status is 1 where they do not fail as listed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", help="the default device by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--match", default="", help="a pattern for names of tests")
    parser.add_argument("--write", action="store_true", help="write failures.txt")
    parser.add_argument("--steps", action="store_true", help="say what the host runs")
    options = parser.parse_args()
    names = [case.name for case in cases(options.match)]
    start = time.perf_counter()
    outcomes = list(_outcomes(names, options.device, options.jobs))
    _show(outcomes, time.perf_counter() - start)
    if options.steps:
        _show_steps(outcomes)
    found = [f"{each.name}: {each.failure}" for each in outcomes if each.failure]
    if options.write:
        FAILURES.write_text("\n".join([*sorted(found), ""]))
        return 0
    return _compare(found, set(names))


def _outcomes(names: Sequence[str], device: str | None, jobs: int) -> Iterator[Outcome]:
    """The outcomes in order, in portions, each of which has a process of its own."""
    portions = [names[n : n + _PORTION] for n in range(0, len(names), _PORTION)]
    for number in range(0, len(portions), jobs):
        several = portions[number : number + jobs]
        with ProcessPoolExecutor(jobs) as pool:
            futures = [pool.submit(_portion, part, device) for part in several]
            for part, future in zip(several, futures, strict=True):
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    yield from _one_by_one(part, device)


def _one_by_one(names: Sequence[str], device: str | None) -> Iterator[Outcome]:
    """The outcomes of tests of which one crashes."""
    for name in names:
        with ProcessPoolExecutor(1) as pool:
            try:
                yield from pool.submit(_portion, [name], device).result()
            except BrokenProcessPool:
                yield Outcome(name, "the process crashed")


def _portion(names: Sequence[str], device: str | None) -> list[Outcome]:
    known = {case.name: case for case in cases()}
    return [run(known[name], device) for name in names]


def _show(outcomes: Sequence[Outcome], seconds: float) -> None:
    passed = [each for each in outcomes if not each.failure]
    whole = [each for each in passed if not each.steps]
    print(
        f"{len(passed)} of {len(outcomes)} tests pass, {len(whole)} of them without a "
        f"step on the host; {seconds:.0f} s, processor time of the slowest: "
        + ", ".join(
            f"{each.name} {each.seconds:.1f} s"
            for each in sorted(outcomes, key=lambda each: -each.seconds)[:3]
        )
    )


def _show_steps(outcomes: Sequence[Outcome]) -> None:
    """How often the host ran what, and why."""
    counts = Counter(
        f"{step.rpartition('(')[2]}" for each in outcomes for step in set(each.steps)
    )
    for step, count in counts.most_common():
        print(f"{count:5} ({step}")


def _compare(found: Sequence[str], names: set[str]) -> int:
    """Say how the failures differ from the list; 1 where they do."""
    listed = [
        line
        for line in FAILURES.read_text().splitlines()
        if line.partition(":")[0] in names
    ]
    for line in sorted(set(found) - set(listed)):
        print(f"not listed: {line}")
    for line in sorted(set(listed) - set(found)):
        print(f"listed, but not so: {line}")
    return int(set(found) != set(listed))


if __name__ == "__main__":
    sys.exit(main())
