"""Copies between arrays of NumPy and a device by way of memory that cannot be moved.

A device copies by itself what the system cannot move meanwhile (pinned memory), and
NumPy's arrays are not that: a driver copies them piece by piece into pinned memory of
its own, on one core. Here several threads do so, each with two pieces of which the
device copies one while the other is filled or emptied. New memory is touched by several
threads, too, which takes the system longer than the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from .... import observation
from ...cores import core_count
from ..status import as_gingham_error

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

    from ..handles.buffer import DeviceBuffer
    from ..handles.handle import DeviceHandle

    Bytes: TypeAlias = NDArray[np.uint8]

SMALLEST = 8 << 20
"""Bytes of arrays that threads are worth the while for."""
_PIECE = 4 << 20
_SMALLEST_PIECE = 1 << 20
"""Below it, threads wait for each other in Python more than they copy."""
_MOST_LANES = 8


def is_staged(device: DeviceHandle, size: int) -> bool:
    """Whether arrays of so many bytes are copied this way."""
    if device.details.host_unified_memory or size < SMALLEST:
        return False
    # Profiles tell of the commands of a device's own queues.
    return observation.observer is None


def write_staged(buffer: DeviceBuffer, host: Bytes) -> None:
    """Copy bytes into a buffer that no command uses, and wait for the end.

    Raises GinghamError where the device fails.
    """
    _staging_of(buffer.device).copy(buffer, host, is_write=True)


def read_staged(buffer: DeviceBuffer, host: Bytes) -> None:
    """Copy a buffer, whose contents are there, and wait for the end.

    Raises GinghamError where the device fails.
    """
    _staging_of(buffer.device).copy(buffer, host, is_write=False)


class _Staging:
    """The threads that copy for one device; for any thread."""

    def __init__(self) -> None:
        self._copying = Lock()
        self._lanes: list[_Lane] = []
        self._threads: Executor | None = None

    def copy(self, buffer: DeviceBuffer, host: Bytes, *, is_write: bool) -> None:
        """Copy all bytes."""
        import pyopencl as cl

        device, handle = buffer.device, buffer.handle
        try:
            with self._copying:
                threads = self._ready(device)
                count = len(self._lanes)
                piece = min(max(-(-host.size // count), _SMALLEST_PIECE), _PIECE)
                copies = [
                    threads.submit(
                        lane.copy,
                        handle,
                        host,
                        range(number * piece, host.size, count * piece),
                        piece,
                        is_write,
                    )
                    for number, lane in enumerate(self._lanes)
                ]
                # The array may go only when no thread works on it.
                wait(copies)
            for copy in copies:
                copy.result()
        except cl.Error as error:
            direction = "to" if is_write else "from"
            action = f"copying {direction} device {device.name!r}"
            raise as_gingham_error(action, error) from error

    def _ready(self, device: DeviceHandle) -> Executor:
        if self._threads is None:
            count = min(core_count(), _MOST_LANES)
            self._lanes = [_Lane(device) for _ in range(count)]
            name = f"gingham copies of {device.name}"
            self._threads = ThreadPoolExecutor(count, name)
        return self._threads


_making = Lock()
_known: WeakKeyDictionary[DeviceHandle, _Staging] = WeakKeyDictionary()


def _staging_of(device: DeviceHandle) -> _Staging:
    with _making:
        found = _known.get(device)
        if found is None:
            found = _known[device] = _Staging()
        return found


def pinned(queue: cl.CommandQueue, size: int) -> Bytes:
    """New memory of the host that the system cannot move; with it goes its buffer."""
    import numpy as np
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
    map_buffer: Callable[..., Any] = cl.enqueue_map_buffer
    modes = cl.map_flags.READ | cl.map_flags.WRITE
    try:
        buffer = cl.Buffer(queue.context, flags, size)
        return map_buffer(queue, buffer, modes, 0, (size,), np.dtype(np.uint8))[0]
    except cl.Error as error:
        action = f"taking memory for copies to device {queue.device.name!r}"
        raise as_gingham_error(action, error) from error


class _Lane:
    """What one thread copies by: a queue, and two pieces of pinned memory."""

    def __init__(self, device: DeviceHandle) -> None:
        import pyopencl as cl

        self._queue = cl.CommandQueue(device.context, device.handle)
        self._pieces = pinned(self._queue, 2 * _PIECE).reshape(2, _PIECE)

    def copy(
        self,
        buffer: cl.Buffer,
        host: Bytes,
        starts: Sequence[int],
        size: int,
        is_write: bool,
    ) -> None:
        """Copy the pieces of `size` bytes, or what is left, that begin at `starts`."""
        try:
            if is_write:
                self._write(buffer, host, starts, size)
            else:
                self._read(buffer, host, starts, size)
        finally:
            self._queue.finish()

    def _write(
        self, buffer: cl.Buffer, host: Bytes, starts: Sequence[int], size: int
    ) -> None:
        import numpy as np
        import pyopencl as cl

        copied: list[cl.Event] = []
        for number, start in enumerate(starts):
            if number >= 2:
                copied[number - 2].wait()
            part = host[start : start + size]
            piece = self._pieces[number % 2, : part.size]
            np.copyto(piece, part)
            copied.append(
                cl.enqueue_copy(
                    self._queue, buffer, piece, dst_offset=start, is_blocking=False
                )
            )
            self._queue.flush()

    def _read(
        self, buffer: cl.Buffer, host: Bytes, starts: Sequence[int], size: int
    ) -> None:
        import numpy as np
        import pyopencl as cl

        copied: list[cl.Event] = []

        def begin(number: int) -> None:
            if number < len(starts):
                start = starts[number]
                piece = self._pieces[number % 2, : min(size, host.size - start)]
                copied.append(
                    cl.enqueue_copy(
                        self._queue, piece, buffer, src_offset=start, is_blocking=False
                    )
                )
                self._queue.flush()

        begin(0)
        begin(1)
        for number, start in enumerate(starts):
            copied[number].wait()
            part = host[start : start + size]
            np.copyto(part, self._pieces[number % 2, : part.size])
            begin(number + 2)
