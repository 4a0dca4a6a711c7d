"""A profile as a trace that Perfetto and `chrome://tracing` open.

The format is JSON with an array of events (Trace Event Format, Chromium): `X` is
something with a start and a duration, `s` and `f` are the ends of an arrow from the
thread that enqueued a command to the command, `M` names processes and threads. Times
are microseconds since the first event. Process 1 is the host, with its threads; each
device is a process, each of its queues a track for kernels and one for transfers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .records import Command, Span

_HOST = 1


def chrome_trace(commands: Sequence[Command], spans: Sequence[Span]) -> dict[str, Any]:
    """The object to be written as JSON."""
    starts = [c.enqueued for c in commands] + [c.started for c in commands]
    starts += [span.started for span in spans]
    writer = _Writer(min(starts, default=0))
    for span in spans:
        writer.add_span(span)
    # Commands of a queue follow each other; clocks are rounded.
    ends: dict[tuple[str, int], int] = {}
    for command in sorted(commands, key=lambda each: (each.started, each.ended)):
        track = (command.device, command.queue)
        start = max(command.started, ends.get(track, command.started))
        end = max(command.ended, start)
        ends[track] = end
        writer.add_command(command, start, end)
    events = sorted(writer.events, key=lambda e: (e["ts"], -e.get("dur", 0)))
    return {"traceEvents": [*writer.names, *events], "displayTimeUnit": "ns"}


class _Writer:
    """Makes events, and gives processes and tracks their numbers."""

    def __init__(self, origin: int) -> None:
        self.names: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self._origin = origin
        self._processes: dict[str, int] = {}
        self._tracks: dict[tuple[int, int], str] = {}
        self._arrows = 0
        self._name("process_name", _HOST, 0, f"host (process {os.getpid()})")

    def add_span(self, span: Span) -> None:
        """What a thread of the host did."""
        self._track(_HOST, span.thread.number, span.thread.name)
        self._complete(
            span.name,
            span.category,
            (_HOST, span.thread.number),
            (span.started, span.ended),
        )

    def add_command(self, command: Command, start: int, end: int) -> None:
        """A command of a device, and an arrow from the thread that enqueued it."""
        process = self._process(command.device)
        is_kernel = command.kind == "kernel"
        track = 2 * command.queue + (not is_kernel)
        what = "kernels" if is_kernel else "transfers"
        self._track(process, track, f"queue {command.queue}: {what}")
        self._track(_HOST, command.thread.number, command.thread.name)
        seconds = command.seconds
        facts: dict[str, Any] = {"GB/s": round(command.moved / seconds * 1e-9, 3)}
        if is_kernel:
            facts |= {
                "location": command.location,
                "flops": command.flops,
                "bytes read": command.bytes_read,
                "bytes written": command.bytes_written,
                "GFLOP/s": round(command.flops / seconds * 1e-9, 3),
            }
            if command.roofline is not None:
                share = command.roofline.share(command.flops, command.moved, seconds)
                facts["share of the roofline"] = share
        else:
            facts["bytes"] = command.bytes_read
            facts["GB/s"] = round(command.bytes_read / seconds * 1e-9, 3)
        self._complete(
            command.name, command.kind, (process, track), (start, end), facts
        )
        self._arrow((_HOST, command.thread.number), command.enqueued, "s")
        self._arrow((process, track), start, "f")
        self._arrows += 1

    def _complete(
        self,
        name: str,
        category: str,
        track: tuple[int, int],
        times: tuple[int, int],
        facts: dict[str, Any] | None = None,
    ) -> None:
        start, end = times
        event: dict[str, Any] = {
            "name": name,
            "cat": category,
            "ph": "X",
            "ts": self._time(start),
            "dur": (end - start) / 1000,
            "pid": track[0],
            "tid": track[1],
        }
        if facts:
            event["args"] = facts
        self.events.append(event)

    def _arrow(self, track: tuple[int, int], time: int, kind: str) -> None:
        event = {
            "name": "enqueue",
            "cat": "enqueue",
            "ph": kind,
            "id": self._arrows,
            "ts": self._time(time),
            "pid": track[0],
            "tid": track[1],
        }
        if kind == "f":
            # The arrow ends at what begins here, not at what comes next.
            event["bp"] = "e"
        self.events.append(event)

    def _time(self, time: int) -> float:
        return max(time - self._origin, 0) / 1000

    def _process(self, device: str) -> int:
        if device not in self._processes:
            number = self._processes[device] = _HOST + 1 + len(self._processes)
            self._name("process_name", number, 0, f"device {device}")
        return self._processes[device]

    def _track(self, process: int, number: int, name: str) -> None:
        if (process, number) not in self._tracks:
            self._tracks[process, number] = name
            self._name("thread_name", process, number, name)

    def _name(self, kind: str, process: int, thread: int, name: str) -> None:
        arguments = {"name": name}
        self.names.append(
            {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": arguments}
        )
