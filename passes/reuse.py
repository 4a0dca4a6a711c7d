"""Whether data are used so often that what is done with them outweighs moving them."""

from __future__ import annotations

MANY_USES = 8
"""Uses of each element from which on it is worth writing and reading it once more: in
another order, in a wider type, or on another device."""


def is_reused(points: int, elements: int) -> bool:
    """Whether so many points use each of so many elements many times."""
    return points >= MANY_USES * max(elements, 1)
