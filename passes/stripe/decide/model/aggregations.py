"""The time of an aggregation that reads each number once, shared by groups of lanes.

It is bound by memory, if enough is on its way: a work-item has a few loads of its loop
on theirs at once, and each takes its latency. Then the items of a group put their parts
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .....targets.hardware.description import Hardware
from ....clock import Clock
from .occupancy import resident_groups
from .streams import together
from .tree import tree_cycles, tree_radices


@dataclass(frozen=True)
class Aggregations:
    """How an aggregation is shared."""

    groups: int
    items: int
    """Of a group."""
    rounds: int
    """The values that an item aggregates one after the other."""
    bytes: float
    """All that is read."""
    reach: float
    """How many times as much is in the sectors that sub-groups touch."""
    radices: tuple[int, ...]
    """Of the tree over the parts of a cell."""

    def seconds(self, hardware: Hardware) -> float:
        """Predicted, without the launch."""
        figures, clock = hardware.lanes, Clock(hardware)
        running = min(
            self.groups, resident_groups(self.items, hardware) * hardware.cores
        )
        waves = ceil(self.groups / running)
        # Of memory that is busy at times: in the mean of both.
        busy = (1 + figures.busy_latency) / 2
        latency = 1e-9 * hardware.memory_latency_nanoseconds * busy
        waiting = self.rounds / min(self.rounds, figures.loads_ahead) * waves * latency
        moved = clock.memory(self.bytes * self.reach)
        tree = tree_cycles(self.radices, hardware) * clock.cycle * waves
        starts = self.groups * hardware.group_nanoseconds * 1e-9
        return max(together(moved, waiting, figures) + tree, starts)


def parts_seconds(
    parts: int, cells: int, element_bytes: int, hardware: Hardware
) -> float:
    """What a further kernel takes that puts the parts of so many cells together."""
    limit, values = hardware.work_group_size, hardware.lanes.row_values
    turns = max(min(parts // values, limit), 1)
    turns = 1 << (turns.bit_length() - 1)
    kernel = Aggregations(
        groups=-(-cells * turns // limit),
        items=min(limit, cells * turns),
        rounds=-(-parts // turns),
        bytes=float(parts * cells * element_bytes),
        reach=1.0,
        radices=tree_radices(turns, hardware),
    )
    launch = hardware.lanes.launch_share * Clock(hardware).launch
    return kernel.seconds(hardware) + launch
