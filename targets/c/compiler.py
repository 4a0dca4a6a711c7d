"""The system's C compiler: what it is, and what it makes of kernels.

It is the one that the environment variable `CC` names, else `cc`. It compiles for the
processor that it runs on, in a folder that only this user can read and that is gone
afterwards.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import GinghamError

_COMMON = (
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-shared",
    "-w",
    # A product in a sum is one instruction where there is one, as for OpenCL C.
    "-ffp-contract=fast",
    # Nobody asks for what these keep, and without them loops become vectors.
    "-fno-math-errno",
    "-fno-trapping-math",
    # Memory is read and written as vectors of its elements.
    "-fno-strict-aliasing",
    "-fsigned-char",
)
_NATIVE = "-march=native"
FAST_MATH = "-ffast-math"
"""Allows the compiler to lose digits; infinities and NaN have no meaning."""

_SECONDS = 600
_LONGEST_LOG = 2000

_VECTOR_BITS = (("AVX512F", 512), ("AVX", 256))
"""By the macro that a compiler defines; all others have 128."""
_FEATURES = re.compile(r"#define __((?:AVX|SSE|FMA|F16C|BMI|ARM_|NEON|VSX|riscv_)\w*) ")


@dataclass(frozen=True)
class Compiler:
    """A compiler that works."""

    command: tuple[str, ...]
    version: str
    """Its name and version, on a line."""
    flags: tuple[str, ...]
    """With which kernels are compiled."""
    features: tuple[str, ...]
    """What the processor has, by the names of its macros: `AVX512F`."""

    @property
    def vector_bits(self) -> int:
        """The width of the processor's vectors."""
        widths = (bits for name, bits in _VECTOR_BITS if name in self.features)
        return next(widths, 128)


@cache
def compiler() -> Compiler:
    """The system's compiler. Raises GinghamError where there is none that works."""
    words = shlex.split(os.environ.get("CC") or "cc")
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise GinghamError(
            f"there is no C compiler '{' '.join(words)}' on the PATH",
            hint="install GCC or Clang, or name one by the environment variable CC",
        )
    command = (path, *words[1:])
    version = _output([*command, "--version"]).partition("\n")[0]
    question = ["-dM", "-E", "-x", "c", os.devnull]
    try:
        macros, native = _output([*command, _NATIVE, *question]), (_NATIVE,)
    except GinghamError:
        macros, native = _output([*command, *question]), ()
    found: list[str] = _FEATURES.findall(macros)
    features = tuple(sorted({name.rstrip("_") for name in found}))
    return Compiler(command, version, (*_COMMON, *native), features)


def build_library(source: str, options: Sequence[str] = ()) -> bytes:
    """The shared library that the compiler makes of C.

    Raises GinghamError, with what it says, where it makes none.
    """
    known = compiler()
    with TemporaryDirectory(prefix="gingham-") as name:
        folder = Path(name)
        text, library = folder / "kernels.c", folder / "kernels.so"
        text.write_text(source)
        files = ["-o", str(library), str(text), "-lm"]
        _output([*known.command, *known.flags, *options, *files])
        try:
            return library.read_bytes()
        except OSError as error:
            title = f"the C compiler '{known.command[0]}'"
            raise GinghamError(f"{title} makes no library: {error}") from error


def load_library(data: bytes) -> ctypes.CDLL:
    """A library that `build_library` made, in this process.

    Raises GinghamError where the system does not load it.
    """
    with TemporaryDirectory(prefix="gingham-") as name:
        path = Path(name) / "kernels.so"
        path.write_bytes(data)
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            raise GinghamError(
                f"the system does not load compiled kernels: {error}",
                hint="the environment variable TMPDIR names a folder from which "
                "programs may be run",
            ) from error


@cache
def processor() -> tuple[str, str]:
    """What the system tells of the processor: who makes it, and its name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = dict(re.findall(r"^(vendor_id|model name)\s*:\s*(.*)$", text, re.MULTILINE))
    name = found.get("model name") or platform.processor() or platform.machine()
    return found.get("vendor_id", ""), name


def _output(command: Sequence[str]) -> str:
    """What a command prints. Raises GinghamError where it fails."""
    title = f"the C compiler '{command[0]}'"
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GinghamError(f"{title} took more than {_SECONDS} s") from error
    except OSError as error:
        raise GinghamError(f"{title} can not be run: {error}") from error
    if result.returncode:
        log = result.stderr.decode(errors="replace").strip()[:_LONGEST_LOG]
        raise GinghamError(f"{title} refuses the kernels:\n{log}")
    return result.stdout.decode(errors="replace")
