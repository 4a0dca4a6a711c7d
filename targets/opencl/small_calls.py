"""Calls with small arrays of NumPy, on devices with memory of their own.

A copy takes a driver longer than a small kernel takes. So all inputs of a call are
copied as one piece, and all its results as another: the buffers of a program are parts
of one. On the host's side the pieces are in memory that cannot be moved, which all
calls of a device share; they take turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .bare_launches import bare_read, bare_write, copy_arguments
from .handles.buffer import DeviceBuffer, allocate
from .handles.handle import DeviceHandle
from .memory.staging import pinned
from .status import as_gingham_error, error_of

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

    from ..host_program import HostProgram
    from .command_queue import CommandQueue
    from .launches import LaunchList

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]

LARGEST = 1 << 18
"""Bytes of all inputs and results: beyond it copies take longer than their starts."""


class SmallCalls:
    """The memory that one program's calls with small arrays share with others'.

    `lock` is held from `write` to the end of `read`.
    """

    def __init__(
        self, device: DeviceHandle, program: HostProgram, launches: LaunchList
    ) -> None:
        self._device = device
        self._slots = program.slots
        self._launches = launches
        self._results = program.results
        self._step = max(device.handle.mem_base_addr_align // 8, 64)
        self._inputs = [n for n in range(program.input_count) if launches.uses(n)]
        self._places, self._middle = self._placed(self._inputs, 0)
        places, self._end = self._placed(self._results, self._middle)
        self._places |= places
        self._shared = _shared_by(device)
        self.lock = self._shared.lock
        """Of all such calls of the device."""
        self._parts: Mapping[int, DeviceBuffer] = {}
        self._views: Mapping[int, Array] = {}
        self._write: tuple[object, ...] = ()
        self._read: tuple[object, ...] = ()
        self._queue: cl.CommandQueue | None = None
        self._copy_to, self._copy_from = bare_write(), bare_read()

    @property
    def fits(self) -> bool:
        """Whether the arrays are small, so that one buffer holds all of them."""
        return self._end <= min(LARGEST, self._device.details.max_allocation_bytes)

    @property
    def size_in_bytes(self) -> int:
        """What it keeps of the device's memory for the next call."""
        return self._end if self._parts else 0

    def _placed(self, slots: Iterable[int], start: int) -> tuple[dict[int, int], int]:
        """Where each slot begins, one behind the other, and where the last ends."""
        places: dict[int, int] = {}
        for number in slots:
            places[number] = start
            size = max(self._slots[number].size_in_bytes, 1)
            start += -(-size // self._step) * self._step
        return places, start

    def release(self) -> None:
        """Let go of the device's memory until the next call."""
        for number in self._parts:
            self._launches.unbind(number)
        self._parts = {}

    def write(self, queue: CommandQueue, inputs: Sequence[Array]) -> None:
        """Begin to copy the inputs; launches work on the copies from now on.

        The lock of the queue must be held. Raises GinghamError where there is no
        memory, or the device refuses.
        """
        import numpy as np

        if not self._parts:
            self._take(queue)
        if queue.handle is not self._queue:
            self._prepare(queue.handle)
        for number in self._inputs:
            np.copyto(self._views[number], inputs[number])
        for number, part in self._parts.items():
            self._launches.bind(number, part)
        if self._inputs and (code := self._copy_to(*self._write)):
            action = f"copying to device {self._device.name!r}"
            raise error_of(action, code)

    def read(self) -> int:
        """Wait for the launches, and copy the results: 0, or an error's number."""
        return self._copy_from(*self._read)

    @property
    def results(self) -> list[Array]:
        """What was read last, in memory that later calls change."""
        return [self._views[number] for number in self._results]

    def _take(self, queue: CommandQueue) -> None:
        """Get the device's memory, and that of the host."""
        import pyopencl as cl

        device = self._device
        size = (self._end,)
        whole = allocate(device, size, "uint8", for_host=False, purpose="scratch")
        self._host = self._shared.memory(queue)
        parts: dict[int, DeviceBuffer] = {}
        views: dict[int, Array] = {}
        try:
            for number, place in self._places.items():
                slot = self._slots[number]
                shape, dtype, size = slot.shape, slot.dtype, slot.size_in_bytes
                handle = whole.handle.get_sub_region(place, max(size, 1))
                part = DeviceBuffer(device, shape, dtype, handle, None, whole.lease)
                parts[number] = part
                views[number] = self._host[place : place + size].view(dtype)
                views[number] = views[number].reshape(shape)
        except cl.Error as error:
            raise as_gingham_error("taking a part of a buffer", error) from error
        self._whole, self._parts, self._views = whole.handle, parts, views
        self._queue = None

    def _prepare(self, queue: cl.CommandQueue) -> None:
        """Know what copies by a queue are called with."""
        whole, host = self._whole, self._host
        start, middle = host.ctypes.data, self._middle
        self._write = copy_arguments(
            queue, whole, range(middle), start, is_blocking=False
        )
        results = range(middle, self._end)
        self._read = copy_arguments(
            queue, whole, results, start + middle, is_blocking=True
        )
        self._queue = queue


class _Shared:
    """What all such calls of one device share."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._memory: Bytes | None = None

    def memory(self, queue: CommandQueue) -> Bytes:
        """Memory of the host that holds what is `LARGEST`."""
        if self._memory is None:
            self._memory = pinned(queue.handle, LARGEST)
        return self._memory


_making = Lock()
_known: WeakKeyDictionary[DeviceHandle, _Shared] = WeakKeyDictionary()


def _shared_by(device: DeviceHandle) -> _Shared:
    with _making:
        return _known.setdefault(device, _Shared())
