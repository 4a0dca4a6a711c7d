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
from typing import TypeAlias

SECTOR_BYTES = 32
"""What global memory moves at least (NVIDIA; AMD 64)."""
_BANKS = 32
"""Of local memory (NVIDIA, AMD)."""
_BANK_BYTES = 4
"""Of a word, of which each bank serves one at a time."""
Steps: TypeAlias = tuple[tuple[int, int], ...]
"""How lanes step through memory: (bytes, lanes), the fastest index first."""


@lru_cache(maxsize=1 << 14)
def sectors(steps: Steps, size: int, lanes: int) -> int:
    """The sectors that lanes touch which access `size` bytes each.

    The first lies at the start of a sector.
    """
    touched: set[int] = set()
    for place in _places(steps, lanes):
        first, last = place // SECTOR_BYTES, (place + size - 1) // SECTOR_BYTES
        touched.update(range(first, last + 1))
    return len(touched)


@lru_cache(maxsize=1 << 14)
def bank_turns(steps: Steps, size: int, lanes: int) -> int:
    """The cycles in which local memory serves lanes that access `size` bytes each.

    As many lanes at once as there are banks for.
    """
    at_once = max(_BANKS * _BANK_BYTES // max(size, _BANK_BYTES), 1)
    places = _places(steps, lanes)
    turns = 0
    for start in range(0, len(places), at_once):
        words: defaultdict[int, set[int]] = defaultdict(set)
        for place in places[start : start + at_once]:
            for word in range(place // _BANK_BYTES, -(-(place + size) // _BANK_BYTES)):
                words[word % _BANKS].add(word)
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
