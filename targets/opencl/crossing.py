"""Waiting for an event where OpenCL has no way to: in another context, or not at all.

Devices have contexts of their own, so a queue cannot be given an event of another
device. It gets a user event instead, which a thread completes: one thread for each
queue that is waited for, blocked until the event has ended. Commands wait only for what
was enqueued before them, anywhere, so these waits cannot form a circle.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread, current_thread
from threading import Event as Signal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyopencl as cl

    from .events import Event, EventQueue

    Work: TypeAlias = "tuple[Event, Callable[[], object]]"


def wait_list(queue: EventQueue, events: Sequence[Event]) -> list[cl.Event]:
    """What a command of `queue` has to wait for to come after these events.

    A failed event counts as ended: who follows it is told by other means.
    """
    handles: list[cl.Event] = []
    for event in events:
        if event.queue is queue or event.done:
            continue
        event.start()
        if event.queue.context == queue.context:
            handles.append(event.handle)
        else:
            handles.append(_known_to(queue.context, event))
    return handles


def call_after(event: Event, action: Callable[[], object]) -> None:
    """Let a thread call `action` when the event has ended, well or in failure.

    The action must be short and must not raise, and is the only thing that happens.
    """
    with _starting:
        watcher = _watchers.get(event.queue)
        if watcher is None:
            watcher = _watchers[event.queue] = _Watcher(event.queue)
    event.start()
    watcher.work.put((event, action))


def wait_at_most(event: Event, seconds: float) -> bool:
    """Whether the event has ended after so many seconds at most."""
    ended = Signal()
    call_after(event, ended.set)
    return ended.wait(min(seconds, TIMEOUT_MAX))


def _known_to(context: cl.Context, event: Event) -> cl.Event:
    import pyopencl as cl

    twin = cl.UserEvent(context)
    complete = cl.command_execution_status.COMPLETE
    call_after(event, lambda: twin.set_status(complete))
    return twin


class _Watcher:
    """The thread that waits for the events of one queue, in the order it is asked."""

    def __init__(self, queue: EventQueue) -> None:
        self.work: SimpleQueue[Work | None] = SimpleQueue()
        thread = Thread(
            target=_watch,
            args=(self.work,),
            name=f"gingham events of {queue.device.name}",
            daemon=True,
        )
        thread.start()
        # Also when Python exits: a device must not be left with what never starts.
        weakref.finalize(queue, _stop, self.work, thread)


def _watch(work: SimpleQueue[Work | None]) -> None:
    while (item := work.get()) is not None:
        event, action = item
        event.settle()
        action()
        # What the event holds may go while this thread is idle.
        del item, event, action


def _stop(work: SimpleQueue[Work | None], thread: Thread) -> None:
    work.put(None)
    if thread is not current_thread():
        thread.join()


_starting = Lock()
_watchers: weakref.WeakKeyDictionary[EventQueue, _Watcher] = weakref.WeakKeyDictionary()
