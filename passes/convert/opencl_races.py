"""Whether the work-items of a launch could write the same cells.

Different points of a block may aggregate into one cell, but different work-items may
not: device memory has no order between them. And what one work-item initializes must
not be what another has written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...affine.form import LinearForm
from ...affine.isl import sample
from ...dialects.aggregation import Aggregation
from ...dialects.stripe.attributes import Direction, Level, Refinement
from ...dialects.stripe.block import BlockOp
from ..locations import error_at

PARALLEL = (Level.GRID, Level.GROUP)


def check_races(op: BlockOp) -> None:
    """Raise a GinghamError when two work-items of a top-level block may meet on a cell.

    Of an output that is assigned without `init` every cell has one writer by the
    meaning of blocks.
    """
    for number, refinement in enumerate(op.refinement_list):
        if refinement.direction is not Direction.OUT:
            continue
        aggregates = refinement.aggregation is not Aggregation.ASSIGN
        if aggregates or refinement.init is not None:
            _check_output(op, number, refinement)


def _check_output(op: BlockOp, number: int, refinement: Refinement) -> None:
    parallel = [
        index
        for index, (extent, level) in enumerate(
            zip(op.index_ranges, op.index_levels, strict=True)
        )
        if level in PARALLEL and extent > 1
    ]
    sizes = op.view_type(number).sizes
    shared = set(parallel) - _determined(refinement.access, sizes, op.index_ranges)
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
    hint = op.buffers[number].name_hint
    return f"'{hint}'" if hint is not None else f"number {number}"


def _determined(
    access: Sequence[LinearForm], sizes: Sequence[int], ranges: Sequence[int]
) -> set[int]:
    """Indices that a cell of the window determines, by looking at single axes.

    Along an axis the largest step tells its index when it exceeds what all smaller
    steps and the window reach together; then the next largest does.
    """
    known = {index for index, extent in enumerate(ranges) if extent <= 1}
    before = -1
    while len(known) != before:
        before = len(known)
        for form, size in zip(access, sizes, strict=True):
            known |= set(_digits(form, size, ranges, known))
    return known


def _digits(
    form: LinearForm, size: int, ranges: Sequence[int], known: set[int]
) -> Iterator[int]:
    own = [index for index in form.support if index < len(ranges)]
    steps = sorted(
        ((abs(form.coefficients[i].numerator), i) for i in own if i not in known),
        reverse=True,
    )
    reach = size - 1 + sum(step * (ranges[index] - 1) for step, index in steps)
    for step, index in steps:
        reach -= step * (ranges[index] - 1)
        if step <= reach:
            return
        yield index


def _meets(
    op: BlockOp, number: int, conditions: Sequence[LinearForm], index: int
) -> bool:
    """Whether two points that differ in an index have windows with a common cell."""
    rank = len(op.index_ranges)
    joint = 2 * rank
    first = {i: i for i in range(rank)}
    second = {i: rank + i for i in range(rank)}
    forms: list[LinearForm] = []
    for positions in (first, second):
        for i, extent in enumerate(op.index_ranges):
            value = LinearForm.dimension(positions[i], joint)
            forms += [value, -value + (extent - 1)]
        forms += [condition.remap(positions, joint) for condition in conditions]
    access = op.refinement_list[number].access
    for form, size in zip(access, op.view_type(number).sizes, strict=True):
        distance = form.remap(first, joint) - form.remap(second, joint)
        forms += [distance + (size - 1), -distance + (size - 1)]
    gap = LinearForm.dimension(second[index], joint) - LinearForm.dimension(
        index, joint
    )
    return sample(joint, [*forms, gap - 1]) is not None
