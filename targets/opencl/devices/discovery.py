"""All OpenCL devices of the machine, in a lasting order and with lasting names.

The ICD loader reads its list of runtimes once in a process, at the first OpenCL call,
whoever makes it. `discover` makes that call with the runtimes of `vendor_files` listed,
and puts the environment back. Where the user has chosen runtimes by the loader's own
variable, or another part of the process has used OpenCL before, it takes what is there.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from ....errors import GinghamError
from ...backend import Problem
from ..handles.properties import DeviceKind, OpenCLProperties, kind_of, read_properties
from ..status import meaning
from .device import OpenCLDevice, vendor_slug
from .vendor_files import (
    RuntimeLibrary,
    find_runtimes,
    user_has_chosen,
    vendor_directory,
)

if TYPE_CHECKING:
    import pyopencl as cl

_KIND_ORDER: tuple[DeviceKind, ...] = ("cpu", "gpu", "accelerator", "custom")

# Among CPU runtimes the one that Gingham is tuned for and ships with comes first.
_FIRST_CPU_SLUGS = ("intel", "pocl")

_LOADER_VARIABLE = "OCL_ICD_VENDORS"
_CACHE_VARIABLE = "PYOPENCL_NO_CACHE"
_NO_PLATFORM = -1001

# What comes of a driver's answers that are not what OpenCL says they are.
_NONSENSE = (ValueError, TypeError, AttributeError)


@dataclass(frozen=True)
class Discovery:
    """What the machine has: devices in order of preference, and what went wrong."""

    devices: tuple[OpenCLDevice, ...]
    problems: tuple[Problem, ...]
    libraries: tuple[str, ...] = ()
    """The runtimes that the loader was told to open, where Gingham told it."""


@dataclass(frozen=True)
class _Candidate:
    """A device that has told its properties but has no name yet."""

    handle: cl.Device
    kind: DeviceKind
    slug: str
    details: OpenCLProperties

    def sort_key(self) -> tuple[object, ...]:
        """Orders by kind, then known runtimes, then newest driver; equal ones stay.

        Nothing here depends on the order in which a loader reads a directory.
        """
        first = _FIRST_CPU_SLUGS
        known = self.kind == "cpu" and self.slug in first
        newest_first = [
            -int(number) for number in re.findall(r"\d+", self.details.driver_version)
        ]
        return (
            _KIND_ORDER.index(self.kind),
            first.index(self.slug) if known else len(first),
            self.slug,
            self.details.platform,
            newest_first,
            self.details.device,
        )


_lock = Lock()


def discover() -> Discovery:
    """The machine's OpenCL devices; looked for once in a process.

    No error of a runtime or device is raised: it becomes a `Problem`.
    """
    with _lock:
        return _discover()


@cache
def _discover() -> Discovery:
    # pyopencl reads this when it is imported; without it, it un-pickles files of its
    # caches. Where the user has imported it before, that is as the user wants it.
    no_cache = os.environ.get(_CACHE_VARIABLE) or "1"
    try:
        with _environment(_CACHE_VARIABLE, no_cache):
            import pyopencl as cl
    except ImportError as error:
        return Discovery((), (Problem("pyopencl", f"can not be imported: {error}"),))
    problems: list[Problem] = []
    runtimes = _runtimes_to_list()
    platforms: list[cl.Platform] = []
    with _loader_shown(runtimes):
        try:
            platforms = cl.get_platforms()
        except cl.Error as error:
            if error.code != _NO_PLATFORM:
                problems.append(Problem("OpenCL", meaning(error.code)))
        except OSError as error:
            problems.append(Problem("OpenCL", str(error)))
    found = devices_of(platforms)
    problems += [*found.problems, *_missing_runtimes(runtimes)]
    libraries = tuple(runtime.library for runtime in runtimes)
    return Discovery(found.devices, tuple(problems), libraries)


def same_device(name: str, details: str) -> OpenCLDevice | None:
    """The device of another process, by its name and what it tells of itself.

    None where this process has no such device.
    """
    whole, _, part = name.partition("/")
    for device in discover().devices:
        if device.name == whole:
            with suppress(GinghamError):
                found = device.part_named(part) if part else device
                return found if str(found.details) == details else None
    return None


def devices_of(platforms: Sequence[cl.Platform]) -> Discovery:
    """The devices of `platforms`, in order and named."""
    problems: list[Problem] = []
    candidates: list[_Candidate] = []
    for platform in platforms:
        candidates += _candidates_of(platform, problems)
    return Discovery(_name_devices(candidates), tuple(problems))


def _runtimes_to_list() -> list[RuntimeLibrary]:
    """What to tell the loader; nothing where it or the user knows better."""
    # Elsewhere the operating system has its own registry of runtimes.
    if not sys.platform.startswith("linux") or user_has_chosen(os.environ):
        return []
    return find_runtimes()


@contextmanager
def _loader_shown(runtimes: Sequence[RuntimeLibrary]) -> Generator[None]:
    """Let the loader find `runtimes` inside."""
    if not runtimes:
        yield
        return
    with ExitStack() as stack:
        try:
            listed = str(stack.enter_context(vendor_directory(runtimes)))
        except OSError:
            # Nowhere to write a list: the loader also takes the path of one library.
            listed = runtimes[0].library
        stack.enter_context(_environment(_LOADER_VARIABLE, listed))
        yield


@contextmanager
def _environment(variable: str, value: str) -> Generator[None]:
    """Set an environment variable inside, and put back what was there."""
    before = os.environ.get(variable)
    os.environ[variable] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before


def _candidates_of(platform: cl.Platform, problems: list[Problem]) -> list[_Candidate]:
    """The devices of a platform that tell their properties; the others as problems."""
    import pyopencl as cl

    try:
        name = platform.name
        handles = platform.get_devices()
    except (cl.Error, *_NONSENSE) as error:
        problems.append(Problem("an OpenCL platform", _reason(error)))
        return []
    candidates: list[_Candidate] = []
    for number, handle in enumerate(handles):
        try:
            details = read_properties(handle)
            kind = kind_of(handle)
        except (cl.Error, *_NONSENSE) as error:
            problems.append(Problem(f"device {number} of {name}", _reason(error)))
            continue
        candidates.append(_Candidate(handle, kind, vendor_slug(name), details))
    return candidates


def _reason(error: Exception) -> str:
    import pyopencl as cl

    if isinstance(error, cl.Error):
        return meaning(error.code)
    if isinstance(error, UnicodeDecodeError):
        return "describes itself in bytes that are no text"
    return f"describes itself in what can not be read ({error})"


def _name_devices(candidates: Sequence[_Candidate]) -> tuple[OpenCLDevice, ...]:
    """The devices in order, numbered within their vendor in that order."""
    numbers: Counter[str] = Counter()
    devices: list[OpenCLDevice] = []
    for candidate in sorted(candidates, key=_Candidate.sort_key):
        name = f"{candidate.slug}.{numbers[candidate.slug]}"
        numbers[candidate.slug] += 1
        devices.append(
            OpenCLDevice(name, candidate.kind, candidate.details, candidate.handle)
        )
    return tuple(devices)


def _missing_runtimes(runtimes: Sequence[RuntimeLibrary]) -> list[Problem]:
    """The listed runtimes that the loader has not opened, each with the reason."""
    return [
        Problem(f"{runtime.library} (listed by {runtime.source})", _load_error(runtime))
        for runtime in runtimes
        if runtime.expected and not _is_loaded(runtime)
    ]


def _is_loaded(runtime: RuntimeLibrary) -> bool:
    try:
        ctypes.CDLL(runtime.library, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _load_error(runtime: RuntimeLibrary) -> str:
    """What the dynamic loader says when it opens the library."""
    try:
        ctypes.CDLL(runtime.library, mode=os.RTLD_LAZY)
    except OSError as error:
        return f"can not be loaded: {error}"
    return "offers no OpenCL platform to this process"
