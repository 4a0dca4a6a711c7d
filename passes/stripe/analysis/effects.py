"""The memories that statements of a function use."""

from __future__ import annotations

from xdsl.ir import Operation

from ....dialects.stripe.block import BlockOp
from ...dependences import Effects
from .nests import root_buffer


def effects_of(statement: Operation) -> Effects:
    """The memories that a block uses, under any shape; other statements use none."""
    if not isinstance(statement, BlockOp):
        return Effects()
    pairs = zip(statement.buffers, statement.refinement_list, strict=True)
    return Effects.of((root_buffer(b), each.direction.writes) for b, each in pairs)


def reads_own_results(block: BlockOp) -> bool:
    """Whether a block reads a memory that it writes, under any shape."""
    written = effects_of(block).written
    pairs = zip(block.buffers, block.refinement_list, strict=True)
    return any(each.direction.reads and root_buffer(b) in written for b, each in pairs)


def computes_anew(block: BlockOp) -> bool:
    """Whether cells get the same values when some of the points run once more.

    Such a block reads nothing that it writes, and adds nothing to what was there.
    """
    outputs = (each for each in block.refinement_list if each.direction.writes)
    return not reads_own_results(block) and all(
        each.is_plain or each.init is not None for each in outputs
    )
