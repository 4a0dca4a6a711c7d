"""Safer builds of the same kernels, for where a device's compiler gets them wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..compiled import CompiledCode, rebuilt

if TYPE_CHECKING:
    from ..devices.device import OpenCLDevice

UNOPTIMISED = "-cl-opt-disable"

_PRAGMA = re.compile(r"^[ \t]*#pragma (unroll|clang loop)\b.*\n", re.MULTILINE)
_STAYS_A_LOOP = r"\1#pragma unroll 1\n\1#pragma clang loop vectorize(disable)\n\1"
_LOOP = re.compile(r"^([ \t]*)(?=for \()", re.MULTILINE)


def without_unrolling(source: str) -> str:
    """The OpenCL C that we print, with each loop marked to stay a loop.

    A compiler unrolls loops, and makes vectors of them, without being told to, so that
    it is not enough to leave out what asks for it.
    """
    return _LOOP.sub(_STAYS_A_LOOP, _PRAGMA.sub("", source))


def unoptimised(code: CompiledCode, device: OpenCLDevice) -> CompiledCode:
    """The same kernels, built as they are written."""
    return rebuilt(code, device, code.source, (*code.options, UNOPTIMISED))


def safe_builds(
    code: CompiledCode, device: OpenCLDevice
) -> Iterator[tuple[str, CompiledCode]]:
    """What to try in place of code that is wrong, the faster first, and its name."""
    source = without_unrolling(code.source)
    if source != code.source:
        yield "without unrolling", rebuilt(code, device, source, code.options)
    yield "without optimisation", unoptimised(code, device)
