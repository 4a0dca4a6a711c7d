"""The time of a contraction on a device of which lanes share the work of a group."""

from __future__ import annotations

from dataclasses import dataclass
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

    @property
    def depth(self) -> int:
        """How many values are summed up in a step."""
        return prod(self.depths)

    @property
    def row_count(self) -> int:
        """The rows of a group."""
        own, lanes, subgroups = self.rows
        return own * lanes * subgroups

    @property
    def column_count(self) -> int:
        """The columns of a group."""
        own, lanes, subgroups = self.columns
        return own * lanes * subgroups

    @property
    def subgroups(self) -> int:
        """The sub-groups of a group."""
        return self.rows[2] * self.columns[2]

    @property
    def items(self) -> int:
        """The work-items of a group."""
        return self.rows[1] * self.columns[1] * self.subgroups

    @property
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


def estimate(tiling: Tiling, groups: int, steps: int, hardware: Hardware) -> Estimate:
    """The predicted time of so many groups that each load local memory so often.

    Cores run waves of groups, as many at once as have room, and then those that are
    left.
    """
    clock, figures = Clock(hardware), hardware.lanes
    resident = resident_groups(
        tiling.items,
        hardware,
        local_bytes=tiling.local_bytes(4),
        registers=tiling.registers,
    )
    at_once = hardware.cores * resident
    waves = max(ceil(groups / at_once) - 1, 0)
    rest = ceil((groups - waves * at_once) / hardware.cores)
    cycles = waves * _step(tiling, resident, hardware) + _step(tiling, rest, hardware)
    latency = hardware.caches[-1].latency_cycles
    filling = (figures.busy_latency * latency + figures.step_wait_cycles) * (waves + 1)
    core = steps * clock.cycle
    of_waves, of_rest = (_work(tiling, n, hardware) for n in (resident, rest))
    parts = {name: core * (waves * of_waves[name] + of_rest[name]) for name in of_waves}
    seconds = (steps * cycles + filling) * clock.cycle + clock.launch
    return Estimate(seconds, parts | {"launch": clock.launch})


def _step(tiling: Tiling, groups: int, hardware: Hardware) -> float:
    """The cycles in which a core does a step of each of so many groups.

    That is arithmetic mostly; a part of the accesses to local memory and to the last
    cache is not hidden behind it. What the next step uses comes meanwhile; it takes the
    time from an access to its value at least. Groups wait at the end of a step, the
    less the more others there are.
    """
    figures = hardware.lanes
    work = _work(tiling, groups, hardware)
    hidden = max(work["arithmetic"], work["local memory"])
    shown = figures.local_share * work["local memory"]
    shown += figures.cache_share * work["last cache"] + work["steps"]
    latency = figures.busy_latency * hardware.caches[-1].latency_cycles
    return max(hidden + shown, latency) + figures.step_wait_cycles / groups


def _work(tiling: Tiling, groups: int, hardware: Hardware) -> dict[str, float]:
    """The cycles of what a core does in a step of each of so many groups.

    It has units for the arithmetic of several sub-groups at once. One that has a single
    sub-group waits for what that loads.
    """
    figures, depth = hardware.lanes, tiling.depth
    subgroups = groups * tiling.subgroups
    turns = ceil(subgroups / hardware.multiply_adds_per_cycle)
    loads = _loads(tiling.rows, figures) + _loads(tiling.columns, figures)
    sides = groups * (tiling.row_count + tiling.column_count)
    adds = (turns + figures.alone_share) * tiling.rows[0] * tiling.columns[0]
    return {
        "arithmetic": adds * depth,
        "local memory": subgroups * loads / hardware.loads_per_cycle * depth,
        "last cache": sides * 4 / hardware.caches[-1].bytes_per_cycle * depth,
        "steps": groups * figures.step_cycles,
    }


def _loads(side: tuple[int, int, int], figures: LaneFigures) -> float:
    """The cycles in which a sub-group loads its rows, or columns, from local memory.

    In one it loads a number from each bank, and some go by for the request.
    """
    own, lanes, _ = side
    served = ceil(min(own, _AT_ONCE) * lanes / figures.banks)
    return ceil(own / _AT_ONCE) * (served + figures.request_cycles)
