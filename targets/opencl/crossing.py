"""Waiting for an event where OpenCL has no way to: in another context.

Devices have contexts of their own, so a queue cannot be given an event of another
device. It gets a user event instead, which a thread completes: one thread for each
queue that is waited for (`waiting`). Commands wait only for what was enqueued before
them, anywhere, so these waits cannot form a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..waiting import call_after

if TYPE_CHECKING:
    import pyopencl as cl

    from .events import Event, EventQueue


def wait_list(queue: EventQueue, events: Sequence[Event]) -> list[cl.Event]:
    """What a command of `queue` has to wait for to come after these events.

    A failed event counts as ended: who follows it is told by other means.
    """
    handles: list[cl.Event] = []
    for event in events:
        if event.queue is queue or event.done:
            continue
        if event.queue.context == queue.context:
            handles.append(event.handle)
        else:
            handles.append(_known_to(queue.context, event))
        event.start()
    return handles


def _known_to(context: cl.Context, event: Event) -> cl.Event:
    import pyopencl as cl

    twin = cl.UserEvent(context)
    complete = cl.command_execution_status.COMPLETE
    call_after(event, lambda: twin.set_status(complete))
    return twin
