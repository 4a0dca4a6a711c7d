"""The commands where the caller has closed what they print to."""

from __future__ import annotations

import os
import subprocess
import sys

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
