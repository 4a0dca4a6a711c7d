"""The commands where the caller has closed what they print to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "opt": ["--version"],
    "devices": [],
    "settings": [],
}


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_closed_streams_are_no_error(command: str, closed: str) -> None:
    program = f"import sys; from gingham.tools.{command} import main; sys.exit(main())"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-c", program]
        + COMMANDS[command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert bool(done.stdout) == closed.startswith("2")


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("option", ["", "-o out.mlir"])
def test_a_program_that_nobody_can_read_is_an_error(
    option: str, tmp_path: Path
) -> None:
    (tmp_path / "a.tile").write_text("function (A) -> (B) { B = A; }")
    script = "import sys; from gingham.tools.opt import main; sys.exit(main())"
    done = subprocess.run(
        ["sh", "-c", f'"$@" a.tile {option} >&-', "sh", sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if option else 1)
    closed = "error: cannot write the output: the standard output is closed\n"
    assert done.stderr.startswith("" if option else closed)
    assert (tmp_path / "out.mlir").exists() == bool(option)
