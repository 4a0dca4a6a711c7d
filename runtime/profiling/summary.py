"""Commands and spans added up: a row for each kernel, way of data and step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .records import Command, Span
from .roofline import Roofline

T = TypeVar("T")

_STEPS = ("check inputs", "bind", "launch", "wait", "collect", "interpret")
"""The parts of a call, in their order."""


@dataclass(frozen=True)
class KernelRow:
    """All launches of a kernel for one place in the program. Totals are of all."""

    device: str
    name: str
    location: str | None
    calls: int
    seconds: float
    flops: int
    bytes_read: int
    bytes_written: int
    share: float | None
    """What part of the best the device reached; None for what computes nothing."""
    roofline: Roofline | None

    @property
    def flops_per_second(self) -> float:
        """Operations of the program."""
        return self.flops / self.seconds

    @property
    def bytes_per_second(self) -> float:
        """Of inputs and outputs, each cell once."""
        return (self.bytes_read + self.bytes_written) / self.seconds

    def as_json(self) -> dict[str, Any]:
        """The row for programs."""
        return {
            "device": self.device,
            "kernel": self.name,
            "location": self.location,
            "calls": self.calls,
            "total_ms": self.seconds * 1e3,
            "mean_ms": self.seconds * 1e3 / self.calls,
            "flops": self.flops,
            "bytes_read": self.bytes_read,
            "bytes_written": self.bytes_written,
            "gflops_per_second": self.flops_per_second * 1e-9,
            "gigabytes_per_second": self.bytes_per_second * 1e-9,
            "roofline_share": self.share,
        }


@dataclass(frozen=True)
class TransferRow:
    """All copies one way on a device."""

    device: str
    name: str
    calls: int
    seconds: float
    size_in_bytes: int

    def as_json(self) -> dict[str, Any]:
        """The row for programs."""
        return {
            "device": self.device,
            "transfer": self.name,
            "calls": self.calls,
            "total_ms": self.seconds * 1e3,
            "bytes": self.size_in_bytes,
            "gigabytes_per_second": self.size_in_bytes / self.seconds * 1e-9,
        }


@dataclass(frozen=True)
class HostRow:
    """A step of calls, or of compiling."""

    name: str
    calls: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The row for programs."""
        return {
            "name": self.name,
            "calls": self.calls,
            "total_ms": self.seconds * 1e3,
            "mean_us": self.seconds * 1e6 / self.calls,
        }


@dataclass(frozen=True)
class Summary:
    """The figures of a profile; kernels are sorted by their share of the time."""

    kernels: tuple[KernelRow, ...]
    transfers: tuple[TransferRow, ...]
    calls: int
    host_seconds: float
    """Of all calls, without compiling."""
    steps: tuple[HostRow, ...]
    compiling: tuple[HostRow, ...]

    def as_json(self) -> dict[str, Any]:
        """The figures for programs."""
        return {
            "kernels": [row.as_json() for row in self.kernels],
            "transfers": [row.as_json() for row in self.transfers],
            "calls": self.calls,
            "host_ms": self.host_seconds * 1e3,
            "steps": [row.as_json() for row in self.steps],
            "compiling": [row.as_json() for row in self.compiling],
        }


def summarize(commands: Sequence[Command], spans: Sequence[Span]) -> Summary:
    """The figures of what was measured."""
    kernels = _grouped(
        ((c.device, c.name, c.location), c) for c in commands if c.kind == "kernel"
    )
    transfers = _grouped(
        ((c.device, c.name), c) for c in commands if c.kind == "transfer"
    )
    rows = [_kernel_row(own) for own in kernels.values()]
    calls = _outermost([span for span in spans if span.category == "call"])
    steps = [*spans, *_checks(spans)]
    compiling = _rows(span for span in spans if span.category == "compile")
    inside = sum(
        span.seconds
        for span in _outermost([s for s in spans if s.category == "compile"])
    )
    return Summary(
        tuple(sorted(rows, key=lambda row: -row.seconds)),
        tuple(map(_transfer_row, transfers.values())),
        len(calls),
        max(sum(span.seconds for span in calls) - inside, 0.0),
        tuple(
            sorted(
                _rows(span for span in steps if span.category == "step"),
                key=lambda row: _STEPS.index(row.name) if row.name in _STEPS else 99,
            )
        ),
        tuple(compiling),
    )


def _transfer_row(commands: Sequence[Command]) -> TransferRow:
    return TransferRow(
        commands[0].device,
        commands[0].name,
        len(commands),
        sum(command.seconds for command in commands),
        sum(command.bytes_read for command in commands),
    )


def _kernel_row(commands: Sequence[Command]) -> KernelRow:
    first = commands[0]
    seconds = sum(command.seconds for command in commands)
    best = [
        command.roofline.seconds(command.flops, command.moved)
        for command in commands
        if command.roofline is not None
    ]
    return KernelRow(
        first.device,
        first.name,
        first.location,
        len(commands),
        seconds,
        sum(command.flops for command in commands),
        sum(command.bytes_read for command in commands),
        sum(command.bytes_written for command in commands),
        sum(best) / seconds if sum(best) > 0 else None,
        first.roofline,
    )


def _grouped(pairs: Iterable[tuple[Any, T]]) -> dict[Any, list[T]]:
    groups: dict[Any, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _rows(spans: Iterable[Span]) -> list[HostRow]:
    return [
        HostRow(name, len(own), sum(span.seconds for span in own))
        for name, own in _grouped((span.name, span) for span in spans).items()
    ]


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """The spans that are in no other one of their thread."""
    found: list[Span] = []
    ends: dict[int, int] = {}
    for span in sorted(spans, key=lambda each: (each.started, -each.ended)):
        if span.started >= ends.get(span.thread.number, -1):
            ends[span.thread.number] = span.ended
            found.append(span)
    return found


def _checks(spans: Sequence[Span]) -> list[Span]:
    """From the start of each call to its first step, or to its compiling."""
    found: list[Span] = []
    threads = _grouped((span.thread, span) for span in spans)
    for thread, own in threads.items():
        steps = [s for s in own if s.category in ("step", "compile")]
        for call in _outermost([s for s in own if s.category == "call"]):
            first = min(
                (s.started for s in steps if call.started <= s.started <= call.ended),
                default=call.ended,
            )
            name = "check inputs"
            found.append(Span("step", name, thread, call.started, first))
    return found
