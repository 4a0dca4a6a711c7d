"""The decisions about a block that are worth a look, whatever the device."""

from __future__ import annotations

from ....dialects.stripe.block import BlockOp
from ....targets.hardware import Hardware
from . import gpu, search
from .candidate import Candidate


def candidates(
    block: BlockOp, hardware: Hardware, count: int, *, spread_out: bool = False
) -> list[Candidate]:
    """The best for a block without blocks inside, the fastest first.

    With `spread_out` they are `count` all over the space instead, good and bad. Empty
    for blocks that the models do not decide.
    """
    find = search.candidates if hardware.has_vectors else gpu.candidates
    return find(block, hardware, count, spread_out=spread_out)
