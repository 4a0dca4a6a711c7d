"""The clock of a queue's events as times of the host.

Events tell times of a clock of the device that begins anywhere. A marker is enqueued
and waited for between looks at the host's clock, and its event tells when that was by
the device's: so the difference of the clocks is known up to the time that this takes.
Of several markers all must be right, so the bounds are intersected; some ten
microseconds are left. That is done when timing begins and again when a profile is asked
for, and between the two the difference changes evenly, as clocks drift. It changes by
no more than clocks do, and from the last time that was told on: on a busy machine the
bounds are wide, and what happened one after the other must not be told the other way
round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl as cl

    from .command_queue import CommandQueue

_MARKERS = 12
_AGES = 1 << 63
_CLOSE = 100_000
_MOST_DRIFT = 5e-4
"""More than quartzes differ, and than clocks are made to run faster or slower."""


@dataclass
class QueueClock:
    """Turns times of a queue's events into times of `time.perf_counter_ns`."""

    _points: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Times of the device, and how much later the host's clock is."""
    _latest: int = -_AGES
    """The last time of the device that was turned into one of the host."""

    def calibrate(self, queue: CommandQueue) -> None:
        """Compare the clocks now; the queue must time its commands."""
        import pyopencl as cl

        low, high, device = -_AGES, _AGES, 0
        try:
            for _ in range(_MARKERS):
                before = perf_counter_ns()
                event = cl.enqueue_marker(queue.handle)
                between = perf_counter_ns()
                event.wait()
                after = perf_counter_ns()
                device = event.profile.end
                least, most = _bounds(event, before, between, after)
                if max(low, least) <= min(high, most):
                    low, high = max(low, least), min(high, most)
        except cl.Error:
            # A marker has no times everywhere; those of commands are used then.
            return
        # A queue that was busy says late that a marker began, but not that it ended.
        ahead = (low + high) // 2 if high - low < _CLOSE else high
        if self._points:
            start = max(self._points[0][0], self._latest)
            self._points = [(start, self.host(start) - start), (device, ahead)]
        else:
            self._points = [(device, ahead)]

    def note(self, device: int, host: int) -> None:
        """A command that was enqueued at these times, where there is nothing better."""
        if not self._points:
            self._points = [(device, host - device)]

    def host(self, device: int) -> int:
        """A time of an event by the host's clock."""
        self._latest = max(self._latest, device)
        if not self._points:
            return device
        (first, offset), (last, other) = self._points[0], self._points[-1]
        if last > first:
            drift = (other - offset) / (last - first)
            drift = min(max(drift, -_MOST_DRIFT), _MOST_DRIFT)
            offset += round(drift * (device - first))
        return device + offset


def _bounds(event: cl.Event, before: int, between: int, after: int) -> tuple[int, int]:
    """The least and the most that the host's clock may be ahead by."""
    times = event.profile
    least, most = before - times.start, after - times.end
    # Not all runtimes tell of a marker when it was enqueued.
    if times.queued:
        least = max(least, before - times.queued)
        most = min(most, between - times.queued)
    return least, most
