"""What a module was, to tell whether a pass has changed it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

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
            _parts(op) == before for op, before in zip(found, self._seen, strict=True)
        )


def _parts(op: Operation) -> tuple[object, ...]:
    blocks = [block for region in op.regions for block in region.blocks]
    values = op.results
    if blocks:
        values = (*values, *(argument for block in blocks for argument in block.args))
    return (
        op,
        op.parent,
        tuple(op.operands),
        blocks,
        (*op.successors,),
        values,
        [value.type for value in values],
        {**op.attributes},
        {**op.properties},
    )
