"""`python -m test.fuzz`: draws cases, runs them, and writes down what does not hold."""

from __future__ import annotations

import argparse
import signal
import sys
from collections import Counter
from pathlib import Path
from time import monotonic, strftime
from typing import NoReturn

from .cases import Fuzzer, prepare_environment
from .files import FileFuzzer
from .ir import IrFuzzer
from .pipelines import PipelineFuzzer
from .reports import read_case, write_report
from .server import Found, case_of, preload, run_cases, run_one
from .texts import TextFuzzer

_MOST_OF_A_KIND = 3
"""Findings of one kind that are written: further ones are counted."""


def main() -> int:
    """The command; the exit status is 1 when something was found."""
    options = _options()
    # What a run has begun is ended and removed, also where `timeout` ends it.
    signal.signal(signal.SIGTERM, _end)
    prepare_environment()
    preload()
    if options.replay:
        return _replay(options.replay)
    fuzzers = [each for each in _fuzzers() if each.name in options.what]
    print(f"seed {options.seed}", flush=True)
    status = 0
    for fuzzer in fuzzers:
        seconds = options.seconds / len(fuzzers)
        status |= _run(fuzzer, options, monotonic() + seconds)
    return status


def _end(number: int, frame: object) -> NoReturn:
    del frame
    sys.exit(128 + number)


def _fuzzers() -> list[Fuzzer]:
    return [TextFuzzer(), IrFuzzer(), PipelineFuzzer(), FileFuzzer()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m test.fuzz", description="Random input for all that reads some."
    )
    names = [each.name for each in _fuzzers()]
    parser.add_argument("--seconds", type=float, default=60, help="for all (60)")
    parser.add_argument(
        "--seed",
        type=int,
        default=int(strftime("%Y%m%d")),
        help="of the cases (today's date)",
    )
    parser.add_argument("--first", type=int, default=0, help="the first case (0)")
    parser.add_argument("--cases", type=int, help="how many, instead of seconds")
    parser.add_argument("--what", nargs="+", choices=names, default=names)
    parser.add_argument(
        "--replay", type=Path, nargs="+", metavar="FOLDER", help="run what was found"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("build/fuzz"), help="for what is found"
    )
    return parser.parse_args()


def _replay(folders: list[Path]) -> int:
    """Run findings again; the exit status is 1 where one still is one."""
    fuzzers = {each.name: each for each in _fuzzers()}
    status = 0
    for folder in folders:
        name, case = read_case(folder)
        found = run_one(fuzzers[name], case)
        print(f"{folder}: {'ok' if found is None else found.message}", flush=True)
        status |= found is not None
    return status


def _run(fuzzer: Fuzzer, options: argparse.Namespace, end: float) -> int:
    counts = Counter[str]()
    following = options.first
    for event in run_cases(fuzzer, options.seed, options.first, end, options.cases):
        if isinstance(event, int):
            following = event
            continue
        counts[event.kind] += 1
        _tell(fuzzer, options, event, counts[event.kind])
    total = following - options.first
    print(
        f"{fuzzer.name}: {total} cases, {sum(counts.values())} findings; "
        f"--first {following} goes on",
        flush=True,
    )
    return int(bool(counts))


def _tell(
    fuzzer: Fuzzer, options: argparse.Namespace, found: Found, count: int
) -> None:
    line = found.message.strip().split("\n")[-1][:200]
    print(f"{fuzzer.name} {found.number}: {found.kind}: {line}", flush=True)
    if count <= _MOST_OF_A_KIND:
        case = case_of(fuzzer, options.seed, found.number)
        folder = write_report(options.output, fuzzer, options.seed, found, case)
        print(f"  written to {folder}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
