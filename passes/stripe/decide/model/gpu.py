"""The time of a contraction on a device of which lanes share the work of a group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from .....targets.hardware.description import Hardware
from .....targets.hardware.lanes import LaneFigures
from ....clock import Clock, Estimate
from .occupancy import resident_groups

_AT_ONCE = 4
"""Numbers that a lane loads from local memory at once."""


@dataclass(frozen=True)
class Tiling:
    """How a work-group shares a tile of rows and columns."""

    rows: tuple[int, int, int]
    """Those of a lane, the lanes along them, the sub-groups along them."""
    columns: tuple[int, int, int]
    depths: tuple[int, ...]
    """How many values of each index that aggregates are summed up in a step."""

    @cached_property
    def depth(self) -> int:
        """How many values are summed up in a step."""
        return prod(self.depths)

    @cached_property
    def row_count(self) -> int:
        """The rows of a group."""
        own, lanes, subgroups = self.rows
        return own * lanes * subgroups

    @cached_property
    def column_count(self) -> int:
        """The columns of a group."""
        own, lanes, subgroups = self.columns
        return own * lanes * subgroups

    @cached_property
    def subgroups(self) -> int:
        """The sub-groups of a group."""
        return self.rows[2] * self.columns[2]

    @cached_property
    def items(self) -> int:
        """The work-items of a group."""
        return self.rows[1] * self.columns[1] * self.subgroups

    @cached_property
    def registers(self) -> int:
        """What a lane holds: cells, factors, places, and what it loads ahead.

        That is the more, the more steps of the sum a compiler sees.
        """
        rows, columns = self.rows[0], self.columns[0]
        return rows * columns + rows + columns + 36 + self.depth

    def local_bytes(self, element_bytes: int) -> int:
        """The local memory of a group: of one step, and of the next."""
        sides = self.row_count + self.column_count
        padding = _AT_ONCE * (self.rows[2] + self.columns[2])
        return 2 * (sides + padding) * self.depth * element_bytes

    def __str__(self) -> str:
        return (
            f"groups of {self.items} work-items with {self.rows[0]}x{self.columns[0]} "
            f"of {self.row_count}x{self.column_count} cells each"
        )


class Model:
    """Predicts the time of contractions on one device."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self._resident: dict[Tiling, int] = {}
        self._works: dict[tuple[Tiling, int], dict[str, float]] = {}

    def estimate(self, tiling: Tiling, groups: int, steps: int) -> Estimate:
        """The predicted time of so many groups that each load local memory so often.

        Cores run waves of groups, as many at once as have room, and then those that are
        left.
        """
        hardware, figures = self.hardware, self.hardware.lanes
        clock, resident = Clock(hardware), self._room(tiling)
        at_once = hardware.cores * resident
        waves = max(ceil(groups / at_once) - 1, 0)
        rest = ceil((groups - waves * at_once) / hardware.cores)
        of_waves, of_rest = self._work(tiling, resident), self._work(tiling, rest)
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

        That is arithmetic mostly; a part of the accesses to local memory and to the
        last cache is not hidden behind it. What the next step uses comes meanwhile; it
        takes the time from an access to its value at least. Groups wait at the end of a
        step, the less the more others there are.
        """
        figures = self.hardware.lanes
        hidden = max(work["arithmetic"], work["local memory"])
        shown = figures.local_share * work["local memory"]
        shown += figures.cache_share * work["last cache"] + work["steps"]
        latency = figures.busy_latency * self.hardware.caches[-1].latency_cycles
        return max(hidden + shown, latency) + figures.step_wait_cycles / groups

    def _work(self, tiling: Tiling, groups: int) -> dict[str, float]:
        """The cycles of what a core does in a step of each of so many groups.

        It has units for the arithmetic of several sub-groups at once. One that has a
        single sub-group waits for what that loads.
        """
        known = self._works.get((tiling, groups))
        if known is not None:
            return known
        hardware, figures, depth = self.hardware, self.hardware.lanes, tiling.depth
        subgroups = groups * tiling.subgroups
        turns = ceil(subgroups / hardware.multiply_adds_per_cycle)
        loads = _loads(tiling.rows, figures) + _loads(tiling.columns, figures)
        sides = groups * (tiling.row_count + tiling.column_count)
        adds = (turns + figures.alone_share) * tiling.rows[0] * tiling.columns[0]
        found = {
            "arithmetic": adds * depth,
            "local memory": subgroups * loads / hardware.loads_per_cycle * depth,
            "last cache": sides * 4 / hardware.caches[-1].bytes_per_cycle * depth,
            "steps": groups * figures.step_cycles,
        }
        self._works[tiling, groups] = found
        return found


def _loads(side: tuple[int, int, int], figures: LaneFigures) -> float:
    """The cycles in which a sub-group loads its rows, or columns, from local memory.

    In one it loads a number from each bank, and some go by for the request.
    """
    own, lanes, _ = side
    served = ceil(min(own, _AT_ONCE) * lanes / figures.banks)
    return ceil(own / _AT_ONCE) * (served + figures.request_cycles)
