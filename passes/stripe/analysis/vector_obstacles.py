"""Why vectors cannot run along an index, in words."""

from __future__ import annotations

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from .lanes import is_vectorizable, native_lanes, unit_steps, vector_width
from .nests import is_leaf
from .varying import may_step, varying_values


def obstacle_to_vectors(block: BlockOp, index: int, bits: int) -> tuple[str, str]:
    """What keeps a block from vectors of so many bits along an index, and a hint.

    For a block and an index of which `plan_along` has no plan.
    """
    if not is_leaf(block):
        return (
            "there are blocks inside, each of which has vectors of its own",
            "bind an index of the innermost block",
        )
    if any(form.coefficients[index] for form in block.conditions):
        return (
            "a condition depends on it, which may differ between the lanes",
            "'stripe-separate' splits off where it holds; tiles that divide the range "
            "need none, 'stripe-pad' makes ranges longer",
        )
    if vector_width(block, index, bits) < 2:
        lanes, extent = native_lanes(block, bits), block.index_ranges[index]
        return (
            f"its range {extent} is no multiple of 2 or more lanes, and at most "
            f"{lanes} fit into {bits} bits",
            "tile it by a power of two, or pad it",
        )
    if block.is_serial:
        return (
            "points of a serial block read what other lanes have written",
            "bind an index that no point hands values on along",
        )
    for number, refinement in enumerate(block.refinement_list):
        if refinement.direction.writes and index not in unit_steps(
            refinement, len(block.index_ranges)
        ):
            name = block.buffer(number).name_hint or number
            return (
                f"output '%{name}' does not step through its last axis by it",
                "bind another index; 'output order' of a schedule makes another axis "
                "the last",
            )
    accesses = [op for op in block.body.ops if isinstance(op, LoadOp | StoreOp)]
    if any(op.subscripts is not None for op in accesses) or not may_step(block, index):
        return (
            "the lanes would access places that are computed for each of them",
            "bind an index that computed places do not depend on",
        )
    if not is_vectorizable(block, varying_values(block, index)):
        return "a statement has no form for vectors", "bind another index"
    return (
        "inputs and outputs do not lie so that the lanes are next to each other",
        "bind another index",
    )
