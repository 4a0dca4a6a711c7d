"""Which OpenCL runtimes this machine has, and how to show them to an ICD loader.

An OpenCL application calls an ICD loader, and the loader opens the runtimes ("drivers")
that it finds listed in `.icd` files, one file with the path of one shared library. The
loader's list leaves out runtimes that a user without root can have:

* Intel's CPU runtime from PyPI (`intel-opencl-rt`), whose own `.icd` file holds a
  placeholder path and lies where no loader looks;
* NVIDIA's, in containers that mount the driver's libraries but no `.icd` file.

`find_runtimes` lists those together with the system's; `vendor_directory` writes the
list as a directory of `.icd` files that lives as long as the loader needs it. It is a
fresh directory of mode 0700, never one found under a predictable name, because whoever
can write there chooses code that the process runs.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

SYSTEM_VENDOR_DIRECTORY = Path("/etc/OpenCL/vendors")

NVIDIA_LIBRARY = "libnvidia-opencl.so.1"

# Where container tools and WSL mount the driver's libraries, often unknown to ldconfig.
NVIDIA_DIRECTORIES = (
    Path("/usr/local/nvidia/lib64"),
    Path("/usr/local/nvidia/lib"),
    Path("/usr/lib/wsl/lib"),
)

# A path longer than this is no path; reading more would serve a hostile file.
_LARGEST_VENDOR_FILE = 4096


@dataclass(frozen=True)
class RuntimeLibrary:
    """The shared library of an OpenCL runtime, as the dynamic loader would open it.

    `library` is an absolute path or a bare name for the dynamic loader's search.
    `expected` is False for a guess, whose absence is no news to the user.
    """

    library: str
    source: str
    expected: bool = True

    @property
    def family(self) -> str:
        """The file name up to `.so`: equal for two versions of one runtime."""
        return re.sub(r"\.so(\.[0-9.]+)?$", "", os.path.basename(self.library))


def user_has_chosen(environment: Mapping[str, str]) -> bool:
    """Whether the user has put a list of runtimes in the place of the system's.

    An empty value counts as unset, as it does for the loaders.
    """
    return bool(environment.get("OCL_ICD_VENDORS"))


def find_runtimes(environment: Mapping[str, str] = os.environ) -> list[RuntimeLibrary]:
    """The OpenCL runtimes of the user, the Python environment and the system.

    Of two libraries of one family only the first is kept: two versions of one runtime
    in one process share the names of their internal libraries and clash.
    """
    system = Path(environment.get("OPENCL_VENDOR_PATH") or SYSTEM_VENDOR_DIRECTORY)
    environment_directory = Path(sys.prefix) / "etc" / "OpenCL" / "vendors"
    candidates = [
        *runtimes_named_in(environment.get("OCL_ICD_FILENAMES", "")),
        *intel_runtime(),
        *runtimes_listed_in(system),
        *(
            runtime
            for runtime in runtimes_listed_in(environment_directory)
            # pip leaves Intel's placeholder path here; conda replaces it.
            if os.path.exists(runtime.library)
        ),
        nvidia_runtime(),
    ]
    return list(_first_of_each_family(candidates))


def intel_runtime() -> list[RuntimeLibrary]:
    """Intel's CPU runtime as installed from PyPI, or nothing."""
    try:
        files = metadata.files("intel-opencl-rt") or []
    except metadata.PackageNotFoundError:
        return []
    for file in files:
        if file.name == "libintelocl.so":
            path = Path(os.fspath(file.locate())).resolve()
            return [RuntimeLibrary(str(path), "the Python package intel-opencl-rt")]
    return []


def runtimes_named_in(variable: str) -> list[RuntimeLibrary]:
    """The libraries of `OCL_ICD_FILENAMES`, which adds to the system's runtimes.

    Khronos' loader reads that variable; the loader in pyopencl's wheels does not.
    """
    names = filter(None, variable.split(os.pathsep))
    return [RuntimeLibrary(name, "OCL_ICD_FILENAMES") for name in names]


def runtimes_listed_in(directory: Path) -> list[RuntimeLibrary]:
    """The runtimes named by the `.icd` files of a directory, in order of file name."""
    try:
        files = sorted(directory.glob("*.icd"))
    except OSError:
        return []
    libraries = ((file, _read_vendor_file(file)) for file in files)
    return [RuntimeLibrary(name, str(file)) for file, name in libraries if name]


def nvidia_runtime() -> RuntimeLibrary:
    """NVIDIA's runtime: by path where drivers are mounted, else by its bare name."""
    for directory in NVIDIA_DIRECTORIES:
        path = directory / NVIDIA_LIBRARY
        if path.is_file():
            return RuntimeLibrary(str(path), str(directory), expected=False)
    return RuntimeLibrary(
        NVIDIA_LIBRARY, "the dynamic loader's search path", expected=False
    )


@contextmanager
def vendor_directory(runtimes: Sequence[RuntimeLibrary]) -> Generator[Path]:
    """A private directory with one `.icd` file per runtime, removed on leaving.

    Raises OSError where no temporary directory can be written.
    """
    with tempfile.TemporaryDirectory(prefix="gingham-opencl-") as name:
        directory = Path(name)
        for number, runtime in enumerate(runtimes):
            vendor_file = directory / f"{number:02}.icd"
            vendor_file.write_bytes(os.fsencode(runtime.library) + b"\n")
        yield directory


def _read_vendor_file(file: Path) -> str | None:
    """The library that a vendor file names, or None when it names none."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            content = stream.read(_LARGEST_VENDOR_FILE)
    except OSError:
        return None
    lines = os.fsdecode(content).splitlines()
    name = lines[0].strip() if lines else ""
    return name if name and "\0" not in name else None


def _first_of_each_family(
    runtimes: Iterable[RuntimeLibrary],
) -> Iterator[RuntimeLibrary]:
    seen: set[str] = set()
    for runtime in runtimes:
        if runtime.family not in seen and "\n" not in runtime.library:
            seen.add(runtime.family)
            yield runtime
