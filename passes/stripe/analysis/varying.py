"""Which values of an innermost block differ between the values of one index."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.operands import operands_of
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp


def varying_values(block: BlockOp, index: int) -> set[SSAValue]:
    """The values that may differ between points that differ in an index alone.

    They come from the index itself, from windows that it moves, and from places that
    differ.
    """
    varying: set[SSAValue] = {block.indices[index]}
    for refinement, view in zip(block.refinement_list, block.views, strict=True):
        if any(form.coefficients[index] for form in refinement.access):
            varying.add(view)
    for operation in block.body.ops:
        if any(operand in varying for operand in operands_of(operation)):
            varying.update(operation.results)
    return varying


def may_step(block: BlockOp, index: int) -> bool:
    """Whether the same places are chosen, and the same stores run, along an index.

    Places are those of subscripts; stores run by their conditions.
    """
    accesses = [op for op in block.body.ops if isinstance(op, LoadOp | StoreOp)]
    chosen = [value for access in accesses for value in places_of(access)]
    return not chosen or varying_values(block, index).isdisjoint(chosen)


def places_of(access: LoadOp | StoreOp) -> tuple[SSAValue, ...]:
    """The values that choose where and whether something is accessed."""
    accessed = 2 if isinstance(access, StoreOp) else 1
    return operands_of(access)[accessed:]
