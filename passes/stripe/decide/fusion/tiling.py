"""Tiles of the indices that a group of blocks shares, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from .....dialects.stripe.schedule import Schedule


@dataclass(frozen=True)
class GroupCost:
    """Tiles for a group, and what it then costs."""

    tiles: tuple[tuple[int, ...], ...]
    """For each level of outer blocks, a size per shared index."""
    order: tuple[int, ...]
    """The shared indices in the order of the loops, outermost first."""
    leaves: tuple[Schedule | None, ...]
    """For each member the nest of its leaf; None to decide later."""
    seconds: float
    traffic_bytes: float
    """Moved between memory and cores."""
    scratch_bytes: int
    """Of the buffers that one point of the innermost outer block holds."""


@dataclass(frozen=True)
class Tiling:
    """Levels of tiles of the shared indices, what leaves get, and an order of loops."""

    levels: tuple[tuple[int, ...], ...]
    leaves: tuple[Schedule | None, ...] = ()
    order: tuple[int, ...] = ()
    contraction_seconds: float | None = None
    """Of one point, on one core, where they are known already."""
