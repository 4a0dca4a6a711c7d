"""Blocks that share outer indices: whether their points can run as those of one block.

A shared index is an index of every member. One point of the shared indices does what
all members do for these values, member after member. That is what the members did one
after the other when no cell that a member writes is used at another point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....affine.form import LinearForm
from ....dialects.stripe.attributes import Level, ViewType
from ....dialects.stripe.block import BlockOp
from ..blocks.nests import initializes_own_cells, is_leaf, is_subscripted, root_buffer


@dataclass(frozen=True)
class Member:
    """A block, and which of its indices are shared with the other members."""

    block: BlockOp
    shared: tuple[int, ...]
    """The block's number of each shared index."""


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
    if any(level is not Level.LOOP for level in block.index_levels):
        return "its indices have levels"
    if any(map(is_subscripted, block.views)):
        return "subscripts choose its cells"
    if not initializes_own_cells(block):
        return "its points initialize the same cells"
    return None


def shareable_indices(block: BlockOp) -> list[int]:
    """The indices whose values write cells of their own through every output.

    Each is alone on one axis of the access and steps through it one by one.
    """
    numbers = [
        number
        for number, refinement in enumerate(block.refinement_list)
        if refinement.direction.writes
    ]
    if not numbers:
        return []
    alone = [set(carried_indices(block, number).values()) for number in numbers]
    return [
        index
        for index in range(len(block.index_ranges))
        if all(index in indices for indices in alone)
    ]


def carried_indices(block: BlockOp, number: int) -> dict[int, int]:
    """For each axis of a refinement that is just an index, that index.

    Not of indices that occur on another axis too.
    """
    access = block.refinement(number).access
    used = [index for form in access for index in form.support]
    sizes = block.view_type(number).sizes
    return {
        axis: index
        for axis, form in enumerate(access)
        if (index := _step_by_one(form)) is not None
        and sizes[axis] == 1
        and used.count(index) == 1
        and index < len(block.index_ranges)
    }


def _step_by_one(form: LinearForm) -> int | None:
    return form.single_dimension


def find_conflict(members: Sequence[Member]) -> Conflict | None:
    """What forbids one nest over the shared indices; None when it is legal."""
    for number, member in enumerate(members):
        owned = shareable_indices(member.block)
        for shared, index in enumerate(member.shared):
            if index not in owned:
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
        for place, buffer in enumerate(member.block.buffers):
            uses.setdefault(root_buffer(buffer), []).append((number, place, buffer))
    return uses


def _reduction_reason(block: BlockOp, index: int) -> str:
    name = block.indices[index].name_hint or str(index)
    return f"different '{name}' may write the same cell"


def written_memories(members: Iterable[Member]) -> list[SSAValue]:
    """The memories that some member writes."""
    return list(
        dict.fromkeys(
            root_buffer(buffer)
            for member in members
            for buffer, refinement in zip(
                member.block.buffers, member.block.refinement_list, strict=True
            )
            if refinement.direction.writes
        )
    )


def _conflict_over(
    uses: Sequence[tuple[int, int, SSAValue]], members: Sequence[Member]
) -> Conflict | None:
    """Whether points with different shared indices may use one cell of a memory."""
    seen: tuple[SSAValue, dict[int, int]] | None = None
    for number, place, buffer in uses:
        member = members[number]
        carried = _shared_axes(member, place)
        missing = set(range(len(member.shared))) - set(carried.values())
        for shared in sorted(missing):
            if member.block.index_ranges[member.shared[shared]] > 1:
                return Conflict(number, _crossing_reason(member, place), shared)
        if seen is None:
            seen = (buffer, carried)
            continue
        if seen[0] is not buffer:
            return Conflict(number, f"{_name(buffer)} has another shape there")
        for axis in sorted({*carried, *seen[1]}):
            if carried.get(axis) != seen[1].get(axis):
                blamed = carried.get(axis, seen[1].get(axis))
                return Conflict(number, _crossing_reason(member, place), blamed)
    return None


def _shared_axes(member: Member, place: int) -> dict[int, int]:
    """For each axis of a refinement that a shared index steps through, which."""
    carried = carried_indices(member.block, place)
    positions = {index: shared for shared, index in enumerate(member.shared)}
    return {
        axis: positions[index] for axis, index in carried.items() if index in positions
    }


def _crossing_reason(member: Member, place: int) -> str:
    buffer = member.block.buffers[place]
    return f"it uses cells of {_name(buffer)} that belong to other points"


def _name(buffer: SSAValue) -> str:
    return f"'{buffer.name_hint}'" if buffer.name_hint else "a buffer"


def buffer_type(view: SSAValue) -> ViewType:
    """The type of a value that is a view."""
    if not isinstance(view.type, ViewType):
        raise ValueError(f"expected a view, got {view.type}")
    return view.type
