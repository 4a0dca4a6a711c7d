"""Calls from many threads for a long time: `python -m bench.soak --minutes 10`.

Eight threads, unless told otherwise, run mixed programs in all the ways there are: on
arrays of NumPy and of a device, with `out`, in chains, from one device to another, with
constant inputs, by PlaidML's API on shared tensors and with views, and with results
that nobody looks at. Each result is compared, bit by bit, with that of the same call
alone, before the threads were there.

Memory must not grow. What the process has is looked at four times a second; the median
of the last quarter of the time may exceed that of the second quarter (in the first,
caches fill) by 32 MiB. That is what allocators of many threads take and give back in
between; as a minute has about a hundred thousand calls, a leak of a hundred bytes in
each of them would be more within minutes.

A thread that makes no progress for a minute is a deadlock: the stacks of all threads
are printed, and the process ends.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .memory import resident_bytes
from .soak_jobs import Jobs

_STALLED = 3
_LOOKS_PER_SECOND = 4


@dataclass
class _Record:
    """What has happened so far."""

    calls: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    memory: list[int] = field(default_factory=list[int])
    """The bytes that the process had, at each look."""
    progress: dict[int, float] = field(default_factory=dict[int, float])
    """When each thread ended its last call."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print a table: 1 for wrong results or growth, 3 for a deadlock."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument(
        "--devices",
        default="",
        metavar="A,B",
        help="names of two devices; otherwise the first two OpenCL devices, or one",
    )
    parser.add_argument(
        "--growth",
        type=float,
        default=32.0,
        metavar="MIB",
        help="how much more memory the end may need than the beginning (default 32)",
    )
    parser.add_argument(
        "--stall",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds without progress that are a deadlock (default 60)",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    jobs = Jobs([name for name in options.devices.split(",") if name])
    record = _Record()
    started = time.monotonic()
    _run(jobs, record, options)
    return _report(record, options, time.monotonic() - started)


def _run(jobs: Jobs, record: _Record, options: argparse.Namespace) -> None:
    end = time.monotonic() + 60 * options.minutes
    stop = threading.Event()
    threads = [
        threading.Thread(
            target=_work,
            args=(jobs, record, random.Random(f"{options.seed} {n}"), n, stop),
            name=f"soak {n}",
            daemon=True,
        )
        for n in range(options.threads)
    ]
    for number, thread in enumerate(threads):
        record.progress[number] = time.monotonic()
        thread.start()
    while time.monotonic() < end and not record.wrong:
        time.sleep(1 / _LOOKS_PER_SECOND)
        record.memory.append(resident_bytes())
        _watch(record, options.stall)
    stop.set()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1 / _LOOKS_PER_SECOND)
        _watch(record, options.stall)
        for number, thread in enumerate(threads):
            if not thread.is_alive():
                record.progress[number] = time.monotonic()


def _work(
    jobs: Jobs,
    record: _Record,
    chance: random.Random,
    number: int,
    stop: threading.Event,
) -> None:
    """Call and compare, till the end."""
    while not stop.is_set():
        job, seed = chance.choice(jobs.names), chance.randrange(jobs.seeds)
        try:
            problem = jobs.check(job, seed)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            record.wrong.append(f"{job}, seed {seed}: {problem}")
            return
        record.calls[job] += 1
        record.progress[number] = time.monotonic()


def _watch(record: _Record, stall: float) -> None:
    """End the process, with all stacks, when a thread does not get on."""
    oldest = min(record.progress.values())
    if time.monotonic() - oldest < stall:
        return
    print(f"a thread made no progress for {stall} seconds:", file=sys.stderr)
    faulthandler.dump_traceback(all_threads=True)
    sys.stderr.flush()
    os._exit(_STALLED)


def _report(record: _Record, options: argparse.Namespace, seconds: float) -> int:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{options.threads} threads, {seconds:.0f} seconds")
    table.add_column("calls of")
    table.add_column("number", justify="right")
    for name, count in sorted(record.calls.items()):
        table.add_row(name, str(count))
    table.add_row("all", str(record.calls.total()))
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    for wrong in record.wrong:
        print(f"wrong: {wrong}")
    grown = _growth(record.memory)
    largest = max(record.memory, default=0)
    mebibyte = 1 << 20
    print(
        f"memory: {largest / mebibyte:.0f} MiB at most, grown by "
        f"{grown / mebibyte:.1f} MiB (allowed: {options.growth:.0f})"
    )
    has_grown = grown > options.growth * mebibyte
    return 1 if record.wrong or has_grown else 0


def _growth(memory: Sequence[int]) -> float:
    """From the second quarter to the last, by medians."""
    quarter = len(memory) // 4
    if quarter == 0:
        return 0.0
    second, last = memory[quarter : 2 * quarter], memory[-quarter:]
    return statistics.median(last) - statistics.median(second)


if __name__ == "__main__":
    sys.exit(main())
