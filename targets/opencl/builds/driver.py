"""A driver's compiler: source or binary in, a program or an error out.

pyopencl's own `Program.build` is passed by: it un-pickles files of a cache folder,
leaves the source of a failed build in the temporary directory and warns about every
remark of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, cast

from ....errors import GinghamError
from ..build_log import describe_failure
from ..closing import builds
from ..status import as_gingham_error, meaning
from .inlined_vectors import with_inlined_vectors

if TYPE_CHECKING:
    import pyopencl as cl

    from ..handles.handle import DeviceHandle


# What Intel's compiler leaves behind takes five times the memory of what is loaded from
# its binary, which takes 3 ms: where there are few programs, that is not worth it.
_FIRST_PROGRAMS = 16
_FIRST_BYTES = 1024
"""Of a binary, among which machine code has some that are zero."""


class InnerProgram(Protocol):
    """A program of pyopencl's inner layer, which has no cache and writes no files."""

    def get_build_info(
        self, device: cl.Device, question: cl.program_build_info
    ) -> str | None:
        """What a build for the device says of itself: status, options, log."""
        ...

    def get_info(self, question: cl.program_info) -> Sequence[bytes]:
        """What holds for all devices: the binaries, one for each device."""
        ...


def build(
    device: DeviceHandle, source: str, options: str, whole: str | None = None
) -> InnerProgram:
    """What the device's compiler makes of OpenCL C.

    Raises GinghamError, with what the compiler says beside the lines of `whole`, of
    which the source may be a part that counts its lines as `whole` does.
    """
    if device.details.compares_names and "-cl-std=" not in options:
        faster = with_inlined_vectors(source)
        if faster is not source:
            # What is wrong with the source is said of it as it is.
            with suppress(GinghamError):
                return _built(device, faster, options, faster)
    return _built(device, source, options, whole or source)


def _built(device: DeviceHandle, source: str, options: str, whole: str) -> InnerProgram:
    import pyopencl as cl

    try:
        program = _create(device.context, source.encode())
    except cl.Error as error:
        raise as_gingham_error("creating an OpenCL program", error) from error
    try:
        _build(program, options, device.handle)
    except cl.Error as error:
        raise _build_error(device, whole, options, program, error) from error
    return program


def build_to_keep(
    device: DeviceHandle, source: str, options: str, whole: str | None = None
) -> InnerProgram:
    """As `build`; of many programs only the first keep what the compiler leaves."""
    program = build(device, source, options, whole)
    device.built_count += 1
    is_one_of_many = device.built_count > _FIRST_PROGRAMS
    if is_one_of_many and device.details.builds_whole_binaries:
        binary = binary_of(program)
        if _is_machine_code(binary):
            return load(device, binary, options)
    return program


def _is_machine_code(binary: bytes) -> bool:
    """Whether a driver has only to load a binary.

    Others are text, as of NVIDIA's: instructions that it compiles once more, for half a
    second where the kernel is long.
    """
    return b"\0" in binary[:_FIRST_BYTES]


def load(device: DeviceHandle, binary: bytes, options: str) -> InnerProgram:
    """The program that a binary was asked of. Raises GinghamError for another's."""
    import pyopencl as cl

    try:
        program = _create(device.context, [device.handle], [binary])
        _build(program, options, device.handle)
    except (cl.Error, ValueError, RuntimeError) as error:
        raise GinghamError(f"loading a binary failed: {error}") from error
    return program


def binary_of(program: InnerProgram) -> bytes:
    """What the device's compiler made, for `load`."""
    import pyopencl as cl

    return program.get_info(cl.program_info.BINARIES)[0]


def log_of(program: InnerProgram, device: DeviceHandle) -> str:
    """What the compiler remarked."""
    import pyopencl as cl

    try:
        log = program.get_build_info(device.handle, cl.program_build_info.LOG)
    except cl.Error:
        return ""
    # Some drivers pad the log with NUL characters.
    return (log or "").replace("\0", "").strip()


def _create(context: cl.Context, *contents: object) -> InnerProgram:
    """From source, or from a list of devices and one of their binaries."""
    import pyopencl as cl

    create = cast("Callable[..., InnerProgram]", getattr(cl, "_Program"))
    return create(context, *contents)


def _build(program: InnerProgram, options: str, device: cl.Device) -> None:
    run = cast(
        "Callable[[bytes, Sequence[cl.Device]], None]", getattr(program, "_build")
    )
    with builds:
        run(options.encode(), [device])


def _build_error(
    device: DeviceHandle,
    source: str,
    options: str,
    program: InnerProgram,
    error: cl.Error,
) -> GinghamError:
    import pyopencl as cl

    action = f"building OpenCL C for device {device.name!r}"
    if options:
        action += f" with options {options}"
    log = log_of(program, device)
    if error.code != cl.status_code.BUILD_PROGRAM_FAILURE:
        reason = meaning(error.code)
        return GinghamError(f"{action} failed: {reason}" + (f"\n{log}" if log else ""))
    return GinghamError(f"{action} failed:\n{describe_failure(source, log)}")
