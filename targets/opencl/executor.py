"""A module at the opencl level as something to call: NumPy arrays in, NumPy arrays out.

Everything that does not depend on the inputs' values happens once: kernels are built,
the buffers between them allocated, and the host program turned into a list of launches
over numbered slots. A call fills the slots of inputs and outputs, queues the launches
in order and waits once. Where host and device share memory, inputs are read and outputs
written in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...errors import GinghamError
from .buffer import DeviceBuffer, allocate, download, upload
from .printer import kernel_names, print_opencl
from .program import Kernel, build_program
from .result_memory import ResultMemory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .command_queue import CommandQueue, Event
    from .device import OpenCLDevice

    Array = NDArray[Any]


@dataclass(frozen=True)
class LaunchTiming:
    """How long the device worked on one launch, which ran `global_size` work-items."""

    kernel: str
    global_size: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class _Slot:
    """A buffer of the host program."""

    name: str
    shape: tuple[int, ...]
    element: Attribute
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _Launch:
    kernel: Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    slots: tuple[int, ...]


class OpenCLExecutable:
    """The function `@main` of a module, compiled for one device.

    It may be called from any thread; calls of one executable run one after the other.
    Raises GinghamError when the device can not run the module.
    """

    def __init__(
        self,
        module: ModuleOp,
        device: OpenCLDevice,
        options: Sequence[str] | None = None,
    ) -> None:
        import numpy as np

        self.device = device
        self.source = print_opencl(module)
        """The OpenCL C of all kernels."""
        _check_extensions(self.source, device)
        plan = _Plan(_entry(module))
        self._slots = plan.slots
        self._inputs = len(plan.arguments)
        self._results = plan.results
        self._launches = _prepare(module, device, self.source, options, plan)
        own = set(range(self._inputs, len(self._slots)))
        used = {slot for launch in self._launches for slot in launch.slots}
        # Callers keep results; what is between the kernels is the same in each call.
        self._result_memory = {
            number: ResultMemory(device, slot.shape, slot.dtype)
            for number, slot in self._numbered(own & set(self._results))
        }
        self._between = {
            number: allocate(device, slot.shape, slot.dtype)
            for number, slot in self._numbered(own & used - set(self._results))
        }
        self._array_type = np.ndarray
        self._lock = Lock()

    @property
    def input_types(self) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and NumPy type of each input."""
        return [(slot.shape, slot.dtype) for slot in self._slots[: self._inputs]]

    @property
    def output_types(self) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and NumPy type of each output."""
        slots = [self._slots[number] for number in self._results]
        return [(slot.shape, slot.dtype) for slot in slots]

    def __call__(self, *inputs: Array) -> list[Array]:
        """Run on arrays of exactly the inputs' shapes and types; the outputs are new.

        Raises GinghamError for inputs that do not fit, or when the device fails.
        """
        queue = self.device.queue
        with self._lock:
            buffers = self._buffers(queue, inputs)
            for launch in self._launches:
                self._enqueue(queue, launch, buffers)
            return self._collect(queue, buffers)

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """As a call, and how long each launch took on the device, in order."""
        queue = self.device.profiling_queue()
        with self._lock:
            buffers = self._buffers(queue, inputs)
            events = [
                self._enqueue(queue, launch, buffers) for launch in self._launches
            ]
            outputs = self._collect(queue, buffers)
        timings = [
            LaunchTiming(launch.kernel.name, launch.global_size, event.seconds)
            for launch, event in zip(self._launches, events, strict=True)
        ]
        return outputs, timings

    def _numbered(self, numbers: set[int]) -> list[tuple[int, _Slot]]:
        return [(number, self._slots[number]) for number in sorted(numbers)]

    def _buffers(
        self, queue: CommandQueue, inputs: Sequence[Array]
    ) -> list[DeviceBuffer | None]:
        """The buffer in each slot for one call; None in slots that nothing uses."""
        self._check(inputs)
        buffers: list[DeviceBuffer | None] = [None] * len(self._slots)
        for number, array in enumerate(inputs):
            buffers[number] = upload(queue, array)
        for number, buffer in self._between.items():
            buffers[number] = buffer
        for number, memory in self._result_memory.items():
            buffers[number] = memory.take()
        return buffers

    def _check(self, inputs: Sequence[Array]) -> None:
        if len(inputs) != self._inputs:
            raise GinghamError(
                f"expected {self._inputs} input(s), got {len(inputs)}",
            )
        for slot, array in zip(self._slots, inputs, strict=False):
            if array.__class__ is self._array_type:
                if array.shape == slot.shape and array.dtype == slot.dtype:
                    continue
            _check_input(slot, array)

    def _enqueue(
        self,
        queue: CommandQueue,
        launch: _Launch,
        buffers: Sequence[DeviceBuffer | None],
    ) -> Event:
        arguments = [
            buffer
            for buffer in (buffers[slot] for slot in launch.slots)
            if buffer is not None
        ]
        return queue.enqueue(
            launch.kernel, launch.global_size, launch.local_size, arguments
        )

    def _collect(
        self, queue: CommandQueue, buffers: Sequence[DeviceBuffer | None]
    ) -> list[Array]:
        """The outputs, once all work has ended; no two share memory."""
        outputs: list[Array] = []
        given: set[int] = set()
        for number in self._results:
            buffer = buffers[number]
            if buffer is None:
                continue
            array = download(queue, buffer)
            is_own = number >= self._inputs and number not in given
            array = array.view() if is_own else array.copy()
            given.add(number)
            outputs.append(array)
        if not outputs:
            queue.finish()
        return outputs


def _check_input(slot: _Slot, array: object) -> None:
    """Refuse what is not an array of the slot's shape and type, in any byte order."""
    import numpy as np

    expected = f"shape {slot.shape} and type {slot.dtype.name}"
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
        message = f"expected a NumPy array of {expected}, got {got}"
    elif array.shape != slot.shape or array.dtype.newbyteorder("=") != slot.dtype:
        got = f"shape {array.shape} and type {array.dtype.name}"
        message = f"expected an array of {expected}, got {got}"
    else:
        return
    raise GinghamError(f"input '{slot.name}': {message}")


class _Plan:
    """The host program over numbered slots: inputs first, then allocations."""

    def __init__(self, function: FuncOp) -> None:
        self.slots: list[_Slot] = []
        self.launches: list[tuple[LaunchOp, tuple[int, ...]]] = []
        self.results: list[int] = []
        self._numbers: dict[SSAValue, int] = {}
        self.arguments = tuple(function.body.block.args)
        for argument in self.arguments:
            self._add(argument, f"argument {argument.index}")
        for op in function.body.block.ops:
            match op:
                case AllocateOp():
                    self._add(op.buffer, "a buffer")
                case LaunchOp():
                    self.launches.append((op, self._numbers_of(op.buffers)))
                case ReturnOp():
                    self.results = [*self._numbers_of(op.arguments)]
                case _:
                    raise GinghamError(
                        f"'{op.name}' is no operation of a host program",
                        hint="run the pass lower-stripe-to-opencl first",
                    )

    def _add(self, value: SSAValue, default: str) -> None:
        type = value.type
        if not isinstance(type, BufferType):
            raise GinghamError(
                f"expected the host program to use buffers, got {type}",
                hint="run the pass lower-stripe-to-opencl first",
            )
        self._numbers[value] = len(self.slots)
        name = value.name_hint or default
        element = type.element_type
        self.slots.append(_Slot(name, type.sizes, element, numpy_dtype(element)))

    def _numbers_of(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        return tuple(self._numbers[value] for value in values)


def _prepare(
    module: ModuleOp,
    device: OpenCLDevice,
    source: str,
    options: Sequence[str] | None,
    plan: _Plan,
) -> list[_Launch]:
    """Build the kernels, and lay out the launches of those that have work."""
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    names = kernel_names(module)
    launches: list[_Launch] = []
    program = build_program(device, source, options) if kernels else None
    for op, slots in plan.launches:
        if program is None or 0 in op.group_counts:
            continue
        symbol = op.kernel.root_reference.data
        local_size = kernels[symbol].group_size
        pairs = zip(op.group_counts, local_size, strict=True)
        global_size = tuple(count * size for count, size in pairs)
        kernel = program.kernel(names[symbol])
        launches.append(_Launch(kernel, global_size, local_size, slots))
    return launches


def _entry(module: ModuleOp) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise GinghamError("the module has no function @main")


def _check_extensions(source: str, device: OpenCLDevice) -> None:
    """Refuse a type that the device does not compute with."""
    if "EXTENSION cl_khr_fp64 " in source and not device.details.supports_fp64:
        raise GinghamError(
            f"device {device.name!r} does not compute with f64",
            hint="`tile-devices` lists devices; cl_khr_fp64 is what it needs",
        )
