"""Parallel indices of a block as dimensions of a launch.

OpenCL has three dimensions, numbered from the one that runs fastest. The last index
gets dimension 0, the one before it dimension 1, and all others share dimension 2.
Devices limit dimensions 1 and 2; where an index is too large for that, all share
dimension 0.

So they do where a work-group is a single work-item, as on CPUs. Their runtimes go along
a line in its order, but halve a plane again and again on its longer side (Intel's, by
its tasks), and the order that a nest was chosen for would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...dialects.opencl.attributes import WorkItemQuery

DIMENSIONS = 3

LARGEST: dict[WorkItemQuery, int] = {
    # What NVIDIA GPUs allow along dimensions 1 and 2; CPUs allow more.
    WorkItemQuery.GROUP_ID: 65535,
    WorkItemQuery.LOCAL_ID: 64,
}
"""The largest size of dimensions 1 and 2 that every device allows."""


@dataclass(frozen=True)
class Grid:
    """How the indices of one level are spread over the dimensions.

    `members[d]` are the numbers of the indices along dimension `d`, outermost first.
    """

    extents: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each of the three dimensions."""
        return tuple(prod(self.extents[i] for i in part) for part in self.members)


def in_line(extents: Sequence[int]) -> Grid:
    """Indices with these numbers of values, outermost first, along dimension 0."""
    return Grid(tuple(extents), (tuple(range(len(extents))), (), ()))


def spread(extents: Sequence[int], query: WorkItemQuery) -> Grid:
    """Spread indices with these numbers of values, outermost first."""
    numbers = tuple(range(len(extents)))
    outer = max(len(numbers) - 2, 0)
    apart = Grid(
        tuple(extents),
        (numbers[-1:], numbers[outer:-1], numbers[:outer]),
    )
    if max(apart.sizes[1:]) <= LARGEST[query]:
        return apart
    return in_line(extents)
