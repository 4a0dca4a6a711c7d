"""Measures jobs in child processes, so that nothing they do can harm who asks.

A candidate may crash the driver, take all memory or never end. Then its child is ended,
the candidate is noted as what went wrong, and a new child goes on with the next one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from queue import Empty, Queue
from threading import Lock, Thread
from typing import IO

from .child import MARK, READY
from .jobs import Job, Outcome

_START_SECONDS = 60.0
"""How long a child may take until it measures, on top of the time limit."""
_MOST_MESSAGE = 500

_COMMAND = (sys.executable, "-m", f"{__package__}.child")

_running: set[subprocess.Popen[str]] = set()
_lock = Lock()
_ends = 0
"""How many times all children were ended."""


def measure(job_text: str) -> list[str]:
    """The outcomes of a job's decisions, in order; texts go in and out.

    This is what an executor runs, in a thread, a process or on another machine.
    """
    job = Job.from_json(job_text)
    outcomes: list[Outcome] = []
    ends = _ends
    while len(outcomes) < len(job.decisions) and ends == _ends:
        outcomes += _in_one_child(job.rest(len(outcomes)), ends)
    lost = Outcome("lost", message="the measurement was ended")
    outcomes += [lost] * (len(job.decisions) - len(outcomes))
    return [outcome.to_json() for outcome in outcomes]


def end_all() -> None:
    """End the children that this process has running, and the jobs they belong to."""
    global _ends
    with _lock:
        _ends += 1
        running = [*_running]
    for child in running:
        _kill(child)


def _in_one_child(job: Job, ends: int) -> list[Outcome]:
    """The outcomes until all are there or one went wrong, which is the last then.

    Where there have been more than `ends` ends already, the child is ended at once.
    """
    with tempfile.TemporaryFile("w+") as errors:
        child = _start(job, errors, ends)
        try:
            return _collect(child, job, errors)
        finally:
            _kill(child)
            _close(child)
            with _lock:
                _running.discard(child)


def _start(job: Job, errors: IO[str], ends: int) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=os.environ | job.environment,
        # Ctrl-C is for this process, which ends its children; and the group of a child
        # has what a driver may have started.
        start_new_session=True,
    )
    with _lock:
        _running.add(child)
        is_too_late = ends != _ends
    if is_too_late:
        _kill(child)
    assert child.stdin is not None
    # A child that has ended already is noticed when its output is read.
    with suppress(BrokenPipeError):
        child.stdin.write(job.to_json() + "\n")
        child.stdin.flush()
    return child


def _collect(child: subprocess.Popen[str], job: Job, errors: IO[str]) -> list[Outcome]:
    lines: Queue[str | None] = Queue()
    Thread(target=_forward, args=(child, lines), daemon=True).start()
    outcomes: list[Outcome] = []
    is_ready = False
    deadline = time.monotonic() + _START_SECONDS + job.time_limit
    while len(outcomes) < len(job.decisions):
        try:
            line = lines.get(timeout=max(deadline - time.monotonic(), 0))
        except Empty:
            last = Outcome("timeout", message=f"took longer than {job.time_limit:g} s")
            return [*outcomes, last] if is_ready else _lost(job, last)
        if line is None:
            last = _crash(child, errors)
            return [*outcomes, last] if is_ready else _lost(job, last)
        outcome = _outcome(line)
        if outcome is not None:
            outcomes.append(outcome)
        if outcome is not None or line.startswith(READY):
            is_ready = True
            deadline = time.monotonic() + job.time_limit
    return outcomes


def _lost(job: Job, last: Outcome) -> list[Outcome]:
    """The outcomes of a job whose child did not come as far as the first decision.

    It would not for any of them, and that says nothing about them.
    """
    return [replace(last, status="lost")] * len(job.decisions)


def _forward(child: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    """Put the lines that a child prints into a queue, None at the end."""
    assert child.stdout is not None
    with suppress(ValueError, OSError):
        for line in child.stdout:
            lines.put(line)
    lines.put(None)


def _outcome(line: str) -> Outcome | None:
    """The outcome on a line; None where a driver has printed it."""
    if not line.startswith(MARK):
        return None
    try:
        return Outcome.from_json(line.removeprefix(MARK))
    except (ValueError, TypeError):
        return None


def _crash(child: subprocess.Popen[str], errors: IO[str]) -> Outcome:
    """What is known of a child that ended before its time."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(timeout=5)
    status = child.returncode
    errors.seek(0)
    said = " ".join(errors.read()[-_MOST_MESSAGE:].split())
    if status is not None and status < 0:
        ended = f"ended by {signal.Signals(-status).name}"
    else:
        ended = f"ended with status {status}"
    return Outcome("crash", message=f"{ended}: {said}" if said else ended)


def _kill(child: subprocess.Popen[str]) -> None:
    """End a child and all that it has started; what it has printed can still be read.

    Any thread may do that.
    """
    if child.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _close(child: subprocess.Popen[str]) -> None:
    """Let go of what leads to a child, which has ended; for the thread that reads."""
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
