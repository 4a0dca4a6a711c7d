"""Whether lanes have something to do in a nest that blocks would become."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .....targets.hardware import Hardware
from ...analysis.shared_indices import Member
from ..gpu.nest_leaves import may_share
from .common import are_columns
from .tiling import GroupCost


def shared_by_lanes(
    members: Sequence[Member], cost: GroupCost, hardware: Hardware
) -> bool:
    """Whether work-items share the points of a nest, or what is in one.

    A group shares the cells of rows or columns; or each of its items has a point. What
    neither is possible of runs in one work-item of a group, which is slow.
    """
    if are_columns(members):
        return True
    if any(cost.leaves):
        # Contractions with tiles of their own are for the vectors of a core.
        return False
    extents = [members[0].facts.ranges[index] for index in members[0].shared]
    pairs = zip(extents, cost.tiles[0], strict=True)
    points = prod(-(-extent // (size or extent)) for extent, size in pairs)
    if points >= hardware.cores * hardware.items_at_once and len(cost.tiles) == 1:
        return True
    inside = [_inside(member, cost.tiles[-1]) for member in members]
    pairs = zip(members, inside, strict=True)
    if not all(may_share(m.block, ranges, hardware) for m, ranges in pairs):
        return False
    # What is not along one row has no cells of each item's own, in registers.
    pairs = zip(members, inside, strict=True)
    are_rows = all(_wide(member, ranges) <= 1 for member, ranges in pairs)
    return are_rows or cost.scratch_bytes <= hardware.local_memory_bytes // 2


def _wide(member: Member, ranges: Sequence[int]) -> int:
    """How many indices that are not shared have several values."""
    return sum(extent > 1 and n not in member.shared for n, extent in enumerate(ranges))


def _inside(member: Member, sizes: Sequence[int]) -> list[int]:
    """The ranges of a member in a point of the nest."""
    ranges = [*member.facts.ranges]
    for index, size in zip(member.shared, sizes, strict=True):
        ranges[index] = min(size or ranges[index], ranges[index])
    return ranges
