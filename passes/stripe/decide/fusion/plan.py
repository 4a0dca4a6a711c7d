"""The groups that blocks join, block after block.

A block asks the groups of those that it depends on, the nearest first. What a group is
asked takes time for each of its members, so that groups are full at a size. Those that
were full when another would have joined them are asked once more at the end, as wholes:
so groups become large, and planning takes time in proportion to the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from .....dialects.stripe.block import BlockOp
from .....targets.hardware import MOST_BUFFERS
from ....dependences import Dependences
from ...analysis.effects import effects_of
from ...analysis.facts import BlockFacts
from ...analysis.schedules import is_scheduled
from ...analysis.shared_indices import Member, may_be_member
from .common import common_members
from .cost import FusionCost
from .lanes import shared_by_lanes
from .tiling import GroupCost

_FULL = 32
"""Blocks of a group that others join one by one."""
_MOST_BLOCKS = 512
"""Of a group that groups join."""
_MOST_SECONDS = 0.6
"""To build the contractions of one nest: see `plan_fusion`."""
_SPAN = 2048
"""Statements from the first member of a group to the last."""
_MOST_ASKED = 16
"""Groups that one block asks."""


@dataclass(eq=False)
class PlannedGroup:
    """Blocks that will be one nest."""

    members: list[Member]
    positions: list[int]
    cost: GroupCost | None = None
    """None as long as nobody asked."""
    alone: float = 0.0
    """Seconds that the members take as kernels of their own."""
    before: set[int] = field(default_factory=set[int])
    """Positions of the statements that the members depend on."""
    outer: frozenset[SSAValue] = frozenset()
    """The inputs and results of the function that the members use."""
    build: float | None = None
    """Seconds that the device's compiler takes for the contractions; None as `cost`."""


class Plan:
    """The groups of a function so far."""

    def __init__(self, cost: FusionCost, outer: frozenset[SSAValue]) -> None:
        """`outer` are the inputs and results of the function."""
        self._cost = cost
        self._outer = outer
        self._groups: dict[int, PlannedGroup] = {}
        """By the position of each member."""
        self._dependences = Dependences()
        self._before: dict[int, set[int]] = {}
        """What each statement depends on directly."""
        self._refused: dict[int, str] = {}
        """Why a block did not join the group nearest to it."""
        self._full: list[tuple[int, int]] = []
        """Blocks that were not asked because a group was full: an earlier one, and one
        that depends on it."""

    def forget(self) -> None:
        """No block joins one before."""
        self._dependences.forget()

    def add(self, block: BlockOp, position: int) -> None:
        """Let a block join a group before it, or start one."""
        facts = BlockFacts(block)
        before = self._dependences.add(position, effects_of(block))
        self._before[position] = before
        single = _single(facts, position, before)
        if single is None:
            return
        single.outer = self._outer.intersection(facts.memories)
        self._groups[position] = own = single
        asked: list[PlannedGroup] = []
        for earlier in sorted(before, reverse=True):
            group = self._groups.get(earlier)
            if group is None or group is own or group in asked:
                continue
            if len(asked) == _MOST_ASKED:
                break
            asked.append(group)
            if len(group.members) + len(own.members) > _FULL:
                self._full.append((earlier, position))
                self._refuse(position, group, f"a group of {_FULL} blocks is full")
                continue
            joined = self._join(group, own)
            if isinstance(joined, str):
                self._refuse(position, group, joined)
                continue
            own = joined
        if own is not single:
            self._refused.pop(position, None)

    def join_full_groups(self) -> None:
        """Let groups join that blocks could not join one by one, as wholes."""
        asked: set[tuple[PlannedGroup, PlannedGroup]] = set()
        for earlier, later in self._full:
            pair = self._groups[earlier], self._groups[later]
            if pair[0] is pair[1] or pair in asked:
                continue
            asked.add(pair)
            if sum(len(group.members) for group in pair) > _MOST_BLOCKS:
                continue
            self._refused.pop(later, None)
            joined = self._join(*pair)
            if isinstance(joined, str):
                self._refuse(later, pair[0], joined)

    def refusals(self) -> dict[int, str]:
        """Why blocks started groups of their own, by their positions."""
        return self._refused

    def groups(self) -> list[PlannedGroup]:
        """The groups in the order of their first members."""
        ordered = [self._groups[position] for position in sorted(self._groups)]
        return [*dict.fromkeys(ordered)]

    def _refuse(self, position: int, group: PlannedGroup, reason: str) -> None:
        name = group.members[-1].block.block_name
        last = "the block before" if name is None else f"'{name.data}'"
        self._refused.setdefault(position, f"not with {last}: {reason}")

    def _cost_of(self, group: PlannedGroup) -> GroupCost | None:
        """The cost of a group; that of a single block is found when it is asked for."""
        if group.cost is None:
            (member,) = group.members
            group.cost = self._cost.apart(member)
            group.alone = 0.0 if group.cost is None else group.cost.seconds
        return group.cost

    def _build_of(self, group: PlannedGroup) -> float:
        if group.build is None:
            group.build = sum(
                self._cost.build_seconds(member.block)
                for member in group.members
                if member.facts.is_contraction
            )
        return group.build

    def _join(self, first: PlannedGroup, second: PlannedGroup) -> PlannedGroup | str:
        """Make one of both groups, or say why that is illegal or does not pay."""
        positions = [*first.positions, *second.positions]
        if max(positions) - min(positions) > _SPAN:
            return f"more than {_SPAN} statements apart"
        outer = first.outer | second.outer
        if len(outer) > MOST_BUFFERS:
            return f"a kernel has at most {MOST_BUFFERS} buffers"
        if self._is_cyclic(first, second):
            return "a statement between depends on one and is needed by the other"
        if not self._cost.hardware.has_vectors and not _share_reads(first, second):
            return "neither reads what the other does, and lanes share each better"
        has_lanes = not self._cost.hardware.has_vectors
        members = common_members(first.members, second.members, has_lanes=has_lanes)
        if members is None:
            return "no index of both has cells of its own"
        builds = self._build_of(first), self._build_of(second)
        build = sum(builds)
        if build > _MOST_SECONDS and min(builds) > 0:
            return f"{build:.2f} s to compile, more than {_MOST_SECONDS:g}"
        cost = self._cost.of(members)
        costs = (self._cost_of(first), self._cost_of(second))
        if cost is None or costs[0] is None or costs[1] is None:
            return "one point would need too much scratch"
        if has_lanes and not shared_by_lanes(members, cost, self._cost.hardware):
            return "the work-items of a group cannot share a point of both"
        apart = costs[0].seconds + costs[1].seconds
        if cost.seconds >= apart:
            return f"{cost.seconds * 1e6:.1f} us instead of {apart * 1e6:.1f} us"
        alone = first.alone + second.alone
        before = first.before | second.before
        joined = PlannedGroup(members, positions, cost, alone, before, outer, build)
        self._groups.update(dict.fromkeys(positions, joined))
        return joined

    def _is_cyclic(self, first: PlannedGroup, second: PlannedGroup) -> bool:
        """Whether a statement outside depends on one group and is needed by the other.

        All members of a group count as one statement.
        """
        inside = {*first.positions, *second.positions}
        start = min(inside)
        pending = [p for p in first.before | second.before if p not in inside]
        seen: set[int] = set()
        while pending:
            position = pending.pop()
            if position in seen:
                continue
            group = self._groups.get(position)
            together = [position] if group is None else group.positions
            seen.update(together)
            if max(together) < start:
                continue
            needed = {p for q in together for p in self._before.get(q, ())}
            if needed & inside:
                return True
            pending += needed - seen
        return False


def _share_reads(first: PlannedGroup, second: PlannedGroup) -> bool:
    """Whether one reads what the other reads or writes."""

    def memories(group: PlannedGroup, *, read: bool) -> set[SSAValue]:
        return {
            memory
            for member in group.members
            for memory, writes in zip(
                member.facts.memories, member.facts.writes, strict=True
            )
            if not (read and writes)
        }

    return bool(
        memories(first, read=True) & memories(second, read=False)
        or memories(second, read=True) & memories(first, read=False)
    )


def _single(facts: BlockFacts, position: int, before: set[int]) -> PlannedGroup | None:
    """A group of one block; None for a block that is in no group."""
    block = facts.block
    if may_be_member(block) is not None or is_scheduled(block):
        return None
    if not facts.shareable:
        return None
    return PlannedGroup([Member(facts, facts.shareable)], [position], before=before)
