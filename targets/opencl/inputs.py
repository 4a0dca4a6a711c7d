"""The arrays of a call as arguments of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..host_program import Slot
from .memory.copies import upload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .devices.device import OpenCLDevice
    from .launches import LaunchList

    Array = NDArray[Any]


class InputBinder:
    """Sets the arguments of launches that are inputs of the program."""

    def __init__(
        self, device: OpenCLDevice, slots: Sequence[Slot], launches: LaunchList
    ) -> None:
        import pyopencl as cl

        self._device = device
        self._context = device.context
        self._launches = launches
        self._used = [launches.uses(number) for number in range(len(slots))]
        # An empty buffer is none to OpenCL; bfloat16 has no buffer protocol.
        self._is_plain = [
            device.details.host_unified_memory
            and 0 not in slot.shape
            and slot.dtype.kind in "biuf"
            and slot.size_in_bytes <= device.details.max_allocation_bytes
            for slot in slots
        ]
        self._in_place = cl.mem_flags.USE_HOST_PTR
        self._wrap = cl.Buffer
        self._error = cl.Error

    def bind(self, inputs: Sequence[Array], positions: Iterable[int]) -> object:
        """Set the arguments that are the inputs at some positions.

        What is returned must live until the launches have ended. The arrays are used in
        place where that is possible, else copied.
        """
        held: list[object] = []
        for number in positions:
            if not self._used[number]:
                continue
            array = inputs[number]
            flags = array.flags
            lies_ready = flags.c_contiguous and flags.aligned and array.dtype.isnative
            if self._is_plain[number] and lies_ready:
                handle = self._wrapped(array)
                held.append(handle)
                self._launches.set(number, handle)
                continue
            buffer = upload(self._device.queue, array)
            held.append(buffer)
            self._launches.set(number, buffer.handle)
        return held

    def _wrapped(self, array: Array) -> Any:
        """`upload` in short, as this is most of what a small call takes."""
        try:
            return self._wrap(self._context, self._in_place, 0, array)
        except self._error:
            # With the same flags, and a message that says what did not fit.
            return upload(self._device.queue, array).handle
