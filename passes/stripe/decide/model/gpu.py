"""The time of a contraction on a device of which lanes share the work of a group."""

from __future__ import annotations

from math import ceil, hypot

from .....targets.hardware.description import Hardware
from ....clock import Clock, Estimate
from .occupancy import resident_groups
from .tiling import Tiling

_FREE_PLACES = 12
"""Copies of a work-item in a step of which places take no registers."""
_REGISTERS_OF_PLACE = 4
"""Of each further one."""


class Model:
    """Predicts the time of contractions on one device."""

    def __init__(self, hardware: Hardware, widths: tuple[int, int] = (1, 1)) -> None:
        """Of a device, and how many rows, and columns, a lane copies at once."""
        self.hardware = hardware
        self._widths = widths
        self._resident: dict[Tiling, int] = {}
        self._works: dict[tuple[Tiling, int, float], dict[str, float]] = {}

    def estimate(
        self, tiling: Tiling, groups: int, steps: int, moved: float
    ) -> Estimate:
        """The predicted time of so many groups that each load local memory so often.

        For that a group moves so many bytes from the last cache in a step.

        Cores run waves of groups, as many at once as have room, and then those that are
        left.
        """
        hardware, figures = self.hardware, self.hardware.lanes
        clock, resident = Clock(hardware), self._room(tiling)
        at_once = hardware.cores * resident
        waves = max(ceil(groups / at_once) - 1, 0)
        rest = ceil((groups - waves * at_once) / hardware.cores)
        of_waves, of_rest = (
            self._work(tiling, count, moved) for count in (resident, rest)
        )
        cycles = waves * self._step(of_waves, resident) + self._step(of_rest, rest)
        latency = hardware.caches[-1].latency_cycles
        filling = figures.busy_latency * latency + figures.step_wait_cycles
        core = steps * clock.cycle
        parts = {
            name: core * (waves * own + of_rest[name]) for name, own in of_waves.items()
        }
        cycles = steps * cycles + filling * (waves + 1)
        seconds = cycles * clock.cycle + clock.launch
        return Estimate(seconds, parts | {"launch": clock.launch})

    def _room(self, tiling: Tiling) -> int:
        """How many groups a core runs at once."""
        if tiling not in self._resident:
            self._resident[tiling] = resident_groups(
                tiling.items,
                self.hardware,
                local_bytes=tiling.local_bytes(4),
                registers=tiling.registers + self._places(tiling),
            )
        return self._resident[tiling]

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

    def _step(self, work: dict[str, float], groups: int) -> float:
        """The cycles in which a core does a step of each of so many groups.

        That is arithmetic mostly, behind which accesses to local memory and to the last
        cache are hidden in part, and copies are not. What the next step uses comes
        meanwhile; it takes the time from an access to its value at least. Groups wait
        at the end of a step, the less the more others there are.
        """
        figures = self.hardware.lanes
        hidden = hypot(work["arithmetic"], work["local memory"])
        shown = figures.local_share * work["local memory"]
        shown += figures.cache_share * work["last cache"]
        shown += work["copies"] + work["steps"]
        latency = figures.busy_latency * self.hardware.caches[-1].latency_cycles
        return max(hidden + shown, latency) + figures.step_wait_cycles / groups

    def _work(self, tiling: Tiling, groups: int, moved: float) -> dict[str, float]:
        """The cycles of what a core does in a step of each of so many groups.

        It has units for the arithmetic of several sub-groups at once. One that has a
        single sub-group waits for what that loads.
        """
        known = self._works.get((tiling, groups, moved))
        if known is not None:
            return known
        hardware, figures, depth = self.hardware, self.hardware.lanes, tiling.depth
        subgroups = groups * tiling.subgroups
        turns = ceil(subgroups / hardware.multiply_adds_per_cycle)
        loads = tiling.loads(figures)
        copied = groups * self._copies(tiling) / hardware.items_at_once
        adds = (turns + figures.alone_share) * tiling.rows[0] * tiling.columns[0]
        found = {
            "arithmetic": adds * depth,
            "local memory": subgroups * loads / hardware.loads_per_cycle * depth,
            "last cache": groups * moved / hardware.caches[-1].bytes_per_cycle,
            "copies": copied * figures.copy_cycles,
            "steps": groups * figures.step_cycles,
        }
        self._works[tiling, groups, moved] = found
        return found
