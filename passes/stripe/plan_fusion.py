"""`stripe-plan-fusion`: decide which blocks become one nest, and over which tiles.

Writes its decision as the attribute `stripe.fuse` on the members of each group, and why
as `stripe.fuse_reason` on the first; `stripe-fuse-nests` applies it. A block that did
not join a group before it has a reason, too. The IR is otherwise unchanged:

```mlir
stripe.block "S" [%m : 4096, %n : 4096] ...
    out %s = %S[%m] : 1 add init 0
    attributes {stripe.fuse = #stripe.fuse<group 0 shared [0] tiles [[4], [1]]>,
                stripe.fuse_reason = "2 blocks, 20.1 MB less traffic, ..."} { ... }
stripe.block "Y" [%i : 4096, %j : 4096] ...
    in %s = %S[%i] : 1
    out %y = %Y[%i, %j] : 1x1
    attributes {stripe.fuse = #stripe.fuse<group 0 shared [0] tiles [[4], [1]]>} { ... }
```

A block joins the group of an earlier one that it exchanges a buffer with, and brings
together the groups of several such, when

* it is legal: there are indices of all members whose points use cells of their own of
  every buffer that a member writes (see `shared_indices`), and no statement depends on
  one member and is needed by another;
* it pays: the model of `fusion.cost` predicts less time for the nest than apart.

The shared indices are as many as possible. Where a contraction's outputs have no other
indices, its tiles become those of the group, so that the members after it work on what
is still in registers. Otherwise the indices along which contiguous elements lie stay
inside, and a point is one row, or with a contraction as many as its registers want.

A long reduction with many outputs is a group by itself, so that its parts (see
`stripe-split-reduction`) meet in one nest. Left alone: blocks inside others, serial
ones, those with tiles, with subscripts, and what points only initialize together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.fusion import (
    FUSE_ATTRIBUTE,
    FUSE_REASON_ATTRIBUTE,
    FusionAttr,
)
from ...dialects.stripe.ops import AllocOp
from ...dialects.stripe.reshape import ReshapeOp
from ...targets.hardware import load_hardware
from .blocks.nests import statements
from .cost import attributes_of
from .fusion.cost import FusionCost
from .fusion.facts import BlockFacts
from .fusion.shared_indices import Member, find_conflict, may_be_member
from .fusion.tiling import GroupCost
from .tile import TILE_ATTRIBUTE

_LONG_ROW = 256
_LEAST_ROWS = 16
"""Rows for each core, so that a reduction of its own is made of rows."""
_STRAY_SHARE = 8
"""Rows that are cut into pieces may be one part in so many of the bytes."""


@dataclass(frozen=True)
class StripePlanFusionPass(ModulePass):
    """Decide which blocks become one nest."""

    name = "stripe-plan-fusion"

    hardware: str = "cpu-avx512"
    """The device: a name or a path of a description, with changes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cost = FusionCost(load_hardware(self.hardware))
        for function in op.walk():
            if isinstance(function, FuncOp):
                plan_function(function, cost)


@dataclass
class _Group:
    """Blocks that will be one nest."""

    members: list[Member]
    positions: list[int]
    cost: GroupCost | None = None
    """None as long as nobody asked."""
    alone: float = 0.0
    """Seconds that the members take as kernels of their own."""
    before: set[int] = field(default_factory=set[int])
    """Positions of the statements that the members depend on."""


class _Plan:
    """The groups of a function so far."""

    def __init__(self, cost: FusionCost) -> None:
        self._cost = cost
        self._groups: dict[int, _Group] = {}
        """By the position of each member."""
        self._users: dict[SSAValue, list[int]] = {}
        """The statements that use a memory so far."""
        self._writers: dict[SSAValue, list[int]] = {}
        self._before: dict[int, set[int]] = {}
        """What each statement depends on directly."""
        self._refused: dict[int, str] = {}
        """Why a block did not join the group nearest to it."""

    def forget(self) -> None:
        """No block joins one before."""
        self._users.clear()
        self._writers.clear()

    def add(self, block: BlockOp, position: int) -> None:
        """Let a block join a group before it, or start one."""
        facts = BlockFacts(block)
        before = self._dependences(facts)
        self._before[position] = before
        self._note_uses(facts, position)
        single = _single(facts, position, before)
        if single is None:
            return
        self._groups[position] = own = single
        tried: list[_Group] = []
        for earlier in sorted(before, reverse=True):
            group = self._groups.get(earlier)
            if group is None or any(group is other for other in (own, *tried)):
                continue
            tried.append(group)
            joined = self._join(group, own)
            if isinstance(joined, str):
                last = _name(group.members[-1].block)
                self._refused.setdefault(position, f"not with {last}: {joined}")
                continue
            for member in joined.positions:
                self._groups[member] = joined
            own = joined
        if own is not single:
            self._refused.pop(position, None)

    def refusals(self) -> dict[int, str]:
        """Why blocks started groups of their own, by their positions."""
        return self._refused

    def groups(self) -> list[_Group]:
        """The groups in the order of their first members."""
        ordered = (self._groups[position] for position in sorted(self._groups))
        return [*{id(group): group for group in ordered}.values()]

    def _dependences(self, facts: BlockFacts) -> set[int]:
        """The statements that a block depends on."""
        before: set[int] = set()
        for memory, writes in zip(facts.memories, facts.writes, strict=True):
            before.update(self._writers.get(memory, ()))
            if writes:
                before.update(self._users.get(memory, ()))
        return before

    def _note_uses(self, facts: BlockFacts, position: int) -> None:
        for memory, writes in zip(facts.memories, facts.writes, strict=True):
            self._users.setdefault(memory, []).append(position)
            if writes:
                self._writers.setdefault(memory, []).append(position)

    def _cost_of(self, group: _Group) -> GroupCost | None:
        """The cost of a group; that of a single block is found when it is asked for."""
        if group.cost is None:
            group.cost = self._cost.of(group.members)
            group.alone = 0.0 if group.cost is None else group.cost.seconds
        return group.cost

    def _join(self, first: _Group, second: _Group) -> _Group | str:
        """Both groups as one, or why that is illegal or does not pay."""
        if self._is_cyclic(first, second):
            return "a statement between depends on one and is needed by the other"
        members = common_members(first.members, second.members)
        if members is None:
            return "no index of both has cells of its own"
        cost = self._cost.of(members)
        costs = (self._cost_of(first), self._cost_of(second))
        if cost is None or costs[0] is None or costs[1] is None:
            return "one point would need too much scratch"
        apart = costs[0].seconds + costs[1].seconds
        if cost.seconds >= apart:
            return f"{cost.seconds * 1e6:.1f} us instead of {apart * 1e6:.1f} us"
        return _Group(
            members,
            [*first.positions, *second.positions],
            cost,
            first.alone + second.alone,
            first.before | second.before,
        )

    def _is_cyclic(self, first: _Group, second: _Group) -> bool:
        """Whether a statement outside depends on one group and is needed by the other.

        All members of a group count as one statement.
        """
        inside = {*first.positions, *second.positions}
        start = min(inside)
        pending = [p for p in first.before | second.before if p not in inside]
        seen: set[int] = set()
        while pending:
            position = pending.pop()
            if position in seen or position < start:
                continue
            group = self._groups.get(position)
            together = [position] if group is None else group.positions
            seen.update(together)
            needed = {p for q in together for p in self._before.get(q, ())}
            if needed & inside:
                return True
            pending += needed - seen
        return False


def _single(facts: BlockFacts, position: int, before: set[int]) -> _Group | None:
    """A group of one block; None for a block that is in no group."""
    block = facts.block
    if may_be_member(block) is not None or TILE_ATTRIBUTE in block.attributes:
        return None
    if not facts.shareable:
        return None
    return _Group([Member(facts, facts.shareable)], [position], before=before)


def plan_function(function: FuncOp, cost: FusionCost) -> None:
    """Write the decisions for the blocks of a function."""
    plan = _Plan(cost)
    for position, statement in enumerate(statements(function)):
        if isinstance(statement, BlockOp) and FUSE_ATTRIBUTE not in (
            statement.attributes
        ):
            plan.add(statement, position)
        elif not isinstance(statement, AllocOp | ReshapeOp):
            plan.forget()
    groups = [
        group if len(group.members) > 1 else _rows(group, cost)
        for group in plan.groups()
    ]
    found = [group for group in groups if group is not None]
    for number, group in enumerate(found):
        if group.cost is not None:
            _write(group, group.cost, number)
    positions = dict(enumerate(statements(function)))
    for position, reason in plan.refusals().items():
        _add_reason(positions[position], reason)


def _rows(group: _Group, cost: FusionCost) -> _Group | None:
    """A long reduction with many outputs as rows of its own; None for other blocks."""
    (member,) = group.members
    facts = member.facts
    if facts.is_contraction or not _steps_along_rows(facts):
        return None
    while (stray := _stray_index([member])) is not None:
        shared = [s for s in range(len(member.shared)) if s != stray]
        member = member.choose(shared)
    points = prod(facts.ranges[index] for index in member.shared)
    if points < _LEAST_ROWS * cost.hardware.cores:
        return None
    found = cost.of([member])
    if found is None:
        return None
    return replace(group, members=[member], cost=found, alone=found.seconds)


def _steps_along_rows(facts: BlockFacts) -> bool:
    """Whether a long reduction steps through contiguous elements."""
    return any(
        index in facts.reductions and facts.ranges[index] >= _LONG_ROW
        for index in facts.last_carried
        if index is not None
    )


def _write(group: _Group, cost: GroupCost, number: int) -> None:
    tiles = [[sizes[shared] for shared in cost.order] for sizes in cost.tiles]
    for member, leaf in zip(group.members, cost.leaves, strict=True):
        shared = [(member.shared[index],) for index in cost.order]
        attributes = member.block.attributes
        attributes[FUSE_ATTRIBUTE] = FusionAttr.of(number, shared, tiles)
        if leaf is not None:
            attributes.update(attributes_of(leaf))
    _add_reason(group.members[0].block, _reason(group, cost))


def _add_reason(block: Operation, reason: str) -> None:
    known = block.attributes.get(FUSE_REASON_ATTRIBUTE)
    if isinstance(known, StringAttr):
        reason = f"{known.data}; {reason}"
    block.attributes[FUSE_REASON_ATTRIBUTE] = StringAttr(reason)


def _name(block: BlockOp) -> str:
    name = block.block_name
    return "the block before" if name is None else f"'{name.data}'"


def _reason(group: _Group, cost: GroupCost) -> str:
    return (
        f"{len(group.members)} block(s), {cost.seconds * 1e6:.1f} us instead of "
        f"{group.alone * 1e6:.1f} us, {cost.traffic_bytes / 1e6:.2f} MB moved, "
        f"{cost.scratch_bytes} bytes of scratch"
    )


def common_members(
    first: Sequence[Member], second: Sequence[Member]
) -> list[Member] | None:
    """All members with the indices that they share; None if there are none."""
    pairs = _matching_indices(first, second)
    while pairs:
        members = [
            *(member.choose([a for a, _ in pairs]) for member in first),
            *(member.choose([b for _, b in pairs]) for member in second),
        ]
        conflict = find_conflict(members)
        if conflict is None:
            stray = _stray_index(members)
            if stray is None:
                return members
            pairs.pop(stray)
        elif conflict.shared is None:
            return None
        else:
            pairs.pop(conflict.shared)
    return None


def _matching_indices(
    first: Sequence[Member], second: Sequence[Member]
) -> list[tuple[int, int]]:
    """Pairs of shared indices that step through one axis of an exchanged buffer."""
    pairs: dict[int, int] = {}
    for buffer in _exchanged(first, second):
        axes = [_axes_of(buffer, members) for members in (first, second)]
        for axis in sorted({*axes[0]} & {*axes[1]}):
            own, other = axes[0][axis], axes[1][axis]
            ranges = [
                members[0].facts.ranges[members[0].shared[number]]
                for members, number in ((first, own), (second, other))
            ]
            if ranges[0] == ranges[1] and other not in pairs.values():
                pairs.setdefault(own, other)
    return sorted(pairs.items())


def _exchanged(first: Sequence[Member], second: Sequence[Member]) -> list[SSAValue]:
    """The buffers that one side writes and the other uses."""
    uses = [_buffers(first), _buffers(second)]
    return [
        buffer
        for buffer, writes in uses[0].items()
        if buffer in uses[1] and (writes or uses[1][buffer])
    ]


def _buffers(members: Sequence[Member]) -> dict[SSAValue, bool]:
    """The buffers of some blocks, and whether one writes it."""
    found: dict[SSAValue, bool] = {}
    for member in members:
        facts = member.facts
        for buffer, writes in zip(facts.buffers, facts.writes, strict=True):
            found[buffer] = found.get(buffer, False) or writes
    return found


def _axes_of(buffer: SSAValue, members: Sequence[Member]) -> dict[int, int]:
    """Which shared index steps through each axis of a buffer."""
    found: dict[int, int] = {}
    for member in members:
        for number, own in enumerate(member.facts.buffers):
            if own is buffer:
                found = {**member.shared_axes(number), **found}
    return found


def _stray_index(members: Sequence[Member]) -> int | None:
    """A shared index that would cut rows into pieces too small for vectors.

    A contraction whose outputs have shared indices only is tiled for vectors, and so is
    one that shares the index along which its outputs are contiguous.
    """
    contractions = [m for m in members if m.facts.is_contraction]
    if contractions and all(
        _is_tiled_whole(m) or _shares_vectors(m) for m in contractions
    ):
        return None
    total = 0
    cut: dict[int, int] = {}
    for member in members:
        facts = member.facts
        for size, index in zip(facts.footprints, facts.last_carried, strict=True):
            total += size
            if index is None or index not in member.shared:
                continue
            if facts.ranges[index] > 1:
                shared = member.shared.index(index)
                cut[shared] = cut.get(shared, 0) + size
    worst = max(cut, key=lambda shared: cut[shared], default=None)
    if worst is None or cut[worst] * _STRAY_SHARE <= total:
        return None
    return worst


def _is_tiled_whole(member: Member) -> bool:
    facts = member.facts
    return all(i in member.shared for i in facts.shareable if facts.ranges[i] > 1)


def _shares_vectors(member: Member) -> bool:
    """Whether a shared index steps through the last axis of all outputs."""
    facts = member.facts
    return all(
        index in member.shared
        for index, writes in zip(facts.last_carried, facts.writes, strict=True)
        if writes
    )
