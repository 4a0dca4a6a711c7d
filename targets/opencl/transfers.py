"""Copies to, from and on a device, most of them waited for elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...observation import observe_copy, observe_queue
from ..host_arrays import as_bytes
from .crossing import wait_list
from .events import RunEvent
from .handles.buffer import DeviceBuffer
from .status import as_gingham_error

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from .command_queue import CommandQueue


def start_write(
    queue: CommandQueue,
    buffer: DeviceBuffer,
    host: NDArray[Any],
    sources: Sequence[RunEvent] = (),
    behind: Sequence[RunEvent] = (),
) -> RunEvent | None:
    """Begin to copy a contiguous array into a buffer, behind `sources`.

    It comes after `behind`, too, however these end. The array must not change until the
    copy has ended. None where there is nothing.
    """
    pair = buffer.handle, as_bytes(host)
    return _start(queue, "to", pair, (buffer, host), sources, behind)


def start_read(
    queue: CommandQueue,
    buffer: DeviceBuffer,
    host: NDArray[Any],
    sources: Sequence[RunEvent] = (),
    behind: Sequence[RunEvent] = (),
) -> RunEvent | None:
    """Begin to copy a buffer into a contiguous array, behind `sources` and `behind`.

    None where there is nothing to copy.
    """
    pair = as_bytes(host), buffer.handle
    return _start(queue, "from", pair, (buffer, host), sources, behind)


def start_copy(
    queue: CommandQueue,
    source: DeviceBuffer,
    target: DeviceBuffer,
    sources: Sequence[RunEvent] = (),
    behind: Sequence[RunEvent] = (),
) -> RunEvent | None:
    """Begin to copy a buffer into another of the device, behind `sources`, `behind`.

    None where there is nothing to copy.
    """
    pair = target.handle, source.handle
    return _start(queue, "on", pair, (target, source), sources, behind)


def copy_to(queue: CommandQueue, buffer: DeviceBuffer, host: NDArray[Any]) -> None:
    """Copy a contiguous array into a buffer that nothing uses, and wait for the end."""
    if host.size:
        _copy_now(queue, "to", (buffer.handle, as_bytes(host)))


def copy_from(queue: CommandQueue, buffer: DeviceBuffer, host: NDArray[Any]) -> None:
    """Copy a buffer, whose contents are there, into a contiguous array, and wait."""
    if host.size:
        _copy_now(queue, "from", (as_bytes(host), buffer.handle))


def _copy_now(queue: CommandQueue, direction: str, pair: tuple[Any, Any]) -> None:
    """Without an event: what is small takes no longer than that."""
    import pyopencl as cl

    try:
        cl.enqueue_copy(queue.handle, *pair, is_blocking=True)
    except cl.Error as error:
        action = f"copying {direction} device {queue.device.name!r}"
        raise as_gingham_error(action, error) from error


def _start(
    queue: CommandQueue,
    direction: str,
    pair: tuple[Any, Any],
    held: tuple[DeviceBuffer, DeviceBuffer | NDArray[Any]],
    sources: Sequence[RunEvent],
    behind: Sequence[RunEvent],
) -> RunEvent | None:
    import pyopencl as cl

    if held[0].size_in_bytes == 0:
        return None
    action = f"copying {direction} device {queue.device.name!r}"
    observe_queue(queue)
    waits = wait_list(queue, [*sources, *behind])
    copy: Callable[..., cl.Event] = cl.enqueue_copy
    try:
        with queue.lock:
            # Copies between buffers never block, and may not be told not to.
            options = {} if direction == "on" else {"is_blocking": False}
            handle = copy(queue.handle, *pair, wait_for=waits or None, **options)
            size = held[0].size_in_bytes
            observe_copy(queue, f"{direction} the device", size, handle)
            event = RunEvent(
                queue,
                [handle],
                lambda _, error: as_gingham_error(action, error),
                (held, waits),
                sources,
            )
            queue.hold(event)
    except cl.Error as error:
        raise as_gingham_error(action, error) from error
    event.start()
    return event
