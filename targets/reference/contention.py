"""Which memories the points of a block could be in conflict about.

Decided once for each run of a block from what is done with its views, so that the other
memories need not be watched cell by cell.
"""

from __future__ import annotations

from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import LoadOp, StoreOp
from .conflicts import Use
from .frame import Frame


def contended_memories(op: BlockOp, frame: Frame) -> frozenset[int]:
    """The memories, by identity, that points of a block could have conflicts on.

    There are none on memory that is only read, or only aggregated into by one function.
    """
    uses: dict[int, Use] = {}
    for number, buffer in enumerate(op.buffers):
        key = frame[buffer].memory.identity
        uses[key] = uses.get(key, Use(0)) | _uses(op, number)
    harmless = {Use(0), *Use} - {Use.ASSIGN}
    return frozenset(key for key, use in uses.items() if use not in harmless)


def _uses(block: BlockOp, number: int) -> Use:
    """How the statements in a block, nested ones too, use one of its views."""
    own = Use.of(block.refinement(number).aggregation)
    result = Use(0)
    for use in block.view(number).uses:
        match use.operation:
            case LoadOp():
                result |= Use.READ
            case StoreOp():
                result |= own
            case BlockOp() as inner:
                nested = _uses(inner, use.index)
                if inner.refinement(use.index).init is not None:
                    nested |= Use.ASSIGN
                result |= nested & (Use.READ | own)
                # What aggregates in another way overwrites, as `Level.record` has it.
                if nested & ~(Use.READ | own):
                    result |= Use.ASSIGN
            case _:
                pass
    return result
