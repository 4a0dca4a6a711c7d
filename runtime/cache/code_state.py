"""What code this process runs: what it compiles is kept for that code only.

In a checkout the code changes while its version stays, so the files themselves count,
by their names, sizes and times: reading them would take longer than starting a program.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

_LIBRARIES = ("islpy", "numpy", "pyopencl", "xdsl")
_SOURCES = (".py", ".toml", ".lark", ".json", ".h")
_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("affine", "dialects", "frontend", "passes", "runtime", "targets")
"""Where the code is that makes programs."""


@cache
def versions() -> tuple[str, ...]:
    """The versions of everything that takes part in compiling."""
    libraries = (f"{name} {_version(name)}" for name in _LIBRARIES)
    return sys.version, sys.platform, *libraries, package_code()[0]


def _version(library: str) -> str:
    """What changes with a library's version, found without its metadata's parsing."""
    try:
        spec = find_spec(library)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        return "?"
    beside = os.path.dirname(os.path.dirname(spec.origin))
    try:
        status = os.stat(spec.origin)
        names = [name for name in os.listdir(beside) if name.startswith(f"{library}-")]
    except OSError:
        return "?"
    # Of an editable installation only the time tells.
    return f"{spec.origin} {status.st_size} {status.st_mtime_ns} {sorted(names)}"


@cache
def package_code() -> tuple[str, float]:
    """A digest of the files of this package, and when the newest was written.

    That of the first call: what is imported later may be newer.
    """
    return _state()


@cache
def code_is_as_started() -> bool:
    """Whether no file of the code is newer than this process."""
    started = process_start()
    return started is None or package_code()[1] < started


def code_is_unchanged() -> bool:
    """As `code_is_as_started`, and no file has changed since."""
    return code_is_as_started() and _state() == package_code()


def _state() -> tuple[str, float]:
    digest, newest = sha256(), 0.0
    for name in _FOLDERS:
        pending = [os.path.join(_ROOT, name)]
        while pending:
            for path, status in _files(pending.pop(), pending):
                newest = max(newest, status.st_mtime)
                line = f"{path} {status.st_size} {status.st_mtime_ns}\n"
                digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest(), newest


def _files(folder: str, folders: list[str]) -> list[tuple[str, os.stat_result]]:
    """The source files of a folder in order; the folders in it join `folders`."""
    files: list[tuple[str, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.endswith(_SOURCES):
                # What an editor has there for a moment, or as a link to nothing.
                with suppress(FileNotFoundError):
                    files.append((entry.path, entry.stat()))
            elif entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)
    return files


def process_start() -> float | None:
    """When this process started, in seconds of `time.time`; None where unknown."""
    try:
        text = Path("/proc/self/stat").read_text()
        # Behind the name of the command, which may have spaces, this is field 20.
        ticks = int(text.rpartition(")")[2].split()[19])
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        return booted + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
