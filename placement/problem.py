"""The placement of units as numbers: what runs where for how long, and what moves.

Nothing here knows operations or devices: units and devices are numbers, and the memory
of the host is one more place behind those of the devices. Times are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Placement = tuple[int, ...]
"""For each unit the number of its device."""


@dataclass(frozen=True)
class Tensor:
    """A value that units exchange, an input of the program, or a result of it."""

    name: str
    size_bytes: int
    source: int | None
    """The unit that computes it; None for an input."""
    users: tuple[int, ...]
    """The units that read it, in order."""
    homes: tuple[int, ...] = ()
    """The places that have an input before anything runs."""
    end: int | None = None
    """The place where a result has to be in the end, None for anywhere."""
    is_result: bool = False
    is_kept: bool = False
    """Whether it is copied in the first run only, as the next ones have the same."""


@dataclass(frozen=True)
class Problem:
    """Units in an order in which each comes after those it needs, and their places."""

    devices: tuple[str, ...]
    seconds: tuple[tuple[float, ...], ...]
    """For each unit its time on each device, infinite where it cannot run."""
    tensors: tuple[Tensor, ...]
    latencies: tuple[tuple[float, ...], ...]
    """Seconds until a copy from one place to another begins; the last is the host."""
    per_byte: tuple[tuple[float, ...], ...]
    """Seconds that each byte of it takes."""
    memory_bytes: tuple[int, ...]
    """What each device has."""
    channels: tuple[tuple[int, ...], ...]
    """The number of what copies between places go through, one after the other. What
    goes through the host shares a channel with what comes from there."""
    queues: tuple[int, ...]
    """The number of each device's queue: devices that are one processor share one."""
    start_seconds: float = 0.0
    """What the host takes to start units that run on one device in one go, where there
    are several devices."""

    scratch_bytes: tuple[tuple[int, ...], ...] = ()
    """For each unit the memory that it takes on each device only while it runs."""

    @property
    def count(self) -> int:
        """How many units there are."""
        return len(self.seconds)

    @property
    def host(self) -> int:
        """The number of the host's memory among the places."""
        return len(self.devices)

    @property
    def all_devices(self) -> range:
        """The numbers of all devices."""
        return range(len(self.devices))

    def transfer_seconds(self, tensor: Tensor, source: int, target: int) -> float:
        """How long it takes to copy a tensor from one place to another."""
        if source == target or tensor.is_kept:
            return 0.0
        latency = self.latencies[source][target]
        return latency + tensor.size_bytes * self.per_byte[source][target]

    def is_in_place(self, tensor: Tensor, device: int) -> bool:
        """Whether a device works on an input in the host's memory, where it is."""
        is_there = tensor.source is None and self.host in tensor.homes
        return is_there and self.per_byte[self.host][device] == 0

    @cached_property
    def is_tight(self) -> bool:
        """Whether some device has less memory than all tensors and a unit may take."""
        total = sum(tensor.size_bytes for tensor in self.tensors)
        return any(
            total + max((row[device] for row in self.scratch_bytes), default=0) > limit
            for device, limit in enumerate(self.memory_bytes)
        )

    @cached_property
    def moves(self) -> tuple[tuple[tuple[float, ...], ...], ...]:
        """For each tensor the seconds from each place to each other."""
        places = range(self.host + 1)
        return tuple(
            tuple(
                tuple(
                    self.transfer_seconds(tensor, source, target) for target in places
                )
                for source in places
            )
            for tensor in self.tensors
        )

    @cached_property
    def arrivals(self) -> tuple[tuple[tuple[float, int], ...], ...]:
        """For each input the cheapest way to each place: the seconds, and from where.

        Empty for what a unit computes.
        """
        found: list[tuple[tuple[float, int], ...]] = []
        for tensor, moves in zip(self.tensors, self.moves, strict=True):
            ways: list[tuple[float, int]] = []
            if tensor.source is None:
                for target in range(self.host + 1):
                    ways.append(min((moves[h][target], h) for h in tensor.homes))
            found.append(tuple(ways))
        return tuple(found)

    def total_seconds(self, placement: Sequence[int]) -> float:
        """All times and all transfers one after the other.

        A tensor is copied once to each place that needs it.
        """
        total = math.fsum(
            times[device] for times, device in zip(self.seconds, placement, strict=True)
        )
        parts = [total]
        for number, tensor in enumerate(self.tensors):
            targets = {placement[user] for user in tensor.users}
            if tensor.end is not None:
                targets.add(tensor.end)
            if tensor.source is None:
                ways = self.arrivals[number]
                parts += [ways[target][0] for target in sorted(targets)]
            else:
                moves = self.moves[number][placement[tensor.source]]
                parts += [moves[target] for target in sorted(targets)]
        return math.fsum(parts)

    @cached_property
    def used(self) -> tuple[tuple[int, ...], ...]:
        """For each unit the tensors that it reads."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for number, tensor in enumerate(self.tensors):
            for user in tensor.users:
                found[user].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def made(self) -> tuple[tuple[int, ...], ...]:
        """For each unit the tensors that it computes."""
        found: list[list[int]] = [[] for _ in range(self.count)]
        for number, tensor in enumerate(self.tensors):
            if tensor.source is not None:
                found[tensor.source].append(number)
        return tuple(map(tuple, found))
