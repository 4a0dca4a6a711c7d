"""What takes long is shown on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

START = "import sys, time\nfrom gingham import progress\nprogress.SECONDS = 0.2\n"
NESTED = """
with progress.working("outer \\x1b]0;title"):
    time.sleep(0.1)
    progress.step("a step", 3, 12)
    with progress.working("inner [bold]"):
        progress.step("another")
        time.sleep(1.5)
        print("printed")
        print("a warning", file=sys.stderr)
    time.sleep(0.5)
print("the end", file=sys.stderr)
"""
SHORT = """
for _ in range(10):
    with progress.working("short"):
        time.sleep(0.05)
print("rich" in sys.modules)
"""
THREADS = """
from threading import Thread
def work(number):
    with progress.working(f"thread {number}"):
        time.sleep(0.6 + 0.3 * number)
threads = [Thread(target=work, args=(number,)) for number in range(3)]
for each in threads: each.start()
for each in threads: each.join()
"""
FAILING = """
with progress.working("failing"):
    time.sleep(1)
    raise ValueError("in vain")
"""
COMPILING = """
import gingham, numpy
gingham.compile("function (A[N, N]) -> (B) { B[i, j : N, N] = +(A[i, k] * A[k, j]); }")(
    numpy.ones((3, 3), numpy.float32))
"""


def on_terminal(program: str, **variables: str) -> tuple[str, str, int]:
    """What a program shows on a terminal, what it prints, and its status."""
    ours, theirs = pty.openpty()
    inherited = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
    environment = {**inherited, "TERM": "xterm", "COLUMNS": "100", **variables}
    with subprocess.Popen(
        [sys.executable, "-c", START + program],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
        text=True,
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:  # Nobody has the other end any more.
                break
            seen += data
        printed, _ = process.communicate()
    os.close(ours)
    return seen.decode(), printed, process.returncode


def words(seen: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)


def test_work_is_shown_while_it_lasts() -> None:
    seen, printed, _ = on_terminal(NESTED)
    assert "1 s outer \\x1b]0;title" in words(seen)
    assert "━" in words(seen)
    assert "a step" in words(seen)
    assert "1 s inner [bold]" in words(seen)
    assert "another" in words(seen)
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
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("printed\n", "a warning\nthe end\n")


def test_threads() -> None:
    seen, _, status = on_terminal(THREADS)
    for number in range(3):
        assert f"s thread {number}" in words(seen)
    assert seen.count("\x1b[?25l") == seen.count("\x1b[?25h") == 1
    assert status == 0


def test_errors_come_below() -> None:
    seen, _, status = on_terminal(FAILING)
    assert "s failing" in words(seen)
    assert seen.rindex("\x1b[2K") < seen.index("Traceback")
    assert status == 1


def test_compiling_is_shown() -> None:
    slow = "progress.SECONDS = 0.0\n"
    seen, _, status = on_terminal(slow + COMPILING, GINGHAM_CACHE="off")
    assert "Compiling (A 3x3 float32) -> (B)" in words(seen)
    assert status == 0
