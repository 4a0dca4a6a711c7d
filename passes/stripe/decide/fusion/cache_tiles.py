"""Tiles of the shared indices inside of which contractions are nests in blocks.

Where a contraction has indices that the group does not share, a tile holds all values
of these. A tile that is a register tile along the shared indices reads the whole of an
operand for it. A larger one, a cache tile, lets the contraction run inside as it would
by itself: in blocks of the aggregating indices, with the operand's part copied into
local memory, and register tiles down the rows. Its sums are the scratch of the cache
tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from .....dialects.stripe.schedule import Schedule
from .....targets.hardware import Hardware
from .contraction import Contraction, even

_COLUMNS = (32, 64, 128)
"""Along the vectors, about."""
_ROWS = (32, 64, 128)
"""Along the other indices, about."""


@dataclass(frozen=True)
class CacheTile:
    """Sizes of the shared indices, with the nest of each contraction inside."""

    sizes: tuple[int, ...]
    leaves: tuple[Schedule, ...]
    seconds: float
    """Of the contractions of one cache tile, on one core."""


def cache_tiles(
    contractions: Sequence[Contraction],
    extents: Sequence[int],
    hardware: Hardware,
    fits: Callable[[Sequence[int]], bool],
) -> Iterator[CacheTile]:
    """Cache tiles worth a thought that divide the shared indices of these ranges.

    `fits` says whether the scratch of a tile of some sizes is small enough. There are
    none where a contraction has no nest inside that leaves nothing over.
    """
    is_one = hardware.cores == 1
    one_core = hardware if is_one else hardware.with_level("group", count=1)
    local_bytes = max(hardware.local_memory_bytes // len(contractions), 1)
    for sizes in _sizes(contractions[0], extents):
        points = prod(-(-n // size) for n, size in zip(extents, sizes, strict=True))
        if points < hardware.cores or not fits(sizes):
            continue
        found = [
            each.in_cache_tile(sizes, one_core, local_bytes) for each in contractions
        ]
        best = [leaf for leaf in found if leaf is not None]
        if len(best) == len(found):
            seconds = sum(leaf.seconds for leaf in best)
            yield CacheTile(sizes, tuple(leaf.nest for leaf in best), seconds)


def _sizes(main: Contraction, extents: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Multiples of the register tile of a contraction that divide the ranges."""
    choices: list[set[int]] = []
    for index, extent in zip(main.shared, extents, strict=True):
        size = even(min(main.nest.tile[index], extent), extent, main.unit(index))
        if extent % size:
            return
        divisors = [n for n in range(size, extent + 1, size) if extent % n == 0]
        wanted = _COLUMNS if index == main.problem.vector else _ROWS
        near = {min(divisors, key=lambda n: abs(n - aim)) for aim in wanted}
        choices.append(near)
    yield from product(*map(sorted, choices))
