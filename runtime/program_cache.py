"""Compiled programs on disk: a further process loads what an earlier one compiled.

The environment variable GINGHAM_CACHE names the folder; `on` is the user's own cache
folder, and without it, or with `off`, programs are kept in memory only.
GINGHAM_CACHE_LIMIT is the most that the folder may hold, in MiB (default 1024).

A program is found by all that it is made from: its IR, the shapes and types of its
inputs, the options of the passes with the figures of the hardware, measured decisions,
device, driver and the options of its compiler, and the code of this package. What is
loaded is what that code would make, so results are the same bits.
"""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GinghamError
from .store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..passes.pipelines import TargetOptions
    from ..targets.opencl.compiled import CompiledCode
    from ..targets.opencl.device import OpenCLDevice

CACHE_VARIABLE = "GINGHAM_CACHE"
LIMIT_VARIABLE = "GINGHAM_CACHE_LIMIT"
OFF = "off"
ON = "on"
DEFAULT_LIMIT = 1024
"""The most that the folder may hold, in MiB."""

_MIB = 1 << 20
_LIBRARIES = ("islpy", "numpy", "pyopencl", "xdsl")
_SOURCES = (".py", ".toml", ".lark")
_FORMAT = 1
"""What is stored under a key of another format is never found."""


def program_store() -> Store | None:
    """The folder of compiled programs, None where they are kept in memory only."""
    chosen = os.environ.get(CACHE_VARIABLE) or OFF
    if chosen == OFF or not hasattr(os, "geteuid"):
        return None
    return store_at(chosen, _limit())


class StoredPrograms:
    """What is stored of programs for one device."""

    def __init__(self, device: OpenCLDevice, words: Sequence[str]) -> None:
        """`words` are the options of the device's compiler."""
        self._device = device
        self._words = words
        # The code must not have changed since this process loaded it.
        self._store = program_store() if code_is_unchanged() else None

    def __bool__(self) -> bool:
        return self._store is not None

    def key(self, program: str, options: TargetOptions, recall: str) -> str:
        """All that the code of a program depends on.

        `program` is its IR with what it is specialized for; `recall` says which
        measured decisions there are.
        """
        parts = [
            _FORMAT,
            program,
            repr(options),
            recall,
            self._words,
            self._device.properties,
            *_compiler(),
        ]
        return "\0".join(map(str, parts))

    def load(self, key: str) -> CompiledCode | None:
        """What was stored for a key, if it is there and the device takes it."""
        from ..targets.opencl.compiled import from_bytes

        data = None if self._store is None else self._store.get(key)
        if data is None:
            return None
        try:
            return from_bytes(data, self._device, self._words)
        except GinghamError:
            return None

    def save(self, key: str, code: CompiledCode) -> None:
        """Store code for a key."""
        from ..targets.opencl.compiled import to_bytes

        if self._store is not None:
            self._store.put(key, to_bytes(code))


@cache
def store_at(chosen: str, limit: int) -> Store:
    if chosen != ON:
        return Store(Path(chosen), limit)
    from platformdirs import user_cache_path

    return Store(user_cache_path("gingham", appauthor=False) / "programs", limit)


def _limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE)
    if not text:
        return DEFAULT_LIMIT * _MIB
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise GinghamError(
            f"expected {LIMIT_VARIABLE} to be a number of MiB, got '{text}'"
        )
    return int(text) * _MIB


@cache
def _compiler() -> tuple[str, ...]:
    """The versions of everything that takes part in compiling."""
    from importlib.metadata import PackageNotFoundError, version

    versions = [sys.version]
    for library in _LIBRARIES:
        try:
            versions.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            versions.append(f"{library} ?")
    return *versions, package_code()[0]


@cache
def package_code() -> tuple[str, float]:
    """A digest of the files of this package, and when the newest was written."""
    digest, newest = sha256(), 0.0
    root = Path(__file__).resolve().parents[1]
    folders = [root / name for name in _FOLDERS]
    files = [root / "errors.py"]
    for folder in folders:
        files += [file for file in folder.rglob("*") if file.suffix in _SOURCES]
    for file in sorted(files):
        status = file.stat()
        line = f"{file.relative_to(root)} {status.st_size} {status.st_mtime_ns}\n"
        digest.update(line.encode())
        newest = max(newest, status.st_mtime)
    return digest.hexdigest(), newest


_FOLDERS = ("affine", "dialects", "frontend", "passes", "runtime", "targets")
"""Where the code is that makes programs."""


@cache
def code_is_unchanged() -> bool:
    """Whether this process runs the code that its files have now."""
    started = process_start()
    return started is None or package_code()[1] < started


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
