"""The system's compiler: which one, and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gingham.targets.c.compiler import compiler
from gingham.targets.c.device import DEVICE

_SKIP = "while [ $# -gt 1 ] && [ $1 != -o ]; do shift; done"
_QUESTION = "from gingham.targets.c.device import DEVICE; print(DEVICE.failure())"


def failure_with(**environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", _QUESTION],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return result.stdout.strip()


def test_it_works_here() -> None:
    if (failure := DEVICE.failure()) is not None:
        pytest.skip(f"no C compiler: {failure}")
    assert DEVICE.properties["compiler"] == compiler().version
    assert compiler().vector_bits in (128, 256, 512)


def test_one_that_is_missing() -> None:
    assert failure_with(CC="no-such-compiler -m64") == (
        "there is no C compiler 'no-such-compiler -m64' on the PATH"
    )
    assert "there is no C compiler 'cc'" in failure_with(PATH="/nowhere", CC="")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 1", "refuses the kernels"),
        ("echo some compiler", "makes no library"),
        (f"echo hm; {_SKIP}; touch ${{2:-/dev/null}}", "does not load"),
    ],
)
def test_one_that_does_not_compile(tmp_path: Path, script: str, reason: str) -> None:
    path = tmp_path / "cc"
    path.write_text(f"#!/bin/sh\n{script} 2> /dev/null\n")
    path.chmod(0o755)
    assert reason in failure_with(CC=str(path))


def test_nobody_else_can_read_the_folder(tmp_path: Path) -> None:
    if DEVICE.failure() is not None:
        pytest.skip("no C compiler")
    log, path = tmp_path / "log", tmp_path / "cc"
    path.write_text(
        "#!/bin/sh\n"
        'for each in "$@"; do case "$each" in\n'
        f'  *.c) dirname "$each" >> {log}; stat -c %a "$(dirname "$each")" >> {log};;\n'
        "esac; done\n"
        f'exec {" ".join(compiler().command)} "$@"\n'
    )
    path.chmod(0o755)
    assert failure_with(CC=str(path)) == "None"
    folder, mode = log.read_text().split()
    assert mode == "700"
    assert not Path(folder).exists()
