"""What is left of a module when it is compiled; as bytes, to be stored.

The bytes are one line of JSON with the host program, then the text of the kernels, then
what a compiler made of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..dialects.numpy_names import dtype_of_name
from ..errors import GinghamError
from .host_program import HostLaunch, HostProgram, Slot


@dataclass(frozen=True)
class PrintedCode:
    """A host program with the kernels that it launches, as text."""

    program: HostProgram
    source: str
    """The text of all kernels."""


@dataclass(frozen=True)
class BuiltCode(PrintedCode):
    """The same when a compiler has built the kernels; each target adds what it made."""

    _: KW_ONLY
    options: tuple[str, ...] = ()
    """Those of the compiler that they were built with."""
    is_checked: bool = False
    """Whether results have been held against what they should be."""


@dataclass(frozen=True)
class StoredCode(BuiltCode):
    """What bytes hold."""

    binaries: Sequence[bytes]
    """What the compiler made of the text."""


def to_bytes(code: BuiltCode, binaries: Sequence[bytes]) -> bytes:
    """Code, with what the compiler made of its text, as bytes for `from_bytes`."""
    source = code.source.encode()
    header = host_table(code.program) | {
        "options": code.options,
        "checked": code.is_checked,
        "source": len(source),
        "binaries": [len(binary) for binary in binaries],
    }
    return b"".join([json.dumps(header).encode(), b"\n", source, *binaries])


def from_bytes(data: bytes) -> StoredCode:
    """What `to_bytes` was given. Raises GinghamError for other bytes."""
    end = data.find(b"\n")
    try:
        header = json.loads(data[:end])
        program = _program(header)
        options = tuple(map(str, header["options"]))
        is_checked = bool(header["checked"])
        middle = end + 1 + int(header["source"])
        source = data[end + 1 : middle].decode()
        binaries: list[bytes] = []
        for size in map(int, header["binaries"]):
            binaries.append(data[middle : middle + size])
            middle += size
        if middle != len(data):
            raise ValueError("bytes are missing")
    except (ValueError, KeyError, TypeError) as error:
        raise GinghamError(f"a stored program is damaged: {error}") from error
    return StoredCode(program, source, binaries, options=options, is_checked=is_checked)


def host_table(program: HostProgram) -> dict[str, Any]:
    """A host program as JSON has it."""
    return {
        "slots": [
            [slot.name, slot.shape, slot.dtype.name, slot.place]
            for slot in program.slots
        ],
        "input_count": program.input_count,
        "constants": program.constants,
        "launches": [
            [
                each.kernel,
                each.global_size,
                each.local_size,
                each.slots,
                each.runs_once,
                each.location,
                each.flops,
                each.bytes_read,
                each.bytes_written,
            ]
            for each in program.launches
        ],
        "results": program.results,
    }


def _program(header: Any) -> HostProgram:
    return HostProgram(
        tuple(
            Slot(str(name), tuple(shape), dtype_of_name(dtype), place)
            for name, shape, dtype, place in header["slots"]
        ),
        int(header["input_count"]),
        tuple(header["constants"]),
        tuple(_launch(*fields) for fields in header["launches"]),
        tuple(header["results"]),
    )


def _launch(
    kernel: Any,
    global_size: Any,
    local_size: Any,
    slots: Any,
    runs_once: Any,
    location: Any,
    *work: Any,
) -> HostLaunch:
    flops, bytes_read, bytes_written = map(int, work)
    return HostLaunch(
        str(kernel),
        tuple(global_size),
        tuple(local_size),
        tuple(slots),
        bool(runs_once),
        None if location is None else str(location),
        flops,
        bytes_read,
        bytes_written,
    )
