"""Blocks that share outer indices: whether their points can run as those of one block.

A shared index is an index of every member. One point of the shared indices does what
all members do for these values, member after member. That is what the members did one
after the other when no cell that a member writes is used at another point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from .facts import BlockFacts
from .nests import initializes_own_cells, is_leaf, is_subscripted


@dataclass(frozen=True)
class Member:
    """A block, and which of its indices are shared with the other members."""

    facts: BlockFacts
    """What is known of the block."""
    shared: tuple[int, ...]
    """The block's number of each shared index."""

    @staticmethod
    def of(block: BlockOp, shared: Sequence[int]) -> Member:
        """A member of which nothing is known yet."""
        return Member(BlockFacts(block), tuple(shared))

    @property
    def block(self) -> BlockOp:
        """The block that the facts are of."""
        return self.facts.block

    def choose(self, numbers: Sequence[int]) -> Member:
        """The member with these of its shared indices."""
        return Member(self.facts, tuple([self.shared[number] for number in numbers]))

    def shared_axes(self, number: int) -> Mapping[int, int]:
        """For each axis of a refinement that a shared index steps through, which."""
        return self.facts.shared_axes(number, self.shared)


@dataclass(frozen=True)
class Conflict:
    """Why members can not share some index."""

    member: int
    """The number of the member that shows it."""
    reason: str
    shared: int | None = None
    """The shared index to blame, if there is one."""


def may_be_member(block: BlockOp) -> str | None:
    """None for a block that can be a leaf of a fused nest, else why it can not."""
    if not is_leaf(block):
        return "it has blocks inside"
    if block.is_serial:
        return "its points run one after the other"
    if block.captures:
        return "it uses indices of blocks around"
    if not all(block.index_ranges):
        return "it has no points"
    if any(each is not Binding.UNDECIDED for each in block.index_bindings):
        return "its indices are bound"
    if any(map(is_subscripted, block.views)):
        return "subscripts choose its cells"
    if not initializes_own_cells(block):
        return "its points initialize the same cells"
    return None


def find_conflict(members: Sequence[Member]) -> Conflict | None:
    """What forbids one nest over the shared indices; None when it is legal."""
    for number, member in enumerate(members):
        for shared, index in enumerate(member.shared):
            if index not in member.facts.shareable:
                return Conflict(number, _reduction_reason(member.block, index), shared)
    uses = _uses_of_memories(members)
    for memory in written_memories(members):
        conflict = _conflict_over(uses[memory], members)
        if conflict is not None:
            return conflict
    return None


def _uses_of_memories(
    members: Sequence[Member],
) -> dict[SSAValue, list[tuple[int, int, SSAValue]]]:
    """For each memory the members and their buffers, by number, that are part of it."""
    uses: dict[SSAValue, list[tuple[int, int, SSAValue]]] = {}
    for number, member in enumerate(members):
        facts = member.facts
        pairs = zip(facts.buffers, facts.memories, strict=True)
        for place, (buffer, memory) in enumerate(pairs):
            uses.setdefault(memory, []).append((number, place, buffer))
    return uses


def _reduction_reason(block: BlockOp, index: int) -> str:
    name = block.indices[index].name_hint or str(index)
    return f"different '{name}' may write the same cell"


def written_memories(members: Iterable[Member]) -> list[SSAValue]:
    """The memories that some member writes."""
    return list(
        dict.fromkeys(memory for member in members for memory in member.facts.written)
    )


def _conflict_over(
    uses: Sequence[tuple[int, int, SSAValue]], members: Sequence[Member]
) -> Conflict | None:
    """Whether points with different shared indices may use one cell of a memory."""
    seen: tuple[SSAValue, Mapping[int, int]] | None = None
    for number, place, buffer in uses:
        member = members[number]
        carried = member.shared_axes(place)
        for shared in range(len(member.shared)):
            if shared in carried.values():
                continue
            if member.facts.ranges[member.shared[shared]] > 1:
                return Conflict(number, _crossing_reason(member, place), shared)
        if seen is None:
            seen = (buffer, carried)
            continue
        if seen[0] is not buffer:
            return Conflict(number, f"{_name(buffer)} has another shape there")
        if carried == seen[1]:
            continue
        for axis in sorted({*carried, *seen[1]}):
            if carried.get(axis) != seen[1].get(axis):
                blamed = carried.get(axis, seen[1].get(axis))
                return Conflict(number, _crossing_reason(member, place), blamed)
    return None


def _crossing_reason(member: Member, place: int) -> str:
    buffer = member.facts.buffers[place]
    return f"it uses cells of {_name(buffer)} that belong to other points"


def _name(buffer: SSAValue) -> str:
    return f"'{buffer.name_hint}'" if buffer.name_hint else "a buffer"
