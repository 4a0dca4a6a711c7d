"""Which memories the points of a block could be in conflict about.

Decided once for each run of a block from how the statements in it use the views around
it, so that the others need not be watched cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, BlockArgument, SSAValue

from ...dialects.stripe.attributes import Direction
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import LoadOp, StoreOp
from .conflicts import Use
from .frame import Frame


def contended_memories(op: BlockOp, frame: Frame) -> frozenset[int]:
    """The memories, by `id`, that points of a block could have conflicts on.

    There are none on memory that is only read, or only aggregated into by one function.
    """
    uses: dict[int, Use] = {}
    for view, use in _outer_uses(op):
        key = id(frame[view].memory)
        uses[key] = uses.get(key, use) | use
    harmless = set(Use) - {Use.ASSIGN}
    return frozenset(key for key, use in uses.items() if use not in harmless)


def _outer_uses(op: BlockOp) -> Iterator[tuple[SSAValue, Use]]:
    """The views from outside that statements within a block use, and how."""
    for inner in op.walk():
        if isinstance(inner, LoadOp):
            yield from _traced(inner.view, Use.READ, op)
        elif isinstance(inner, StoreOp):
            yield from _traced(inner.view, _store_use(inner.view), op)
        elif isinstance(inner, BlockOp) and inner is not op:
            for number, refinement in enumerate(inner.refinement_list):
                if refinement.init is not None:
                    yield from _traced(inner.buffers[number], Use.ASSIGN, op)


def _store_use(view: SSAValue) -> Use:
    refinement = _refinement_of(view)
    if refinement is None:
        return Use.ASSIGN
    block, number = refinement
    return Use.of(block.refinement_list[number].aggregation)


def _traced(view: SSAValue, use: Use, op: BlockOp) -> Iterator[tuple[SSAValue, Use]]:
    """The view outside of `op` that a view inside was cut from, and the use of it."""
    while (refinement := _refinement_of(view)) is not None:
        block, number = refinement
        if not op.is_ancestor(block):
            break
        view = block.buffers[number]
        declared = block.refinement_list[number]
        if declared.direction is Direction.OUT and block is op:
            use = use if use is Use.of(declared.aggregation) else Use.ASSIGN
    owner = view.owner
    inside = owner.parent_op() if isinstance(owner, Block) else owner
    if inside is None or not op.is_ancestor(inside):
        yield view, use


def _refinement_of(view: SSAValue) -> tuple[BlockOp, int] | None:
    """The block whose refinement a view is, and the refinement's number."""
    if not isinstance(view, BlockArgument):
        return None
    block = view.block.parent_op()
    if not isinstance(block, BlockOp):
        return None
    return block, view.index - len(block.index_ranges)
