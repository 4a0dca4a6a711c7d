"""The indices that blocks can share: those that step through what they exchange."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...analysis.shared_indices import Member, find_conflict

_CUT_SHARE = 8
"""Rows that are cut into pieces may be one part in so many of the bytes."""


def common_members(
    first: Sequence[Member], second: Sequence[Member], *, has_lanes: bool = False
) -> list[Member] | None:
    """All members with the indices that they share; None if there are none.

    Devices with lanes need no whole rows where lanes have columns.
    """
    pairs = _matching_indices(first, second)
    while pairs:
        members = [
            *(member.choose([a for a, _ in pairs]) for member in first),
            *(member.choose([b for _, b in pairs]) for member in second),
        ]
        conflict = find_conflict(members)
        if conflict is None:
            cutting = row_cutting_index(members)
            if cutting is None or (has_lanes and are_columns(members)):
                return members
            pairs.pop(cutting)
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


def row_cutting_index(members: Sequence[Member]) -> int | None:
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
    if worst is None or cut[worst] * _CUT_SHARE <= total:
        return None
    return worst


def are_columns(members: Sequence[Member]) -> bool:
    """Whether the members aggregate, or compute, along one index that is not shared.

    The last shared one runs along the memory of what has most of the bytes.
    """
    apart: set[int] = set()
    along = total = 0
    for member in members:
        facts = member.facts
        own = [
            extent
            for index, extent in enumerate(facts.ranges)
            if extent > 1 and index not in member.shared
        ]
        if len(own) > 1 or facts.is_contraction:
            return False
        apart.update(own)
        for size, index in zip(facts.footprints, facts.last_carried, strict=True):
            total += size
            along += size if member.shared[-1:] == (index,) else 0
    has_sums = any(member.facts.reductions for member in members)
    return has_sums and len(apart) == 1 and 2 * along > total


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
