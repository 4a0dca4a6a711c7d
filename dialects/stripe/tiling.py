"""The attributes by which a block says how it is to be laid out and tiled."""

from __future__ import annotations

TILE_ATTRIBUTE = "stripe.tile"
"""On a block: an array of the sizes of its tiles, one for each level."""

REASON_ATTRIBUTE = "stripe.tile_reason"
"""On a block: why it has these tiles."""

OUTPUT_ORDER_ATTRIBUTE = "stripe.output_order"
"""On a block with one output: the numbers of the output's indices, in the order in
which they are to be its axes."""
