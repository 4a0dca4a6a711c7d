"""`scripts/test-gpu`: which device it takes, and what it says where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "test-gpu"

# In place of Python: knows one GPU or none, and shows what pytest would be called with.
PYTHON = """\
#!/bin/sh
case "$2" in
  *gingham.devices*) echo "{gpu}" ;;
  *require_usable*) echo "$3: a card" ;;
  pytest) echo "$GINGHAM_DEVICE: $*" ;;
esac
"""


def run(tmp_path: Path, gpu: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    python = tmp_path / "python"
    python.write_text(PYTHON.replace("{gpu}", gpu))
    python.chmod(0o700)
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments],
        env={"PYTHON": str(python), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.parametrize(
    ("arguments", "device", "rest"),
    [
        ((), "card.0", ""),
        (("", "-k", "chain"), "card.0", " -k chain"),
        (("card.1", "-x"), "card.1", " -x"),
    ],
)
def test_device_and_options(
    tmp_path: Path, arguments: tuple[str, ...], device: str, rest: str
) -> None:
    done = run(tmp_path, "card.0", *arguments)
    told, called = done.stdout.splitlines()
    assert told == f"{device}: a card"
    assert called.startswith(f"{device}: -m pytest -q --ignore=")
    assert called.endswith(f".py{rest}")
    paths = [word for word in called.replace("--ignore=", "").split() if "/" in word]
    assert "test/runtime/arrays" in paths
    for path in paths:
        assert (SCRIPT.parents[1] / path).exists()


def test_without_a_gpu(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert done.returncode == 2
    assert done.stderr.startswith("no GPU: ")
