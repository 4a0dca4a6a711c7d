"""The processor of this machine, as the system's C compiler makes kernels for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

from ...errors import GinghamError
from ..backend import DeviceKind, PropertyValue
from ..cores import core_count
from ..host_device import HostDevice
from .compiler import build_library, compiler, load_library, processor

_PROBE = "int work_group_probe(int x) { return x + 1; }\n"


class CDevice(HostDevice):
    """Kernels in C on the cores that this process may use, on NumPy's memory."""

    name = "c"
    kind: DeviceKind = "cpu"
    is_reference = False

    @property
    def description(self) -> str:
        """The processor, and the compiler."""
        _, name = processor()
        try:
            return f"{name} ({compiler().version})"
        except GinghamError as error:
            return f"{name} ({error.message})"

    @property
    def cores(self) -> int:
        """Those that this process may use."""
        return core_count()

    @property
    def properties(self) -> dict[str, PropertyValue]:
        """The processor, and the compiler where there is one."""
        vendor, name = processor()
        known: dict[str, PropertyValue] = {
            "device": name,
            "vendor": vendor,
            "compute_units": self.cores,
        }
        if self.failure() is None:
            known["compiler"] = compiler().version
            known["native_float_width"] = compiler().vector_bits // 32
            known["extensions"] = compiler().features
        return known

    def failure(self) -> str | None:
        """Why there is nothing to run, or None: a function is compiled and called."""
        return _failure()

    def require_usable(self) -> None:
        """Raise GinghamError when the device can not be used."""
        reason = self.failure()
        if reason is not None:
            raise GinghamError(
                f"device '{self.name}' can not be used: {reason}",
                hint="install GCC or Clang, or name one by the environment variable CC",
            )

    def on_cores(self, run: Callable[[int, int], None], count: int) -> None:
        """Call `run(first, end)` for parts of so many work-groups, on all cores."""
        cores = self.cores
        parts = min(count, _PARTS * cores)
        if parts <= 1 or cores == 1:
            run(0, count)
            return
        ends = [count * number // parts for number in range(parts + 1)]
        threads = _threads(os.getpid(), cores)
        running = [threads.submit(run, *part) for part in pairwise(ends)]
        try:
            for each in running:
                each.result()
        finally:
            # Arrays may go only when no kernel works on them.
            wait(running)

    def __repr__(self) -> str:
        return f"<CDevice: {self.description}>"


_PARTS = 4
"""For each core, as some work-groups take longer than others."""


@cache
def _threads(process: int, count: int) -> ThreadPoolExecutor:
    """Threads of a process: those of a process that was forked are its own."""
    del process
    return ThreadPoolExecutor(count, "gingham-c")


@cache
def _failure() -> str | None:
    try:
        library = load_library(build_library(_PROBE))
    except GinghamError as error:
        return error.message
    got: int = library.work_group_probe(41)
    return None if got == 42 else f"a function gives {got} in place of 42"


DEVICE = CDevice()
"""The one of this process."""
