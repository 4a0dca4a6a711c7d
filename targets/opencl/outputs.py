"""Where the results of a call are written, and how they become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .handles.buffer import DeviceBuffer, wrap
from .memory.copies import download
from .memory.result_memory import ResultMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..host_program import HostProgram
    from .devices.device import OpenCLDevice
    from .launches import LaunchList

    Array = NDArray[Any]


class OutputBinder:
    """Sets the arguments of launches that are results; not thread-safe."""

    def __init__(
        self, device: OpenCLDevice, program: HostProgram, launches: LaunchList
    ) -> None:
        self._device = device
        self._launches = launches
        self._results = tuple(program.results)
        slots = program.slots
        self._own = {
            number: ResultMemory(device, slots[number].shape, slots[number].dtype)
            for number in sorted(set(program.results))
            if number >= program.input_count
        }
        self.size_in_bytes = sum(slots[number].size_in_bytes for number in self._own)
        """What is kept for further results, at most."""
        self.has_copies = len(self._own) != len(program.results)
        """Whether a result is an input, or another result."""

    def bind(self, outputs: Sequence[Array | None] | None) -> dict[int, DeviceBuffer]:
        """The buffers that the results are written to, by their slots.

        Where memory is shared, those are the caller's arrays.
        """
        buffers: dict[int, DeviceBuffer] = {}
        if outputs is not None and self._device.details.host_unified_memory:
            for number, target in zip(self._results, outputs, strict=True):
                if target is None or number not in self._own or number in buffers:
                    continue
                buffers[number] = buffer = wrap(self._device, target)
                self._launches.set(number, buffer.handle)
        for number, memory in self._own.items():
            if number not in buffers:
                buffers[number] = buffer = memory.take()
                self._launches.bind(number, buffer)
        return buffers

    def release(self) -> None:
        """Let go of the memory that is kept for further results."""
        for number, memory in self._own.items():
            memory.drop()
            self._launches.unbind(number)

    def own(self, outputs: Sequence[DeviceBuffer]) -> dict[int, DeviceBuffer]:
        """The buffers of these that kernels write results to, by their slots."""
        if not self.has_copies:
            return dict(zip(self._results, outputs, strict=True))
        slots: dict[int, DeviceBuffer] = {}
        for number, buffer in zip(self._results, outputs, strict=True):
            if number in self._own:
                slots.setdefault(number, buffer)
        return slots

    def copies(
        self, inputs: Sequence[DeviceBuffer], outputs: Sequence[DeviceBuffer]
    ) -> list[tuple[DeviceBuffer, DeviceBuffer]]:
        """What is to be copied after all launches: results that no kernel writes."""
        sources = self.own(outputs) | dict(enumerate(inputs))
        return [
            (sources[number], buffer)
            for number, buffer in zip(self._results, outputs, strict=True)
            if sources[number] is not buffer and buffer.size_in_bytes
        ]

    def collect(
        self,
        inputs: Sequence[Array],
        buffers: dict[int, DeviceBuffer],
        outputs: Sequence[Array | None] | None,
    ) -> list[Array]:
        """The results as arrays, once all work has ended; no two share memory."""
        arrays: list[Array] = []
        given = [array for array in outputs or () if array is not None]
        for position, number in enumerate(self._results):
            buffer = buffers.get(number)
            target = None if outputs is None else outputs[position]
            if buffer is None:
                array = inputs[number]
            else:
                array = self._contents(number, buffer, target)
            if target is None:
                is_new = buffer is not None and not _is_in(array, given)
                given.append(array)
                array = array.view() if is_new else array.copy()
            elif array is not target:
                target[...] = array
                array = target
            arrays.append(array)
        return arrays

    def _contents(
        self, number: int, buffer: DeviceBuffer, target: Array | None
    ) -> Array:
        """What is in a buffer; a copy is in `target`, if there is one."""
        if buffer.host is not None and self._device.is_visible:
            return buffer.host
        if buffer.host is None and target is None:
            target = self._own[number].take_copy()
        return download(self._device.queue, buffer, target)


def _is_in(array: Array, arrays: Sequence[Array]) -> bool:
    return any(array is other for other in arrays)
