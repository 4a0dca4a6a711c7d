"""Cases in forked processes: a new one is there in milliseconds, and may come to harm.

A child runs one case after the other, and tells before each which it is. A signal ends
it when a case takes more than its time of a core; its memory is limited. Then the case
it told of last is the finding, and another child goes on behind it.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic

from .cases import Case, Finding, Fuzzer

SECONDS = 10
"""Of one core, for each case."""

MEMORY = 2 << 30
"""Bytes that a case may take beyond what the process has at its start."""

_WALL = 60
"""Seconds without a word from a child, after which it waits for something."""

_BATCH = 300
"""Cases of one child: what it keeps of them goes with it."""


@dataclass(frozen=True)
class Found:
    """What went wrong with a case."""

    number: int
    kind: str
    message: str


def preload() -> None:
    """Import what children would import one by one."""
    from xdsl.context import Context

    from gingham.dialects import get_all_dialects
    from gingham.passes import get_all_passes
    from gingham.targets.reference import interpreter
    from gingham.tools.optimizer import compilation, validation

    del interpreter, compilation, validation
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
        context.load_registered_dialect(name)
    for make in get_all_passes().values():
        make()


def case_of(fuzzer: Fuzzer, seed: int, number: int) -> Case:
    """The case of a number: it depends on nothing else."""
    return fuzzer.draw(Random(f"{seed} {fuzzer.name} {number}"))


def run_cases(
    fuzzer: Fuzzer, seed: int, first: int, end: float, count: int | None = None
) -> Iterator[Found | int]:
    """Runs cases from `first` on, until the time `end`, or so many.

    Gives what is found, and in the end the number of the case that would be next.
    """
    number = first
    last = None if count is None else first + count
    if last is not None:
        end = math.inf
    while monotonic() < end and (last is None or number < last):
        size = _BATCH if last is None else min(_BATCH, last - number)
        for event in _batch(
            lambda n: case_of(fuzzer, seed, n), fuzzer, number, size, end
        ):
            if isinstance(event, Found):
                yield event
                number = event.number + 1
            else:
                number = event + 1
    yield number


def run_one(fuzzer: Fuzzer, case: Case) -> Found | None:
    """What is found with one case."""
    for event in _batch(lambda _: case, fuzzer, 0, 1, monotonic() + _WALL):
        if isinstance(event, Found):
            return event
    return None


def _batch(
    draw: Callable[[int], Case], fuzzer: Fuzzer, first: int, count: int, end: float
) -> Iterator[Found | int]:
    """Cases in one child: the number of each that ended, or what was found."""
    # A child may be killed, and would leave its folder.
    with tempfile.TemporaryDirectory(
        prefix="gingham-fuzz-", ignore_cleanup_errors=True
    ) as folder:
        reading, writing = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            numbers = range(first, first + count)
            _run_child(draw, fuzzer, numbers, writing, folder)
        os.close(writing)
        try:
            yield from _listen(child, reading, first, end)
        finally:
            os.close(reading)
            _end(child)


def _listen(child: int, pipe: int, first: int, end: float) -> Iterator[Found | int]:
    current, rest = first, b""
    while True:
        ready, _, _ = select.select([pipe], [], [], _WALL)
        data = os.read(pipe, 1 << 16) if ready else b""
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            word, number, *message = line.decode(errors="replace").split("\t")
            current = int(number)
            if word == "ended":
                yield current
            elif word == "found":
                kind, text = (part.replace("\x01", "\n") for part in message)
                _finish(child)
                yield Found(current, kind, text)
                return
        if monotonic() > end:
            _finish(child)
            return
    if not ready:
        _finish(child)
        yield Found(current, "stuck", f"nothing for {_WALL} seconds")
        return
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        kind = "endless" if name == "SIGPROF" else f"signal {name}"
        yield Found(current, kind, f"ended by {name}")


def _end(child: int) -> None:
    """See that a child has ended, when nobody listens to it any more."""
    with suppress(ChildProcessError):
        if os.waitpid(child, os.WNOHANG)[0] == 0:
            _finish(child)


def _finish(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _run_child(
    draw: Callable[[int], Case],
    fuzzer: Fuzzer,
    numbers: range,
    pipe: int,
    folder: str,
) -> None:
    """Runs the cases; does not return."""
    gc.freeze()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))

    def tell(*words: object) -> None:
        text = "\t".join(
            str(word).replace("\n", "\x01").replace("\t", " ") for word in words
        )
        os.write(pipe, f"{text}\n".encode(errors="replace"))

    tempfile.tempdir = folder
    for number in numbers:
        tell("began", number)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            os.chdir(own)
            found = _run_case(draw, fuzzer, number)
            os.chdir(folder)
        if found is not None:
            tell("found", number, *found)
            break
        tell("ended", number)
    os._exit(0)


def _run_case(
    draw: Callable[[int], Case], fuzzer: Fuzzer, number: int
) -> tuple[str, str] | None:
    case = draw(number)
    case.write(Path())
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        fuzzer.run(case)
    except Finding as finding:
        return finding.kind, finding.message[:4000]
    except BaseException as error:
        return f"raised {type(error).__name__}", "".join(
            traceback.format_exception(error)
        )[-4000:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None
