"""Kernels that never end are noticed in a process that can be ended.

A kernel that hangs can not be stopped: the queue, and the threads or the device that
work on it, are lost to the process. So before the first call of a program runs here, it
runs in a process of its own, on the same inputs. Where that does not end in time, or
ends that process, safer builds are run there in the same way, and the first one that
ends says that the kernels are at fault. Where none does, nothing is known: a program
may take long.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING, Any

from .... import progress
from ...free_memory import host_memory
from ..builds.processes import HelperProcess, Helpers
from ..compiled import CompiledCode, to_bytes
from .builds import safe_builds
from .rehearsing import DONE

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from ...host_program import HostProgram
    from ..devices.device import OpenCLDevice
    from ..handles.handle import DeviceHandle

    Array = NDArray[Any]

LEAST_SECONDS = 20.0
"""How long kernels may take that have next to nothing to do."""
_PER_SECOND = 1e9
"""The operations and bytes of memory in a second, for which they may take longer."""
_LOADING_SECONDS = 120.0
"""For what is built from its source there."""


class _Ending(Enum):
    """What became of kernels in another process."""

    GOOD = "ended"
    LATE = "do not end"
    CRASH = "crash"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Replacement:
    """Code that ends, in place of code that does not."""

    code: CompiledCode
    how: str
    """How it was built."""
    fault: str
    """What the other code does."""


def replacement(
    device: OpenCLDevice, code: CompiledCode, inputs: Sequence[Array]
) -> Replacement | None:
    """Safer code, where kernels do not end with these inputs, and those of it do.

    None where they end, and where nothing is known.
    """
    if code.built is None or not _has_room(code.program):
        return None
    seconds = seconds_for(code)
    with _one_at_a_time:
        ending = _ending(device, code, inputs, seconds)
        if ending in (_Ending.GOOD, _Ending.UNKNOWN):
            return None
        limit = f" in {seconds:.0f} s" if ending is _Ending.LATE else ""
        for how, build in safe_builds(code, device):
            if _ending(device, build, inputs, seconds) is _Ending.GOOD:
                return Replacement(build, how, f"{ending.value}{limit}")
    return None


def seconds_for(code: CompiledCode) -> float:
    """How long kernels may take: many times what they need on the slowest device."""
    launches = code.program.launches
    work = sum(each.flops + each.bytes_read + each.bytes_written for each in launches)
    return LEAST_SECONDS + work / _PER_SECOND


class Rehearsing(HelperProcess):
    """A process that runs kernels."""

    module = f"{__package__}.rehearsing"

    def trial(self, device: DeviceHandle) -> bytes:
        """To load nothing."""
        return _loading(device, b"")

    def load(self, device: OpenCLDevice, code: bytes) -> bool:
        """Give it code to run. Raises OSError where the process has ended."""
        line = _loading(device, code)
        return self.ask(line, code, seconds=_LOADING_SECONDS) == DONE

    def run(self, inputs: Iterable[Array], seconds: float) -> bool:
        """Run it. Raises OSError where the process has ended, or was."""
        import numpy as np

        parts = [
            np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            for array in inputs
        ]
        return self.ask(b'{"kind": "run"}\n', *parts, seconds=seconds) == DONE


def _loading(device: DeviceHandle, code: bytes) -> bytes:
    """The line in front of code to load."""
    request = {
        "kind": "code",
        "device": device.name,
        "details": str(device.details),
        "size": len(code),
    }
    return json.dumps(request).encode() + b"\n"


_processes = Helpers(Rehearsing)
_one_at_a_time = Lock()


@contextmanager
def _process(device: OpenCLDevice) -> Generator[Rehearsing | None]:
    """A process that has the device; None where there is none."""
    process = _processes.take()
    if process is None:
        yield None
        return
    try:
        process.warm_up(device)
        yield process
    except BaseException:
        _processes.lose(process)
        raise
    _processes.give_back(process)


def _ending(
    device: OpenCLDevice, code: CompiledCode, inputs: Sequence[Array], seconds: float
) -> _Ending:
    """What becomes of code in a process of its own."""
    progress.step("trying kernels")
    was_loaded = False
    try:
        with _process(device) as process:
            if process is None or not process.load(device, to_bytes(code)):
                return _Ending.UNKNOWN
            was_loaded = True
            has_run = process.run(inputs, seconds)
            return _Ending.GOOD if has_run else _Ending.UNKNOWN
    except TimeoutError:
        return _Ending.LATE if was_loaded else _Ending.UNKNOWN
    except OSError:
        return _Ending.CRASH if was_loaded else _Ending.UNKNOWN


def _has_room(program: HostProgram) -> bool:
    """Whether another process can have all of a program's arrays, too.

    It has what it reads from a pipe twice.
    """
    memory = host_memory()
    own, arena = 0, 0
    for slot in program.slots:
        if slot.place is None:
            own += slot.size_in_bytes
        else:
            arena = max(arena, slot.place + slot.size_in_bytes)
    return memory is None or 2 * own + arena < memory.available
