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
