"""Building OpenCL C for a device, and the kernels of what was built.

pyopencl's own `Program.build` is passed by: it un-pickles files of a cache folder,
leaves the source of a failed build in the temporary directory and warns about every
remark of the compiler. Built programs are for the caller to keep.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, cast

from ...errors import GinghamError, visible
from ...settings import find
from .build_log import describe_failure
from .status import as_gingham_error, meaning

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl

    from .devices.device import OpenCLDevice

DEFAULT_OPTIONS = ("-cl-mad-enable",)

# No default: it costs accuracy (1.6e-4 in exp on Intel's runtime) and reorders sums,
# and gained nothing in measured kernels.
FAST_MATH = "-cl-fast-relaxed-math"


def build_options(device: OpenCLDevice, *, fast_math: bool = False) -> tuple[str, ...]:
    """The options for a device: division and square roots are exact where it can.

    With `fast_math` little is exact: see `docs/accuracy.md`.
    """
    if fast_math:
        return (*DEFAULT_OPTIONS, FAST_MATH)
    if device.details.rounds_division_correctly:
        return (*DEFAULT_OPTIONS, "-cl-fp32-correctly-rounded-divide-sqrt")
    return DEFAULT_OPTIONS


# pyopencl writes a Python function for each kernel, and names it by counting those that
# there are: two threads at once take the same name, which is warned about.
_making_kernels = Lock()

# Programs that are kept, in case that the same source is built again.
_MOST_PROGRAMS = 128


class Kernel:
    """One kernel of a built program.

    `lock` must be held from setting the first argument until the launch, because the
    arguments belong to the kernel, not to the launch.
    """

    def __init__(self, device: OpenCLDevice, name: str, handle: cl.Kernel) -> None:
        self.device = device
        self.name = name
        self.title = f"kernel {name!r}"
        self.handle = handle
        self.argument_count = handle.num_args
        self.set_memory: Callable[[int, cl.Buffer], None] = handle.set_arg
        # `set_arg` finds out by exceptions that a value is a scalar: 9 us, not 0.1.
        self.set_scalar = cast(
            "Callable[[int, np.generic], None]",
            getattr(handle, "_set_arg_buf", handle.set_arg),
        )
        self.lock = Lock()

    @property
    def max_work_group_size(self) -> int:
        """The most work-items of a group that this kernel can have on its device."""
        import pyopencl as cl

        return self._on_device(cl.kernel_work_group_info.WORK_GROUP_SIZE)

    @property
    def local_memory_bytes(self) -> int:
        """The local memory of one work-group of this kernel."""
        import pyopencl as cl

        return self._on_device(cl.kernel_work_group_info.LOCAL_MEM_SIZE)

    @property
    def private_memory_bytes(self) -> int:
        """The private memory of one work-item that did not fit into registers."""
        import pyopencl as cl

        return self._on_device(cl.kernel_work_group_info.PRIVATE_MEM_SIZE)

    def _on_device(self, question: cl.kernel_work_group_info) -> int:
        answer: Any = self.handle.get_work_group_info(question, self.device.handle)
        return int(answer)

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r} on {self.device.name}>"


class Program:
    """Source built for one device; `kernel` gives its kernels, each made once."""

    def __init__(self, device: OpenCLDevice, source: str, inner: _InnerProgram) -> None:
        import pyopencl as cl

        self.device = device
        self.source = source
        self._inner = inner
        self._handle = handle = cl.Program(cast("Any", inner))
        self._kernels: dict[str, Kernel] = {}
        self._lock = Lock()
        self.kernel_names = tuple(filter(None, handle.kernel_names.split(";")))

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name. Raises GinghamError where there is none."""
        with self._lock:
            if name not in self._kernels:
                self._kernels[name] = self.new_kernel(name)
            return self._kernels[name]

    def show_remarks(self) -> None:
        """Print what the device's compiler remarked to the standard error stream."""
        log = _log(self._inner, self.device.handle)
        if log:
            print(visible(log), file=sys.stderr)

    def binary(self) -> bytes:
        """What the device's compiler made, for `load_program`."""
        import pyopencl as cl

        return self._inner.get_info(cl.program_info.BINARIES)[0]

    def new_kernel(self, name: str) -> Kernel:
        """A kernel of that name whose arguments nobody else sets."""
        import pyopencl as cl

        # NVIDIA's driver makes a kernel of any name, so the driver is not asked.
        if name not in self.kernel_names:
            names = ", ".join(self.kernel_names)
            raise GinghamError(
                f"the program has no kernel {name!r}", hint=f"its kernels: {names}"
            )
        try:
            return Kernel(self.device, name, _new_handle(self._handle, name))
        except cl.Error as error:
            raise as_gingham_error(f"making kernel {name!r}", error) from error


def build_program(
    device: OpenCLDevice,
    source: str,
    options: Sequence[str] | None = None,
    standard: str | None = None,
) -> Program:
    """Compile OpenCL C for `device`, with `build_options` unless others are given.

    `standard` is the version of the language, such as `CL3.0`; the compiler's default
    is 1.2. What was built lately is not built again. Raises GinghamError with the
    compiler's log and the source around the errors. With the setting `debug` at 2 or
    more, a successful build's remarks are printed to the standard error stream.
    """
    words = [*(build_options(device) if options is None else options)]
    if standard is not None:
        words.append(f"-cl-std={standard}")
    program = built_program(device, source, " ".join(words))
    if find("debug").value >= 2:
        program.show_remarks()
    return program


@lru_cache(_MOST_PROGRAMS)
def built_program(device: OpenCLDevice, source: str, options: str) -> Program:
    """What the device's compiler makes of OpenCL C.

    Raises GinghamError, with what the compiler says.
    """
    import pyopencl as cl

    try:
        handle = _create(device.context, source.encode())
    except cl.Error as error:
        raise as_gingham_error("creating an OpenCL program", error) from error
    try:
        _build(handle, options, device.handle)
    except cl.Error as error:
        raise _build_error(device, source, options, handle, error) from error
    return Program(device, source, handle)


def load_program(
    device: OpenCLDevice,
    source: str,
    binary: bytes,
    options: Sequence[str] | None = None,
) -> Program:
    """The program that `Program.binary` was asked of, without its source's compiling.

    Raises GinghamError where the device does not take it, as with another driver.
    """
    import pyopencl as cl

    words = build_options(device) if options is None else options
    try:
        handle = _create(device.context, [device.handle], [binary])
        _build(handle, " ".join(words), device.handle)
        return Program(device, source, handle)
    except (cl.Error, ValueError, RuntimeError) as error:
        raise GinghamError(f"loading a binary failed: {error}") from error


def _new_handle(program: cl.Program, name: str) -> cl.Kernel:
    import pyopencl as cl

    with _making_kernels:
        try:
            return cl.Kernel(program, name)
        except _errors_of_its_cache():
            # Where the user has imported pyopencl first, it keeps those functions in a
            # file, and has no folder to write to, or a file that is damaged.
            setattr(cl, "_PYOPENCL_NO_CACHE", True)
            return cl.Kernel(program, name)


def _errors_of_its_cache() -> tuple[type[Exception], ...]:
    # Only asked for when there is an error: who starts up needs no SQLite.
    import sqlite3

    return OSError, sqlite3.Error


class _InnerProgram(Protocol):
    """A program of pyopencl's inner layer, which has no cache and writes no files."""

    def get_build_info(
        self, device: cl.Device, question: cl.program_build_info
    ) -> str | None: ...

    def get_info(self, question: cl.program_info) -> Sequence[bytes]: ...


def _create(context: cl.Context, *contents: object) -> _InnerProgram:
    """From source, or from a list of devices and one of their binaries."""
    import pyopencl as cl

    create = cast("Callable[..., _InnerProgram]", getattr(cl, "_Program"))
    return create(context, *contents)


def _build(program: _InnerProgram, options: str, device: cl.Device) -> None:
    build = cast(
        "Callable[[bytes, Sequence[cl.Device]], None]", getattr(program, "_build")
    )
    build(options.encode(), [device])


def _log(program: _InnerProgram, device: cl.Device) -> str:
    import pyopencl as cl

    try:
        log = program.get_build_info(device, cl.program_build_info.LOG)
    except cl.Error:
        return ""
    # Some drivers pad the log with NUL characters.
    return (log or "").replace("\0", "").strip()


def _build_error(
    device: OpenCLDevice,
    source: str,
    options: str,
    program: _InnerProgram,
    error: cl.Error,
) -> GinghamError:
    import pyopencl as cl

    action = f"building OpenCL C for device {device.name!r}"
    if options:
        action += f" with options {options}"
    if error.code != cl.status_code.BUILD_PROGRAM_FAILURE:
        reason = meaning(error.code)
        log = _log(program, device.handle)
        return GinghamError(f"{action} failed: {reason}" + (f"\n{log}" if log else ""))
    details = describe_failure(source, _log(program, device.handle))
    return GinghamError(f"{action} failed:\n{details}")
