"""`python -m bench.soak`, shortened: right results, no deadlock, no growth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMITS = ["--growth=128", "--stall=600"]


def test_threads_get_what_they_get_alone() -> None:
    result = subprocess.run(
        # In so short a time caches are still filling, and on a busy machine a call may
        # take longer than this.
        [sys.executable, "-m", "bench.soak", "--minutes=0.1", *LIMITS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "8 threads" in result.stdout
    assert "wrong" not in result.stdout


def test_a_wrong_command() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "bench.soak", "--threads=none"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert "--threads" in result.stderr
