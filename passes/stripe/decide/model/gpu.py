"""The time of a contraction on a device of which lanes share the work of a group."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot
from typing import TypeAlias

from .....targets.hardware.description import Hardware
from ....clock import Clock, Estimate
from .occupancy import resident_groups
from .tiling import Tiling

_FREE_PLACES = 12
"""Copies of a work-item in a step of which places take no registers."""
_REGISTERS_OF_PLACE = 4
"""Of each further one."""


_PARTS = ("arithmetic", "local memory", "last cache", "copies", "steps")
"""What a core does in a step, in the order of `_Work`."""
_Work: TypeAlias = tuple[float, float, float, float, float]
"""The cycles of each of the `_PARTS`."""


@dataclass(frozen=True)
class _Group:
    """What a group of a tiling is, however many there are."""

    resident: int
    """How many of them a core runs at once."""
    subgroups: int
    rows: int
    """Those of a lane."""
    columns: int
    depth: int
    loads: float
    """The cycles in which a sub-group loads factors, for a value."""
    copies: float
    """To local memory, in a step."""


class Model:
    """Predicts the time of contractions on one device."""

    def __init__(self, hardware: Hardware, widths: tuple[int, int] = (1, 1)) -> None:
        """Of a device, and how many rows, and columns, a lane copies at once."""
        self.hardware = hardware
        self._widths = widths
        self._groups: dict[Tiling, _Group] = {}
        self._clock = Clock(hardware)
        self._adds_per_cycle = hardware.multiply_adds_per_cycle
        self._items_at_once = hardware.items_at_once
        cache, figures = hardware.caches[-1], hardware.lanes
        self._cache_bytes_per_cycle = cache.bytes_per_cycle
        self._latency = figures.busy_latency * cache.latency_cycles

    def seconds(self, tiling: Tiling, groups: int, steps: int, moved: float) -> float:
        """The predicted time of so many groups that each load local memory so often.

        For that a group moves so many bytes from the last cache in a step.

        Cores run waves of groups, as many at once as have room, and then those that are
        left.
        """
        group = self._group(tiling)
        waves, rest = self._waves(group, groups)
        cycles = self._step(self._work(group, rest, moved), rest)
        if waves:
            at_once = group.resident
            cycles += waves * self._step(self._work(group, at_once, moved), at_once)
        filling = self._latency + self.hardware.lanes.step_wait_cycles
        cycles = steps * cycles + filling * (waves + 1)
        return cycles * self._clock.cycle + self._clock.launch

    def estimate(
        self, tiling: Tiling, groups: int, steps: int, moved: float
    ) -> Estimate:
        """What `seconds` predicts, with its parts."""
        group = self._group(tiling)
        waves, rest = self._waves(group, groups)
        of_waves, of_rest = (
            self._work(group, count, moved) for count in (group.resident, rest)
        )
        core = steps * self._clock.cycle
        parts = {
            name: core * (waves * own + last)
            for name, own, last in zip(_PARTS, of_waves, of_rest, strict=True)
        }
        seconds = self.seconds(tiling, groups, steps, moved)
        return Estimate(seconds, parts | {"launch": self._clock.launch})

    def _waves(self, group: _Group, groups: int) -> tuple[int, int]:
        """How often cores run all they have room for, and how many they run then."""
        at_once = self.hardware.cores * group.resident
        waves = max(ceil(groups / at_once) - 1, 0)
        return waves, ceil((groups - waves * at_once) / self.hardware.cores)

    def _group(self, tiling: Tiling) -> _Group:
        known = self._groups.get(tiling)
        if known is None:
            known = self._groups[tiling] = _Group(
                self._room(tiling),
                tiling.subgroups,
                tiling.rows[0],
                tiling.columns[0],
                tiling.depth,
                tiling.loads(self.hardware.lanes),
                self._copies(tiling),
            )
        return known

    def _room(self, tiling: Tiling) -> int:
        """How many groups a core runs at once."""
        return resident_groups(
            tiling.items,
            self.hardware,
            local_bytes=tiling.local_bytes(4),
            registers=tiling.registers + self._places(tiling),
        )

    def _places(self, tiling: Tiling) -> int:
        """The registers of a work-item for places that it copies from and to.

        Those of a few copies are parts of the instructions (measured on an H100).
        """
        copies = ceil(self._copies(tiling) / tiling.items)
        return max(_REGISTERS_OF_PLACE * (copies - _FREE_PLACES), 0)

    def _copies(self, tiling: Tiling) -> float:
        """How many copies to local memory the work-items of a group make in a step."""
        rows, columns = self._widths
        return (tiling.row_count / rows + tiling.column_count / columns) * tiling.depth

    def _step(self, work: _Work, groups: int) -> float:
        """The cycles in which a core does a step of each of so many groups.

        That is arithmetic mostly, behind which accesses to local memory and to the last
        cache are hidden in part, and copies are not. What the next step uses comes
        meanwhile; it takes the time from an access to its value at least. Groups wait
        at the end of a step, the less the more others there are.
        """
        figures = self.hardware.lanes
        arithmetic, local, cache, copies, steps = work
        shown = figures.local_share * local + figures.cache_share * cache
        shown += copies + steps
        cycles = max(hypot(arithmetic, local) + shown, self._latency)
        return cycles + figures.step_wait_cycles / groups

    def _work(self, group: _Group, count: int, moved: float) -> _Work:
        """The cycles of what a core does in a step of each of so many groups.

        It has units for the arithmetic of several sub-groups at once. One that has a
        single sub-group waits for what that loads.
        """
        figures, depth = self.hardware.lanes, group.depth
        subgroups = count * group.subgroups
        turns = ceil(subgroups / self._adds_per_cycle)
        copied = count * group.copies / self._items_at_once
        adds = (turns + figures.alone_share) * group.rows * group.columns
        return (
            adds * depth,
            subgroups * group.loads / self.hardware.loads_per_cycle * depth,
            count * moved / self._cache_bytes_per_cycle,
            copied * figures.copy_cycles,
            count * figures.step_cycles,
        )
