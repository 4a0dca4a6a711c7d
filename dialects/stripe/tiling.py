"""The attributes by which a block says how it is to be tiled."""

from __future__ import annotations

TILE_ATTRIBUTE = "stripe.tile"
"""On a block: an array of the sizes of its tiles, one for each level."""

REASON_ATTRIBUTE = "stripe.tile_reason"
"""On a block: why it has these tiles."""
