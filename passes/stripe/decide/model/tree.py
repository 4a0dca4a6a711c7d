"""What it takes the items of a group to put parts together in local memory."""

from __future__ import annotations

from collections.abc import Iterator

from .....targets.hardware import Hardware


def tree_cycles(radices: tuple[int, ...], hardware: Hardware) -> float:
    """A tree in which each item of a level aggregates so many parts, one by one."""
    barrier = hardware.lanes.barrier_cycles
    latency = hardware.caches[0].latency_cycles
    step = hardware.multiply_add_latency_cycles
    return sum(barrier + latency + step * radix for radix in radices)


def tree_radices(parts: int, hardware: Hardware) -> tuple[int, ...]:
    """The quickest tree over a power of two of parts; none for a single part."""
    return min(_trees(parts), key=lambda radices: tree_cycles(radices, hardware))


def _trees(parts: int) -> Iterator[tuple[int, ...]]:
    """All trees whose radices are powers of two, larger ones first."""
    if parts == 1:
        yield ()
    radix = parts
    while radix > 1:
        for rest in _trees(parts // radix):
            if not rest or rest[0] <= radix:
                yield (radix, *rest)
        radix //= 2
