"""The arrays of a call as arguments of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
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
        import numpy as np
        import pyopencl as cl

        self._device = device
        self._context = device.context
        self._slots = slots
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
        self._array_type = np.ndarray
        self._in_place = cl.mem_flags.USE_HOST_PTR
        self._wrap = cl.Buffer
        self._error = cl.Error

    def check(self, inputs: Sequence[object]) -> None:
        """Refuse with GinghamError what is no array of the right shape and type."""
        if len(inputs) != len(self._slots):
            raise GinghamError(
                f"expected {len(self._slots)} input(s), got {len(inputs)}",
            )
        for slot, array in zip(self._slots, inputs, strict=True):
            if (
                isinstance(array, self._array_type)
                and array.shape == slot.shape
                and array.dtype == slot.dtype
            ):
                continue
            _check_input(slot, array)

    def bind(self, inputs: Sequence[Array]) -> object:
        """Set the arguments; what is returned must live until the launches have ended.

        The arrays are used in place where that is possible, else copied.
        """
        held: list[object] = []
        for number, array in enumerate(inputs):
            if not self._used[number]:
                continue
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


def _check_input(slot: Slot, array: object) -> None:
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
