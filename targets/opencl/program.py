"""Building OpenCL C for a device, and the kernels of what was built.

Built programs are for the caller to keep.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from ...errors import GinghamError, visible
from ...once import Once
from ...settings import find
from .builds.driver import InnerProgram, binary_of, build, load, log_of
from .builds.scheduling import BegunBuild, build_side_by_side
from .kernel import Kernel
from .status import as_gingham_error

if TYPE_CHECKING:
    import pyopencl as cl

    from .handles.handle import DeviceHandle

DEFAULT_OPTIONS = ("-cl-mad-enable",)

# No default: it costs accuracy (1.6e-4 in exp on Intel's runtime) and reorders sums,
# and gained nothing in measured kernels.
FAST_MATH = "-cl-fast-relaxed-math"


def build_options(device: DeviceHandle, *, fast_math: bool = False) -> tuple[str, ...]:
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


class DeviceProgram:
    """Source built for one device; `kernel` gives its kernels, each made once."""

    def __init__(
        self, device: DeviceHandle, source: str, parts: Sequence[InnerProgram]
    ) -> None:
        """`parts` are what was built of it, each with some of the kernels."""
        import pyopencl as cl

        self.device = device
        self.source = source
        self._parts = parts
        self._kernels: dict[str, Kernel] = {}
        self._lock = Lock()
        self._handles: dict[str, cl.Program] = {}
        for part in parts:
            handle = cl.Program(cast("Any", part))
            names = filter(None, handle.kernel_names.split(";"))
            self._handles |= dict.fromkeys(names, handle)
        self.kernel_names = tuple(self._handles)

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name. Raises GinghamError where there is none."""
        with self._lock:
            if name not in self._kernels:
                self._kernels[name] = self.new_kernel(name)
            return self._kernels[name]

    def show_remarks(self) -> None:
        """Print what the device's compiler remarked to the standard error stream."""
        for part in self._parts:
            log = log_of(part, self.device)
            if log:
                print(visible(log), file=sys.stderr)

    def binaries(self) -> list[bytes]:
        """What the device's compiler made, for `load_program`; nothing of some."""
        if not self.device.details.builds_whole_binaries:
            return []
        return [binary_of(part) for part in self._parts]

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
            return Kernel(self.device, name, _new_handle(self._handles[name], name))
        except cl.Error as error:
            raise as_gingham_error(f"making kernel {name!r}", error) from error


def build_program(
    device: DeviceHandle,
    source: str,
    options: Sequence[str] | None = None,
    standard: str | None = None,
    begun: BegunBuild | None = None,
) -> DeviceProgram:
    """Compile OpenCL C for `device`, with `build_options` unless others are given.

    `standard` is the version of the language, such as `CL3.0`; the compiler's default
    is 1.2. What somebody has is not built again. Of the source some kernels may have
    been `begun`, with the same options. Raises GinghamError with the
    compiler's log and the source around the errors. With the setting `debug` at 2 or
    more, a successful build's remarks are printed to the standard error stream.
    """
    words = [*(build_options(device) if options is None else options)]
    if standard is not None:
        words.append(f"-cl-std={standard}")
    if find("debug").value < 2:
        return built_program(device, source, " ".join(words), begun)
    # A binary has no remarks, nor has a program that somebody else had built.
    program = DeviceProgram(device, source, [build(device, source, " ".join(words))])
    program.show_remarks()
    return program


_being_built = Once[tuple[str, str, str]]()
_built: WeakValueDictionary[tuple[str, str, str], DeviceProgram] = WeakValueDictionary()


def built_program(
    device: DeviceHandle, source: str, options: str, begun: BegunBuild | None = None
) -> DeviceProgram:
    """What the device's compiler makes of OpenCL C, built once while somebody has it.

    Raises GinghamError, with what the compiler says.
    """
    key = device.name, source, options
    with _being_built.making(key):
        known = _built.get(key)
        if known is None or known.device is not device:
            parts = build_side_by_side(device, source, options, begun)
            known = _built[key] = DeviceProgram(device, source, parts)
        return known


def load_program(
    device: DeviceHandle,
    source: str,
    binaries: Sequence[bytes],
    options: Sequence[str] | None = None,
) -> DeviceProgram:
    """The program that `DeviceProgram.binaries` was asked of, without compiling.

    Without binaries it is built, which is for the driver to make short. Raises
    GinghamError where the device does not take it, as with another driver.
    """
    words = " ".join(build_options(device) if options is None else options)
    if not binaries:
        return built_program(device, source, words)
    parts = [load(device, binary, words) for binary in binaries]
    return DeviceProgram(device, source, parts)


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
        finally:
            _forget_lines()


def _forget_lines() -> None:
    """Let go of the lines of pyopencl's functions, which would be kept for ever.

    Each further one is given a name that none of those kept has, which takes longer the
    more there are.
    """
    for name in [*linecache.cache]:
        if name.startswith("<generated: 'pyopencl invoker"):
            linecache.cache.pop(name, None)


def _errors_of_its_cache() -> tuple[type[Exception], ...]:
    # Only asked for when there is an error: who starts up needs no SQLite.
    import sqlite3

    return OSError, sqlite3.Error
