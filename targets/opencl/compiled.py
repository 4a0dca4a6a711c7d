"""What is left of a module when it is compiled for a device; as bytes, to be stored.

The bytes are one line of JSON with the host program, then the OpenCL C, then what the
device's compiler made of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...dialects.numpy_names import dtype_of_name
from ...errors import GinghamError
from ...observation import note, now
from ..host_program import HostLaunch, HostProgram, Slot
from .program import Program, build_options, build_program, load_program

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .devices.device import OpenCLDevice


# What programs loaded from binaries took with Intel's runtime: 0.53 MB for 2 KB of
# source, 12 MB for 235 KB.
_PROGRAM_BYTES = 400 << 10
_BYTES_FOR_EACH_OF_SOURCE = 52


@dataclass(frozen=True)
class PrintedCode:
    """A host program with the OpenCL C of the kernels that it launches."""

    program: HostProgram
    source: str
    """The OpenCL C of all kernels."""


@dataclass(frozen=True)
class CompiledCode(PrintedCode):
    """A host program with the kernels that it launches."""

    built: Program | None
    """The kernels; None where none is launched."""
    options: tuple[str, ...]
    """Those of the device's compiler that they were built with."""
    is_checked: bool = False
    """Whether results have been held against what they should be."""

    @property
    def size_in_bytes(self) -> int:
        """An estimate of what it takes, which drivers do not tell."""
        return _PROGRAM_BYTES + _BYTES_FOR_EACH_OF_SOURCE * len(self.source)


def print_module(module: ModuleOp) -> PrintedCode:
    """What is compiled of a module at the opencl level.

    Raises GinghamError for what OpenCL C does not have.
    """
    from ..host_reader import host_program
    from .printer import print_opencl

    start = now()
    source = print_opencl(module)
    note("compile", "print OpenCL C", start)
    return PrintedCode(host_program(module), source)


def build_code(
    printed: PrintedCode, device: OpenCLDevice, options: Sequence[str] | None = None
) -> CompiledCode:
    """Compile the kernels for a device.

    Raises GinghamError where the device can not run them.
    """
    program, source = printed.program, printed.source
    _check_extensions(source, device)
    start = now()
    words = build_options(device) if options is None else tuple(options)
    built = build_program(device, source, words) if program.launches else None
    note("compile", "build", start)
    return CompiledCode(program, source, built, words)


def compile_module(
    module: ModuleOp, device: OpenCLDevice, options: Sequence[str] | None = None
) -> CompiledCode:
    """Compile the kernels of a module at the opencl level.

    Raises GinghamError where the device can not run them.
    """
    return build_code(print_module(module), device, options)


def rebuilt(
    code: CompiledCode, device: OpenCLDevice, source: str, options: Sequence[str]
) -> CompiledCode:
    """The same host program with kernels of another text, or built in another way."""
    built = build_program(device, source, options) if code.program.launches else None
    return CompiledCode(code.program, source, built, tuple(options))


def to_bytes(code: CompiledCode) -> bytes:
    """The code as bytes, for `from_bytes` on the same device and driver."""
    source = code.source.encode()
    binaries = [] if code.built is None else code.built.binaries()
    header = host_table(code.program) | {
        "options": code.options,
        "checked": code.is_checked,
        "source": len(source),
        "binaries": [len(binary) for binary in binaries],
    }
    return b"".join([json.dumps(header).encode(), b"\n", source, *binaries])


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


def from_bytes(data: bytes, device: OpenCLDevice) -> CompiledCode:
    """The code that `to_bytes` gave.

    Raises GinghamError for other bytes, and where the device does not take them. They
    must be known to come from `to_bytes`: a device runs what it is given.
    """
    end = data.find(b"\n")
    try:
        header = json.loads(data[:end])
        program = _program(header)
        middle = end + 1 + int(header["source"])
        source = data[end + 1 : middle].decode()
        binaries: list[bytes] = []
        for size in map(int, header["binaries"]):
            binaries.append(data[middle : middle + size])
            middle += size
        if middle != len(data):
            raise ValueError("bytes are missing")
        options = tuple(map(str, header["options"]))
        is_checked = bool(header["checked"])
    except (ValueError, KeyError, TypeError) as error:
        raise GinghamError(f"a stored program is damaged: {error}") from error
    if not program.launches:
        return CompiledCode(program, source, None, options, is_checked)
    built = load_program(device, source, binaries, options)
    return CompiledCode(program, source, built, options, is_checked)


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


def _check_extensions(source: str, device: OpenCLDevice) -> None:
    """Refuse a type that the device does not compute with."""
    if "EXTENSION cl_khr_fp64 " in source and not device.details.supports_fp64:
        raise GinghamError(
            f"device {device.name!r} does not compute with f64",
            hint="`tile-devices` lists devices; cl_khr_fp64 is what it needs",
        )
