"""Whether the work-items of a launch could write the same cells.

Different points of a block may aggregate into one cell, but different work-items may
not: device memory has no order between them. And what one work-item initializes must
not be what another has written. Where subscripts choose a cell, it may be any of the
window.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...affine.form import LinearForm
from ...affine.isl import sample
from ...affine.radix import determined_indices
from ...dialects.aggregation import Aggregation
from ...dialects.stripe.attributes import Refinement
from ...dialects.stripe.binding import PARALLEL
from ...dialects.stripe.block import BlockOp
from ..locations import error_at


def check_races(op: BlockOp) -> None:
    """Raise a GinghamError when two work-items of a block may meet on a cell.

    Of an output that is assigned without `init` every cell has one writer by the
    meaning of blocks.
    """
    for number, refinement in enumerate(op.refinement_list):
        if not refinement.direction.writes:
            continue
        aggregates = refinement.aggregation is not Aggregation.ASSIGN
        if aggregates or refinement.init is not None:
            _check_output(op, number, refinement)


def _check_output(op: BlockOp, number: int, refinement: Refinement) -> None:
    parallel = [
        index
        for index, (extent, binding) in enumerate(
            zip(op.index_ranges, op.index_bindings, strict=True)
        )
        if binding in PARALLEL and extent > 1
    ]
    sizes = op.view_type(number).sizes
    extents = dict(enumerate(op.index_ranges))
    shared = set(parallel) - determined_indices(refinement.access, sizes, extents)
    conditions = op.conditions if refinement.init is None else ()
    for index in sorted(shared):
        if not _meets(op, number, conditions, index):
            continue
        name = op.indices[index].name_hint or f"index {index}"
        raise error_at(
            op,
            f"work-items with different '{name}' may write the same cell of output "
            f"{_output_name(op, number)}",
            f"make '{name}' a loop, or let each of its values own the cells it writes",
        )


def _output_name(op: BlockOp, number: int) -> str:
    hint = op.buffer(number).name_hint
    return f"'{hint}'" if hint is not None else f"number {number}"


def _meets(
    op: BlockOp, number: int, conditions: Sequence[LinearForm], index: int
) -> bool:
    """Whether two points that differ in an index have windows with a common cell."""
    rank, captured = len(op.index_ranges), len(op.captures)
    joint = 2 * rank + captured
    around = {rank + c: 2 * rank + c for c in range(captured)}
    first = {i: i for i in range(rank)} | around
    second = {i: rank + i for i in range(rank)} | around
    forms: list[LinearForm] = []
    for positions in (first, second):
        for i, extent in enumerate(op.index_ranges):
            value = LinearForm.dimension(positions[i], joint)
            forms += [value, -value + (extent - 1)]
        forms += [condition.remap(positions, joint) for condition in conditions]
    access = op.refinement(number).access
    for form, size in zip(access, op.view_type(number).sizes, strict=True):
        distance = form.remap(first, joint) - form.remap(second, joint)
        forms += [distance + (size - 1), -distance + (size - 1)]
    gap = LinearForm.dimension(second[index], joint) - LinearForm.dimension(
        index, joint
    )
    return sample(joint, [*forms, gap - 1]) is not None
