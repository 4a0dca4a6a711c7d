"""What the model says of single blocks, asked once for each."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp
from .....dialects.stripe.schedule import Schedule
from .....targets.hardware import Hardware
from ....clock import Clock
from ...analysis.nests import users_of
from ...analysis.problem import Problem
from ...analysis.shared_indices import Member
from ..model.code import build_seconds
from ..model.estimate import pieces
from ..model.kernel import tile_cost
from ..search import best_to_share, explained, problem_of
from ..search.search import Scored
from .contraction import Contraction

_Tiled: TypeAlias = tuple[BlockOp, tuple[int, ...], frozenset[int]]
"""A block, a register tile of it, and the inputs that are staged."""


@dataclass(frozen=True)
class BlockCosts:
    """Costs blocks for one device, as long as nobody changes them."""

    hardware: Hardware
    _problems: dict[BlockOp, Problem] = field(default_factory=dict[BlockOp, Problem])
    _decided: dict[BlockOp, Scored] = field(default_factory=dict[BlockOp, Scored])
    _cycles: dict[_Tiled, float] = field(default_factory=dict[_Tiled, float])
    _contractions: dict[Member, Contraction] = field(
        default_factory=dict[Member, Contraction]
    )
    _users: dict[SSAValue, set[Operation]] = field(
        default_factory=dict[SSAValue, set[Operation]]
    )

    @property
    def clock(self) -> Clock:
        """What everything takes on the device."""
        return Clock(self.hardware)

    @property
    def scratch_limit(self) -> int:
        """Bytes that a point may hold: half of the last cache that a core owns.

        Where a point is one of many lanes, it is what fits its registers.
        """
        if not self.hardware.has_vectors:
            return self.hardware.vector_registers * 4
        own_bytes = self.hardware.own_cache_bytes
        return (own_bytes or self.hardware.overheads.private_bytes) // 2

    @property
    def row_scratch_limit(self) -> int:
        """The same where points are rows: the lanes of a group share one."""
        if self.hardware.has_vectors:
            return self.scratch_limit
        return self.hardware.point_bytes

    def problem(self, block: BlockOp) -> Problem:
        """What the model of nests sees of a block."""
        if block not in self._problems:
            self._problems[block] = problem_of(block, self.hardware.vector_bits)
        return self._problems[block]

    def best(self, block: BlockOp) -> Scored:
        """The nest that a contraction wants by itself, and its time."""
        if block not in self._decided:
            problem = self.problem(block)
            found = best_to_share(problem, self.hardware)
            nest = explained(found, problem, self.hardware)
            self._decided[block] = replace(found, nest=nest)
        return self._decided[block]

    def decide(self, block: BlockOp) -> Schedule:
        """The nest that a contraction wants by itself."""
        return self.best(block).nest

    def build_seconds(self, block: BlockOp) -> float:
        """What the device's compiler takes for a contraction by itself, about."""
        nest = self.decide(block)
        problem = self.problem(block)
        lanes = problem.lanes_of(nest.tile)
        parts = pieces(problem, nest.tile, lanes, nest.staged)
        overheads = self.hardware.overheads
        return build_seconds(problem, nest.tile, lanes, len(parts), overheads)

    def contraction(self, member: Member) -> Contraction:
        """A member as what cache tiles are made of."""
        if member not in self._contractions:
            block = member.block
            self._contractions[member] = Contraction(
                self.problem(block), self.decide(block), member.shared
            )
        return self._contractions[member]

    def register_cycles(self, block: BlockOp, nest: Schedule) -> float:
        """Cycles of a contraction, register tile after register tile."""
        staged = frozenset(nest.staged)
        key = block, nest.tile, staged
        if key not in self._cycles:
            problem = self.problem(block)
            lanes = problem.lanes_of(nest.tile)
            cost = tile_cost(problem, nest.tile, lanes, self.hardware, staged)
            steps = prod(problem.ranges[index] for index in problem.reductions)
            tiles = prod(
                -(-problem.ranges[index] // max(nest.tile[index], 1))
                for index in problem.parallel
            )
            one = cost.step_cycles * steps + cost.start_cycles
            self._cycles[key] = one * tiles
        return self._cycles[key]

    def are_all_users(self, memory: SSAValue, blocks: AbstractSet[BlockOp]) -> bool:
        """Whether these blocks are all that uses an allocation, under any shape."""
        if not isinstance(memory.owner, AllocOp):
            return False
        if memory not in self._users:
            self._users[memory] = users_of(memory)
        return self._users[memory] <= blocks
