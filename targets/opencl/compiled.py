"""What is left of a module when it is compiled for a device; as bytes, to be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...errors import GinghamError
from ...observation import note, now
from .. import code as stored
from ..code import BuiltCode, PrintedCode
from .program import DeviceProgram, build_options, build_program, load_program

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ...dialects.opencl.kernel import KernelOp
    from ..printer import PrintedKernel
    from .builds.scheduling import BegunBuild
    from .devices.device import OpenCLDevice


# What programs loaded from binaries took with Intel's runtime: 0.53 MB for 2 KB of
# source, 12 MB for 235 KB.
_PROGRAM_BYTES = 400 << 10
_BYTES_FOR_EACH_OF_SOURCE = 52


@dataclass(frozen=True)
class CompiledCode(BuiltCode):
    """A host program with the kernels that it launches."""

    built: DeviceProgram | None
    """The kernels; None where none is launched."""

    @property
    def size_in_bytes(self) -> int:
        """An estimate of what it takes, which drivers do not tell."""
        return _PROGRAM_BYTES + _BYTES_FOR_EACH_OF_SOURCE * len(self.source)


def print_module(
    module: ModuleOp, known: Mapping[KernelOp, PrintedKernel] = MappingProxyType({})
) -> PrintedCode:
    """What is compiled of a module at the opencl level.

    `known` are kernels that were printed before the others.
    Raises GinghamError for what OpenCL C does not have.
    """
    from ..host_reader import host_program
    from .printer import print_opencl

    start = now()
    source = print_opencl(module, known=known)
    note("compile", "print OpenCL C", start)
    return PrintedCode(host_program(module), source)


def build_code(
    printed: PrintedCode,
    device: OpenCLDevice,
    options: Sequence[str] | None = None,
    begun: BegunBuild | None = None,
) -> CompiledCode:
    """Compile the kernels for a device, of which some may have been begun.

    Raises GinghamError where the device can not run them.
    """
    program, source = printed.program, printed.source
    _check_extensions(source, device)
    start = now()
    words = build_options(device) if options is None else tuple(options)
    built: DeviceProgram | None = None
    if program.launches:
        built = build_program(device, source, words, begun=begun)
    note("compile", "build", start)
    return CompiledCode(program, source, built, options=words)


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
    return CompiledCode(code.program, source, built, options=tuple(options))


def to_bytes(code: CompiledCode) -> bytes:
    """The code as bytes, for `from_bytes` on the same device and driver."""
    binaries = [] if code.built is None else code.built.binaries()
    return stored.to_bytes(code, binaries)


def from_bytes(data: bytes, device: OpenCLDevice) -> CompiledCode:
    """The code that `to_bytes` gave.

    Raises GinghamError for other bytes, and where the device does not take them. They
    must be known to come from `to_bytes`: a device runs what it is given.
    """
    code = stored.from_bytes(data)
    built: DeviceProgram | None = None
    if code.program.launches:
        built = load_program(device, code.source, code.binaries, code.options)
    return CompiledCode(
        code.program,
        code.source,
        built,
        options=code.options,
        is_checked=code.is_checked,
    )


def _check_extensions(source: str, device: OpenCLDevice) -> None:
    """Refuse a type that the device does not compute with."""
    if "EXTENSION cl_khr_fp64 " in source and not device.details.supports_fp64:
        raise GinghamError(
            f"device {device.name!r} does not compute with f64",
            hint="`tile-devices` lists devices; cl_khr_fp64 is what it needs",
        )
