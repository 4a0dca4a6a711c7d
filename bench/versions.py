"""Two versions of Gingham beside each other, each in an environment of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class VersionError(Exception):
    """A version that there is not, or that cannot be installed, and why."""


def interpreter_of(version: str, folder: Path) -> Path:
    """The Python interpreter that imports a version of Gingham.

    A version is a commit of this repository, by any name that git knows, or a checkout
    with an environment `.venv`. A commit is written to a folder in `folder` and
    installed there by its own `scripts/environment`, once: a second call finds it.
    Raises VersionError.
    """
    checkout = Path(version)
    if not (checkout / ".venv").is_dir():
        checkout = _installed(_commit(version), folder)
    python = checkout.resolve() / ".venv" / "bin" / "python"
    _check_origin(python, checkout.resolve())
    return python


def _commit(name: str) -> str:
    command = ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        raise VersionError(
            f"'{name}' is neither a commit nor a checkout with an environment .venv"
        )
    return found.stdout.strip()


def _installed(commit: str, folder: Path) -> Path:
    """The folder with the files of a commit, and with an environment."""
    checkout = folder / commit[:12]
    if not checkout.is_dir():
        # Files alone: a worktree would be one more that git has to be told to forget.
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as partial:
            with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
                files.extractall(Path(partial) / "files", filter="data")
            os.rename(Path(partial) / "files", checkout)
    script = ["sh", str(checkout / "scripts" / "environment"), "cpu"]
    if subprocess.run(script, stdout=sys.stderr).returncode:
        raise VersionError(f"{commit[:12]} cannot be installed in {checkout}")
    return checkout


def _check_origin(python: Path, checkout: Path) -> None:
    """An environment may hold another checkout than the one that it lies in."""
    code = "import gingham; print(gingham.__file__)"
    # The bench's workers start in this folder, too.
    result = subprocess.run(
        [python, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    if result.returncode:
        why = result.stderr.strip().splitlines()[-1:]
        raise VersionError(f"{python} cannot import gingham: {' '.join(why)}")
    found = Path(result.stdout.strip()).resolve().parent
    if found != checkout:
        raise VersionError(f"{python} imports gingham of {found}, not of {checkout}")
