"""A module at the opencl level as something to call: NumPy arrays in, NumPy arrays out.

Everything that does not depend on the inputs' values happens once: kernels are built,
the buffers between them allocated, arguments set that stay the same. A call sets those
of inputs and outputs, queues the launches and waits once. Where host and device share
memory, inputs are read and outputs written in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from .arena import allocate_placed
from .buffer import allocate
from .compiled import CompiledCode, compile_module
from .constants import KeptResults
from .host_program import HostProgram, Slot
from .inputs import InputBinder
from .launches import LaunchList
from .outputs import OutputBinder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .device import OpenCLDevice

    Array = NDArray[Any]


@dataclass(frozen=True)
class LaunchTiming:
    """How long the device worked on one launch, which ran `global_size` work-items."""

    kernel: str
    global_size: tuple[int, ...]
    seconds: float


class OpenCLExecutable:
    """The function `@main` of a module, compiled for one device.

    It may be called from any thread; calls of one executable run one after the other.
    Raises GinghamError when the device can not run the module.
    """

    def __init__(
        self,
        code: ModuleOp | CompiledCode,
        device: OpenCLDevice,
        options: Sequence[str] | None = None,
    ) -> None:
        """`options` are those of the device's compiler, for a module."""
        if isinstance(code, ModuleOp):
            code = compile_module(code, device, options)
        self.device = device
        self.source = code.source
        """The OpenCL C of all kernels."""
        program = code.program
        self._slots = program.slots
        self._inputs = program.input_count
        self._results = program.results
        results = [self._slots[number] for number in program.results]
        self._output_types = [(slot.shape, slot.dtype) for slot in results]
        once = _lists(code, device, True)
        self._launches = _lists(code, device, False)
        self._constant = KeptResults(program, once) if once.launches else None
        self._outputs = OutputBinder(device, program, self._launches)
        self._allocate_between(program, once)
        self._binder = InputBinder(device, self._slots[: self._inputs], self._launches)
        self._lock = Lock()
        self._queue = device.queue

    def _allocate_between(self, program: HostProgram, once: LaunchList) -> None:
        """What is between the kernels is the same in each call."""
        lists = once, self._launches
        used = {
            number
            for number in range(self._inputs, len(self._slots))
            if any(launches.uses(number) for launches in lists)
        }
        own = dict(self._own(used - set(self._results) - program.kept))
        placed = {n: slot for n, slot in own.items() if slot.place is not None}
        buffers = allocate_placed(self.device, placed)
        for number, slot in own.items():
            if slot.place is None:
                buffers[number] = allocate(self.device, slot.shape, slot.dtype)
        for number, buffer in buffers.items():
            for launches in lists:
                launches.bind(number, buffer)

    def _own(self, numbers: set[int]) -> list[tuple[int, Slot]]:
        """The slots of these numbers that are not inputs."""
        return [(n, self._slots[n]) for n in sorted(numbers) if n >= self._inputs]

    @property
    def input_types(self) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and NumPy type of each input."""
        return [(slot.shape, slot.dtype) for slot in self._slots[: self._inputs]]

    @property
    def output_types(self) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and NumPy type of each output."""
        return self._output_types

    def __call__(self, *inputs: Array) -> list[Array]:
        """Run on arrays of exactly the inputs' shapes and types; the outputs are new.

        Raises GinghamError for inputs that do not fit, or when the device fails.
        """
        self._binder.check(inputs)
        return self.run(inputs)

    def run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None = None
    ) -> list[Array]:
        """As a call, for arrays that are known to fit.

        Each of `outputs` is contiguous, aligned, writable, shares no memory with
        another array of the call, and is returned when it has been filled; None stands
        for a new array.
        """
        with self._lock:
            held = self._bind(inputs)
            buffers = self._outputs.bind(outputs)
            self._launches.run(self._queue)
            del held
            return self._outputs.collect(inputs, buffers, outputs)

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """As a call, and how long each launch took on the device, in order."""
        self._binder.check(inputs)
        with self._lock:
            held = self._bind(inputs)
            buffers = self._outputs.bind(None)
            # Another queue does not wait for what this one still copies.
            self.device.queue.finish()
            seconds = self._launches.profile(self.device.profiling_queue())
            del held
            outputs = self._outputs.collect(inputs, buffers, None)
        timings = [
            LaunchTiming(kernel.name, launch.global_size, time)
            for launch, kernel, time in zip(
                self._launches.launches, self._launches.kernels, seconds, strict=True
            )
        ]
        return outputs, timings

    def refresh(self) -> None:
        """Forget what was computed of constant inputs: their contents have changed."""
        with self._lock:
            if self._constant is not None:
                self._constant.forget()

    def _bind(self, inputs: Sequence[Array]) -> object:
        """Set the arguments that are inputs; what is returned keeps them alive."""
        held = self._binder.bind(inputs)
        if self._constant is not None:
            for number, buffer in self._constant.get(inputs).items():
                self._launches.bind(number, buffer)
        return held


def _lists(code: CompiledCode, device: OpenCLDevice, runs_once: bool) -> LaunchList:
    """The launches that run once, or those that run in every call."""
    program = code.program
    launches = [each for each in program.launches if each.runs_once is runs_once]
    kernels = [
        code.built.new_kernel(launch.kernel)
        for launch in launches
        if code.built is not None
    ]
    return LaunchList(device, program.slots, launches, kernels)
