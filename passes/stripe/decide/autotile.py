"""`stripe-autotile`: decide tiles, staging and loop order by the cost model.

Every innermost block without tiles gets them in its schedule, and with them, where they
pay, orders of loops and copies of inputs; the schedule says why. The passes
`stripe-partition-edges`, `stripe-tile` and `stripe-stage` apply it. The IR is otherwise
unchanged:

```mlir
stripe.block "C" [%i : 1024, %j : 1024, %k : 1024] ...
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      tile [8, 32, 1024] order [1, 0],
      stage input 1 at 0 of 0 order [0, 1] global,
      because "4.5 ms: arithmetic 4.1 ms, ...">} { ... }
```

A block with indices that only aggregate is tiled for registers, and what is around the
register tiles is found by the search in `passes/stripe/decide/search`: which inputs are
packed, which work-groups follow each other, how many tiles one of them computes. The
nest with the least predicted time wins.

A block without such indices streams through memory; it is cut into pieces of about
the hardware's `group_elements` along its last axes, so that a piece is worth the cost
of starting it. Inside of another block it stays as it is.

Where subscripts choose the cells of an output, there are no registers for them: the
other indices are cut like those of a stream, and what may meet on a cell stays whole.
Serial blocks are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, schedule_of, set_schedule
from ....targets.hardware import Hardware, hardware_with
from ....targets.hardware.overheads import Overheads
from ...hardware_pass import HardwarePass
from ..analysis.nests import all_blocks, is_leaf, is_top_level
from ..analysis.problem import Problem
from ..analysis.schedules import has_tiles
from . import gpu
from .search import best_of, explained, problem_of

_NOTHING = Schedule()
_SQUARES = 4
"""How many pieces of streaming work a piece of a transposition is as large as."""


@dataclass(frozen=True)
class StripeAutotilePass(HardwarePass):
    """Choose tiles, staging and loop order by the predicted time."""

    name = "stripe-autotile"

    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write decisions on all blocks that have none.

        Raises GinghamError for hardware that is not known, or an option that no
        hardware has.
        """
        hardware = self.described_hardware()
        for block in all_blocks(op):
            if decided := self.decision(block, hardware):
                set_schedule(block, schedule_of(block).completed_by(decided))

    def described_hardware(self) -> Hardware:
        """The figures that the options ask for.

        Raises GinghamError for those that no device has.
        """
        return hardware_with(self.figures, vector_bits=self.bits)

    def decision(self, block: BlockOp, hardware: Hardware) -> Schedule:
        """The schedule for a block; an empty one where there is nothing to decide."""
        if block.is_serial or has_tiles(block) or not all(block.index_ranges):
            return _NOTHING
        if not is_leaf(block):
            shares = not hardware.has_vectors and is_top_level(block)
            return gpu.nest_decision(block, self.figures) if shares else _NOTHING
        problem = problem_of(block, hardware.vector_bits)
        if not hardware.has_vectors:
            decided = gpu.decision(block, problem, self.figures)
            if decided is not None:
                return decided
        if not problem.aggregates or problem.uncut:
            if problem.is_nested and not block.conditions:
                return _NOTHING
            return _stream(problem, hardware.overheads)
        found = best_of(block, problem, hardware)
        return explained(found, problem, hardware)


def _stream(problem: Problem, overheads: Overheads) -> Schedule:
    """Pieces of a block that nothing is kept of between its points."""
    ranges, lanes = problem.ranges, problem.lanes
    if problem.is_nested:
        return Schedule.of((_whole(problem),), reason="all of it at once")
    if (square := _square(problem)) is not None:
        return _stream_squares(problem, *square, overheads)
    held = problem.uncut | problem.whole
    cut = [extent for n, extent in enumerate(ranges) if n not in held]
    grain = prod(cut) // overheads.stream_pieces
    remaining = max(min(grain, overheads.group_elements), lanes)
    sizes = [1] * problem.rank
    for index in reversed(range(problem.rank)):
        if index in held:
            sizes[index] = ranges[index]
        if index in problem.fixed or index in held:
            continue
        size = min(ranges[index], max(remaining, 1))
        if index == problem.vector and size > lanes:
            size -= size % lanes
        sizes[index] = size
        remaining //= size
    reason = f"streams {prod(sizes)} of {prod(ranges)} elements at a time"
    return Schedule.of((sizes,), reason=reason)


def _stream_squares(
    problem: Problem, vector: int, across: int, overheads: Overheads
) -> Schedule:
    """Pieces of a transposition: whole lines of memory on both sides.

    The innermost loop goes where the inputs are contiguous, for the prefetchers.
    """
    ranges, lanes = problem.ranges, problem.lanes
    area = _SQUARES * overheads.group_elements
    area = min(prod(ranges) // overheads.stream_pieces, area)
    side = max(isqrt(max(area, 1)) // lanes, 1) * lanes
    sizes = [n if i in problem.whole else 1 for i, n in enumerate(ranges)]
    for index in {vector, across} - problem.whole:
        extent = ranges[index]
        sizes[index] = min(side, max(extent - extent % lanes, min(extent, lanes)))
    others = [n for n in range(problem.rank) if n not in (vector, across)]
    orders = (tuple(range(problem.rank)), (*others, vector, across))
    reason = f"transposes {sizes[across]} by {sizes[vector]} elements at a time"
    return Schedule.of((sizes,), orders=orders, reason=reason)


def _square(problem: Problem) -> tuple[int, int] | None:
    """The index of vectors and the one along which the inputs in its way run."""
    crossing = [access for access in problem.inputs if problem.in_the_way(access)]
    if problem.vector is None or problem.fixed or problem.uncut or not crossing:
        return None
    for index in range(problem.rank):
        if index == problem.vector:
            continue
        if all(
            access.coefficients[-1][index] == 1
            and not any(row[index] for row in access.coefficients[:-1])
            for access in crossing
        ):
            return problem.vector, index
    return None


def _whole(problem: Problem) -> tuple[int, ...]:
    """Everything in one piece, but for what is not tiled."""
    return tuple(
        1 if index in problem.fixed else extent
        for index, extent in enumerate(problem.ranges)
    )
