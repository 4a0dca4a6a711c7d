"""Compiled C as something to call: NumPy arrays in, NumPy arrays out.

Kernels work on the memory of the arrays. The work-groups of a launch are shared among
the cores; its end is waited for, so that launches take effect in order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ... import observation
from ...observation import note, now
from ..backend import FixedInputs, Idle
from ..code import PrintedCode
from ..host_arrays import aligned_empty, fit_for_kernels
from ..host_program import HostLaunch, LaunchTiming, Slot, check_inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..host_arrays import ArrayType
    from .code import CCode
    from .device import CDevice

    Array = NDArray[Any]

_ALIGNMENT = 64
_SMALL_WORK = 1 << 18
"""Operations and bytes of a launch for which no other core is asked."""


class CExecutable:
    """The function `@main` of a module; from any thread, one call after the other."""

    startable = None

    def __init__(self, code: CCode, device: CDevice) -> None:
        self.device = device
        self.source = code.source
        """The C of all kernels."""
        self.program = program = code.program
        """The launches, and the buffers that they share."""
        self.last_used = 0.0
        """When it was called last, by `time.monotonic`."""
        self._slots = program.slots
        self._launches = [_Launch(code, each) for each in program.launches]
        self._own = {n for n in program.results if n >= program.input_count}
        self._calling = Lock()
        self._scratch: dict[int, Array] = {}
        self._kept: list[tuple[ref[Array], int]] | None = None

    @property
    def input_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each input."""
        return self.program.input_types

    @property
    def output_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each output."""
        return self.program.output_types

    @property
    def printed(self) -> PrintedCode:
        """The launches, and the C of all kernels."""
        return PrintedCode(self.program, self.source)

    @property
    def launch_count(self) -> int:
        """How many kernels each call starts."""
        return sum(not each.runs_once for each in self.program.launches)

    @property
    def idle_bytes(self) -> int:
        """The memory between kernels, which is kept for the next call."""
        return sum(array.nbytes for array in {id(a): a for a in self._bases()}.values())

    def _bases(self) -> list[Array]:
        arrays = (array.base for array in self._scratch.values())
        return [array for array in arrays if isinstance(array, np.ndarray)]

    def __call__(self, *inputs: Array) -> list[Array]:
        """Run on arrays of exactly the inputs' shapes and types; the outputs are new.

        Raises GinghamError for inputs that do not fit.
        """
        check_inputs(self.program.inputs, inputs)
        return self.run(inputs)

    def run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None = None,
        fixed: FixedInputs | None = None,
    ) -> list[Array]:
        """As a call, for arrays that are known to fit.

        Each of `outputs` is contiguous, aligned, writable, shares no memory with
        another array of the call, and is returned when it has been filled; None stands
        for a new array. Nothing is kept for `fixed` inputs.
        """
        del fixed
        start = now()
        results, _ = self._run(inputs, outputs)
        note("step", "run", start)
        return results

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """As a call, and how long each launch took, in order."""
        return self._run(inputs, None)

    def refresh(self) -> None:
        """Forget what was computed of constant inputs: their contents have changed."""
        self._kept = None

    def give_up(self, what: Idle) -> None:
        """Let go of memory that the next call can have again, unless one runs now."""
        del what
        if self._calling.acquire(blocking=False):
            self._scratch, self._kept = {}, None
            self._calling.release()

    def _run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None
    ) -> tuple[list[Array], list[LaunchTiming]]:
        wanted = outputs or [None] * len(self.program.results)
        with self._calling:
            self.last_used = monotonic()
            arrays = {
                number: fit_for_kernels(array) for number, array in enumerate(inputs)
            }
            if not self._scratch:
                self._scratch = self._new_scratch()
            arrays |= self._scratch
            for number, target in zip(self.program.results, wanted, strict=True):
                if number in self._own and number not in arrays:
                    slot = self._slots[number]
                    arrays[number] = _empty(slot) if target is None else target
            addresses = [arrays[n].ctypes.data for n in range(len(self._slots))]
            constants = [inputs[number] for number in self.program.constants]
            knows_constants = self._knows(constants)
            self._kept = None
            timings: list[LaunchTiming] = []
            for launch in self._launches:
                if not (launch.host.runs_once and knows_constants):
                    timings.append(launch.run(addresses, self.device))
            self._kept = [(ref(array), array.ctypes.data) for array in constants]
            return self._collect(arrays, wanted), timings

    def _new_scratch(self) -> dict[int, Array]:
        """The memory between kernels, by slots; those with places share an arena."""
        between = {
            number: slot
            for number, slot in enumerate(self._slots)
            if number >= self.program.input_count and number not in self._own
        }
        placed = [slot for slot in between.values() if slot.place is not None]
        size = max(((s.place or 0) + s.size_in_bytes for s in placed), default=0)
        arena = aligned_empty((size,), np.uint8, _ALIGNMENT)
        return {
            number: _empty(slot)
            if slot.place is None or number in self.program.kept
            else _viewed(arena[slot.place :], slot)
            for number, slot in between.items()
        }

    def _knows(self, constants: Sequence[Array]) -> bool:
        """Whether what runs once has run for these constant inputs.

        Arrays are compared by memory, not by contents: who changes one calls `refresh`.
        """
        return self._kept is not None and all(
            known() is array and address == array.ctypes.data
            for (known, address), array in zip(self._kept, constants, strict=True)
        )

    def _collect(
        self, arrays: dict[int, Array], wanted: Sequence[Array | None]
    ) -> list[Array]:
        """The results; no two of them, and no input, share memory."""
        results: list[Array] = []
        taken: set[int] = set()
        for number, target in zip(self.program.results, wanted, strict=True):
            array = arrays[number]
            if target is None:
                is_new = number in self._own and number not in taken
                array = array if is_new else array.copy()
            elif array is not target:
                target[...] = array
                array = target
            taken.add(number)
            results.append(array)
        return results


class _Launch:
    """One launch of a kernel."""

    def __init__(self, code: CCode, launch: HostLaunch) -> None:
        self.host = launch
        function: Any = getattr(code.loaded, f"enqueue_{launch.kernel}")
        function.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_long] * 2
        function.restype = None
        self._function: Callable[..., None] = function
        pairs = zip(launch.global_size, launch.local_size, strict=True)
        counts = [items // size for items, size in pairs]
        self._counts = (ctypes.c_long * len(counts))(*counts)
        self._count = prod(counts)
        work = launch.flops + launch.bytes_read + launch.bytes_written
        self._is_small = 0 < work < _SMALL_WORK

    def run(self, addresses: Sequence[int], device: CDevice) -> LaunchTiming:
        """Run all work-groups, and wait for them."""
        slots = self.host.slots
        buffers = (ctypes.c_void_p * len(slots))(*(addresses[n] for n in slots))
        run = partial(self._function, buffers, self._counts)
        start = now()
        if self._is_small:
            run(0, self._count)
        else:
            device.on_cores(run, self._count)
        end = now()
        if (observer := observation.observer) is not None:
            observer.ran(device, self.host, start, end)
        seconds = (end - start) * 1e-9
        return LaunchTiming(self.host.kernel, self.host.global_size, seconds)


def _empty(slot: Slot) -> Array:
    return aligned_empty(slot.shape, slot.dtype, _ALIGNMENT)


def _viewed(memory: Array, slot: Slot) -> Array:
    return memory[: slot.size_in_bytes].view(slot.dtype).reshape(slot.shape)
