"""What takes long is shown on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from threading import Timer

import pytest

LONG = 100.0
"""Seconds, after which what is waited for does not come."""
START = """
import sys, time
from gingham import progress
progress.SECONDS = 0.2
shown = sys.stdin.readline  # returns when all that is waited for is on the terminal
"""
NESTED = """
with progress.working("outer \\x1b]0;title"):
    time.sleep(0.1)
    progress.step("a step", 3, 12)
    with progress.working("inner [bold]"):
        progress.step("another")
        shown()
        print("printed")
        print("a warning", file=sys.stderr)
print("the end", file=sys.stderr)
"""
SHORT = """
progress.SECONDS = 0.4
for _ in range(12):
    with progress.working("short"):
        time.sleep(0.05)
print("rich" in sys.modules)
"""
THREADS = """
from threading import Event, Thread
ends = [Event() for _ in range(3)]
def work(number):
    with progress.working(f"thread {number}"):
        ends[number].wait()
threads = [Thread(target=work, args=(number,)) for number in range(3)]
for each in threads: each.start()
shown()
for each, end in zip(threads, ends):
    end.set()
    each.join()
"""
FAILING = """
with progress.working("failing"):
    shown()
    raise ValueError("in vain")
"""
COMPILING = """
import gingham, numpy
progress.SECONDS = 0.0
def held_up(*arguments):
    progress.step = step
    step(*arguments)
    shown()
step, progress.step = progress.step, held_up
gingham.compile("function (A[N, N]) -> (B) { B[i, j : N, N] = +(A[i, k] * A[k, j]); }")(
    numpy.ones((3, 3), numpy.float32))
"""


def on_terminal(
    program: str, *waited_for: str, **variables: str
) -> tuple[str, str, int]:
    """What a program shows on a terminal, what it prints, and its status.

    It goes on behind `shown()` when all patterns have been found in what it shows.
    """
    ours, theirs = pty.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
    environment = {**inherited, "TERM": "xterm", "COLUMNS": "100", **variables}
    with subprocess.Popen(
        [sys.executable, "-c", START + program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
        text=True,
    ) as process:
        os.close(theirs)
        assert process.stdin is not None
        assert process.stdout is not None
        limit = Timer(LONG, process.kill)
        limit.start()
        seen, missing = b"", {*waited_for}
        while True:
            text = words(seen.decode(errors="replace"))
            missing = {each for each in missing if not re.search(each, text)}
            if not missing:
                process.stdin.close()
            try:
                data = os.read(ours, 4096)
            except OSError:  # Nobody has the other end any more.
                break
            seen += data
        printed = process.stdout.read()
        limit.cancel()
    os.close(ours)
    assert not missing, seen
    return seen.decode(), printed, process.returncode


def words(seen: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)


def test_work_is_shown_while_it_lasts() -> None:
    seen, printed, _ = on_terminal(
        NESTED, r"[1-9] s inner \[bold\] .*another", r"[1-9] s outer \\x1b\]0;title"
    )
    assert "━" in words(seen)
    assert "a step" in words(seen)
    assert printed == "printed\n"
    assert "a warning\r\n" in words(seen)
    # The cursor is there again, and nothing is left of the lines.
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")
    assert "\x1b[2K" in seen
    assert seen.endswith("the end\r\n")
    assert "outer" not in seen[seen.rindex("\x1b[2K") :]


def test_short_work_is_not_shown() -> None:
    assert on_terminal(SHORT) == ("", "False\n", 0)


@pytest.mark.parametrize(
    "variables", [{"GINGHAM_PROGRESS": "off"}, {"CI": "true"}, {"TERM": "dumb"}]
)
def test_it_is_switched_off(variables: dict[str, str]) -> None:
    seen, _, _ = on_terminal(NESTED, **variables)
    assert seen.splitlines() == ["a warning", "the end"]


def test_pipes_show_nothing() -> None:
    command: Sequence[str] = [sys.executable, "-c", START + NESTED]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("printed\n", "a warning\nthe end\n")


def test_threads() -> None:
    seen, _, status = on_terminal(THREADS, *(f"s thread {n}" for n in range(3)))
    assert seen.count("\x1b[?25l") == seen.count("\x1b[?25h") == 1
    assert status == 0


def test_errors_come_below() -> None:
    seen, _, status = on_terminal(FAILING, "s failing")
    assert seen.rindex("\x1b[2K") < seen.index("Traceback")
    assert status == 1


def test_compiling_is_shown() -> None:
    what = "Compiling (A 3x3 float32) -> (B)"
    _, _, status = on_terminal(COMPILING, re.escape(what), GINGHAM_CACHE="off")
    assert status == 0
