"""What a group of blocks costs as one kernel: tiles of the shared indices, and time.

A nest is compared with the same blocks as kernels of their own. The time of a kernel is
what the clock says of its arithmetic, with exposed reads of operands, and of its memory
traffic, that of buffers that stay inside the nest left out. Exposed is the part of
reading operands over and over, once for each tile of the shared indices, that
arithmetic does not hide: all of it where the caches of a core do not hold all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .....dialects.stripe.block import BlockOp
from .....targets.hardware import Hardware
from ...analysis.shared_indices import Member
from ..gpu.turns import part_of_rows
from ..search import best_of
from .block_costs import BlockCosts
from .group import FusionGroup
from .tiling import GroupCost, Tiling

_SHARES_OF_GROUP = 2
"""How many cores' parts of the rate of memory one group can take."""


class FusionCost:
    """Costs groups for one device, of blocks that nobody changes meanwhile."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self._blocks = BlockCosts(hardware)
        self._exposed: dict[BlockOp, float] = {}

    def of(self, members: Sequence[Member]) -> GroupCost | None:
        """The cost of a group; None when it would not fit the device."""
        group = FusionGroup(members, self._blocks)
        costs = [
            self._cost(group, tiling)
            for tiling in group.tilings()
            if group.scratch_bytes(tiling.levels[-1]) <= group.scratch_limit
            or self._passes(group, group.points(tiling.levels[0]))
        ]
        return min(costs, key=lambda cost: cost.seconds, default=None)

    def apart(self, member: Member) -> GroupCost | None:
        """The cost of a block by itself; None when it would not fit the device.

        A reduction for which tiles of its outputs leave no whole vectors is not tiled
        by them, but as the model of nests says.
        """
        cost = self.of([member])
        if cost is None or member.facts.is_contraction:
            return cost
        group = FusionGroup([member], self._blocks)
        lanes = group.lanes(member, cost.tiles[-1])
        if lanes * 32 >= self.hardware.vector_bits:
            return cost
        problem = self._blocks.problem(member.block)
        seconds = best_of(member.block, problem, self.hardware).seconds
        return replace(cost, seconds=min(cost.seconds, seconds))

    def build_seconds(self, block: BlockOp) -> float:
        """What the device's compiler takes for a contraction, about."""
        return self._blocks.build_seconds(block)

    def _cost(self, group: FusionGroup, tiling: Tiling) -> GroupCost:
        tiles = tiling.levels
        count = len(tiles[0])
        return GroupCost(
            tiles,
            tiling.order or tuple(range(count)),
            tiling.leaves or (None,) * len(group.members),
            self._seconds(group, tiling),
            group.traffic_bytes,
            group.scratch_bytes(tiles[-1]),
        )

    def _exposed_seconds(self, member: Member) -> float:
        """What staging and caches add to the time of a contraction as counted here."""
        block = member.block
        if block not in self._exposed:
            group = FusionGroup([member], self._blocks)
            counted = min(self._counted(group, tiling) for tiling in group.tilings())
            self._exposed[block] = max(self._blocks.best(block).seconds - counted, 0.0)
        return self._exposed[block]

    def _seconds(self, group: FusionGroup, tiling: Tiling) -> float:
        counted = self._counted(group, tiling)
        if tiling.contraction_seconds is not None:
            return counted
        return counted + sum(map(self._exposed_seconds, group.contractions))

    def _counted(self, group: FusionGroup, tiling: Tiling) -> float:
        sizes = tiling.levels[0]
        arithmetic = group.arithmetic_seconds(tiling)
        near, far = 0.0, 0.0
        if tiling.contraction_seconds is None:
            near, far = group.stream_seconds(sizes)
        exposed = max(near - arithmetic, 0.0) + far
        points = group.points(sizes)
        clock = self._blocks.clock
        passes = self._passes(group, points)
        traffic = group.traffic_seconds(sizes, passes or 1)
        if passes:
            # Parts of rows are groups for all cores.
            points = max(points, self.hardware.cores)
        else:
            traffic *= self._crowding(group, points)
        return clock.kernel(arithmetic + exposed, traffic, points)

    def _crowding(self, group: FusionGroup, points: int) -> float:
        """How much longer the traffic takes where few lanes' groups have all of it.

        A block by itself is cut for more of them.
        """
        if self.hardware.has_vectors or len(group.members) < 2 or group.contractions:
            return 1.0
        return max(self.hardware.cores / (_SHARES_OF_GROUP * max(points, 1)), 1.0)

    def _passes(self, group: FusionGroup, points: int) -> int:
        """How often the rows of a nest are read that are cut; 0 if they are not."""
        if self.hardware.has_vectors or group.contractions or len(group.members) < 2:
            return 0
        row = max(member.facts.points for member in group.members) // max(points, 1)
        if part_of_rows(row, points, self.hardware) >= row:
            return 0
        return 1 + sum(bool(member.facts.reductions) for member in group.members)
