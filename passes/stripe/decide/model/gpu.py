"""The time of a contraction on a device of which lanes share the work of a group."""

from __future__ import annotations

from math import ceil, hypot

from .....targets.hardware.description import Hardware
from ....clock import Clock, Estimate
from .occupancy import resident_groups
from .tiling import Tiling


class Model:
    """Predicts the time of contractions on one device."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
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
                registers=tiling.registers,
            )
        return self._resident[tiling]

    def _step(self, work: dict[str, float], groups: int) -> float:
        """The cycles in which a core does a step of each of so many groups.

        That is arithmetic mostly, behind which accesses to local memory and to the last
        cache are hidden in part. What the next step uses comes meanwhile; it takes the
        time from an access to its value at least. Groups wait at the end of a step, the
        less the more others there are.
        """
        figures = self.hardware.lanes
        hidden = hypot(work["arithmetic"], work["local memory"])
        shown = figures.local_share * work["local memory"]
        shown += figures.cache_share * work["last cache"] + work["steps"]
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
        adds = (turns + figures.alone_share) * tiling.rows[0] * tiling.columns[0]
        found = {
            "arithmetic": adds * depth,
            "local memory": subgroups * loads / hardware.loads_per_cycle * depth,
            "last cache": groups * moved / hardware.caches[-1].bytes_per_cycle,
            "steps": groups * figures.step_cycles,
        }
        self._works[tiling, groups, moved] = found
        return found
