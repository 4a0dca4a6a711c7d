"""What is left of a module when it is compiled as C; as bytes, to be stored."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...observation import note, now
from .. import code as stored
from ..code import BuiltCode, PrintedCode
from .compiler import build_library, load_library

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_PROGRAM_BYTES = 64 << 10
"""What a library takes beside its bytes."""


@dataclass(frozen=True)
class CCode(BuiltCode):
    """A host program with the kernels that it launches, as a shared library."""

    library: bytes

    @property
    def size_in_bytes(self) -> int:
        """An estimate of what it takes."""
        return _PROGRAM_BYTES + 2 * len(self.library)

    @cached_property
    def loaded(self) -> ctypes.CDLL:
        """The library in this process."""
        return load_library(self.library)


def print_module(module: ModuleOp) -> PrintedCode:
    """What is compiled of a module at the opencl level.

    Raises GinghamError for what C does not have.
    """
    from ..host_reader import host_program
    from ..printer import print_kernels
    from .language import GnuC

    start = now()
    source = print_kernels(module, GnuC())
    note("compile", "print C", start)
    return PrintedCode(host_program(module), source)


def build_code(printed: PrintedCode, options: Sequence[str] = ()) -> CCode:
    """Compile the kernels. Raises GinghamError where the compiler does not."""
    start = now()
    has_work = bool(printed.program.launches)
    library = build_library(printed.source, options) if has_work else b""
    note("compile", "build", start)
    return CCode(printed.program, printed.source, library, options=tuple(options))


def compile_module(module: ModuleOp, options: Sequence[str] = ()) -> CCode:
    """Compile the kernels of a module at the opencl level.

    Raises GinghamError for what C does not have.
    """
    return build_code(print_module(module), options)


def to_bytes(code: CCode) -> bytes:
    """The code as bytes, for `from_bytes` with the same compiler and processor."""
    return stored.to_bytes(code, [code.library])


def from_bytes(data: bytes) -> CCode:
    """The code that `to_bytes` gave. Raises GinghamError for other bytes.

    They must be known to come from `to_bytes`: the machine runs what it is given.
    """
    known = stored.from_bytes(data)
    return CCode(
        known.program,
        known.source,
        b"".join(known.binaries),
        options=known.options,
        is_checked=known.is_checked,
    )
