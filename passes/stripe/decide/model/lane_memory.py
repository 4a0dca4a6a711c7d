"""What an access of a sub-group takes from memory, by the places of its lanes.

Global memory is moved in sectors: neighbouring lanes that access neighbouring cells
share them. Local memory has banks, each of which serves one word at a time: lanes that
want different words of one bank wait for each other. Both follow exactly from the steps
between lanes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias

from .....targets.hardware.description import Hardware
from .....targets.hardware.lanes import LaneFigures
from ...analysis.footprint import footprint
from ...analysis.problem import Access

Steps: TypeAlias = tuple[tuple[int, int], ...]
"""How lanes step through memory: (bytes, lanes), the fastest index first."""


def sectors(steps: Steps, size: int, lanes: int, figures: LaneFigures) -> int:
    """The sectors that lanes touch which access `size` bytes each.

    The first lies at the start of a sector.
    """
    return touched(steps, size, lanes, figures.sector_bytes)


@lru_cache(maxsize=1 << 14)
def touched(steps: Steps, size: int, lanes: int, unit: int) -> int:
    """How many units of so many bytes lanes touch which access `size` bytes each."""
    found: set[int] = set()
    for place in _places(steps, lanes):
        found.update(range(place // unit, (place + size - 1) // unit + 1))
    return len(found)


def moved_bytes(access: Access, extents: Sequence[int], hardware: Hardware) -> float:
    """The bytes of the sectors that all points of these extents touch.

    Each point has places of its own where subscripts choose them.
    """
    again = 1
    if access.is_chosen:
        others = (n for n in range(access.rank) if n not in access.used)
        again = prod(extents[n] for n in others)
    walk = [
        (abs(step), count)
        for step, count in zip(access.strides, extents, strict=True)
        if step and count > 1
    ]
    sector, page = hardware.lanes.sector_bytes, hardware.page_bytes
    found = footprint(tuple(walk), access.element_bytes, sector, page)
    return found.lines * sector * again


@lru_cache(maxsize=1 << 14)
def bank_turns(steps: Steps, size: int, lanes: int, figures: LaneFigures) -> int:
    """The cycles in which local memory serves lanes that access `size` bytes each.

    As many lanes at once as there are banks for.
    """
    banks, width = figures.banks, figures.word_bytes
    at_once = max(banks * width // max(size, width), 1)
    places = _places(steps, lanes)
    turns = 0
    for start in range(0, len(places), at_once):
        words: defaultdict[int, set[int]] = defaultdict(set)
        for place in places[start : start + at_once]:
            for word in range(place // width, -(-(place + size) // width)):
                words[word % banks].add(word)
        turns += max(len(own) for own in words.values())
    return turns


def _places(steps: Sequence[tuple[int, int]], lanes: int) -> list[int]:
    """Where the lanes of the first sub-group are, in bytes from the first."""
    places = [0]
    for step, count in steps:
        places = [n * step + place for n in range(count) for place in places]
        if len(places) >= lanes:
            break
    return places[:lanes]
