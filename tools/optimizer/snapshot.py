"""What a module was, to tell whether a pass has changed it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.operands import operands_of
from ...passes.walking import operations


class Snapshot:
    """The operations of a module in order, with all that verifiers look at.

    What it holds stays alive, so that nothing new is taken for what was there.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._seen = [*map(_parts, operations(module))]

    def is_still(self, module: ModuleOp) -> bool:
        """Whether a module is what it was: not an equal one, but the same."""
        found = operations(module)
        return len(found) == len(self._seen) and all(
            map(eq, map(_parts, found), self._seen)
        )


def _parts(op: Operation) -> tuple[object, ...]:
    values: Sequence[SSAValue] = op.results
    blocks: Sequence[Block] = ()
    if op.regions:
        blocks = [block for region in op.regions for block in region.blocks]
        values = (*values, *(argument for block in blocks for argument in block.args))
    return (
        op,
        op.parent,
        operands_of(op),
        blocks,
        (*op.successors,) if op.successor_uses else (),
        values,
        [value.type for value in values],
        op.attributes.copy(),
        op.properties.copy(),
    )
