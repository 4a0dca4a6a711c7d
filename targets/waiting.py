"""Waiting for events where a device has no way to: for a time, or for another device.

A thread for each queue that is waited for is blocked until its events have ended.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import TIMEOUT_MAX, Lock, Thread, current_thread
from threading import Event as Signal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .device_memory import Awaited, EventQueue

    Work: TypeAlias = "tuple[Awaited, Callable[[], object]]"


def call_after(event: Awaited, action: Callable[[], object]) -> None:
    """Let a thread call `action` when the event has ended, well or in failure.

    The action must be short and must not raise, and is the only thing that happens.
    """
    with _starting:
        watcher = _watchers.get(event.queue)
        if watcher is None:
            watcher = _watchers[event.queue] = _Watcher(event.queue)
    event.start()
    watcher.work.put((event, action))


def wait_at_most(event: Awaited, seconds: float) -> bool:
    """Whether the event has ended after so many seconds at most."""
    ended = Signal()
    call_after(event, ended.set)
    return ended.wait(min(seconds, TIMEOUT_MAX))


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
