"""`stripe-plan-layout`: decide where vectors run better with another axis last.

Vectors run along the last axis of an output. Where that axis is short, or inputs are in
its way, another index may be much better: of a convolution of images with channels
first, the channels of the result. Writes the order in which the indices of the output
are to be its axes as a part of the schedule, which
`stripe-transpose-outputs` applies.

Before:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0 { ... }
```

After:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0
    attributes {stripe.schedule = #stripe.schedule<
      output order [1, 0] because "4.51 us with a copy, 7.89 us without">} { ... }
```

The cost model decides, with the time of the copy that follows; it is only asked where
there are no long rows of whole vectors in the output, and no longer ones will come by
`stripe-merge-indices`, and where the block takes `worth` percent of the time that its
arithmetic would take in whole vectors. Top-level blocks that aggregate numbers into
cells of their own are looked at; those with tiles already, with subscripts or with
constraints on the index in question are left alone, and the rows that
`stripe-split-reduction` cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.tiling import OutputOrder
from ....targets.hardware import Hardware, hardware_with
from ...clock import Clock, time_text
from ...hardware_pass import HardwarePass
from ...locations import check_positive
from ..analysis.nests import top_level_blocks
from ..analysis.problem import Problem, problem_of
from ..analysis.reductions import aggregates_plainly, is_of_rows
from ..analysis.varying import may_step
from ..edit.merge import may_merge
from ..edit.transpose import Transposed
from .model.copying import copy_seconds
from .search import best, best_of

_LONG = 4
"""Of so many vectors what is left over of the last is little."""


@dataclass(frozen=True)
class StripePlanLayoutPass(HardwarePass):
    """Decide which outputs are computed with another axis last."""

    name = "stripe-plan-layout"

    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""
    worth: int = 150
    """The time of blocks that are looked at, in percent of that of their arithmetic."""
    parallelism: int = 32
    """Rows with fewer cells than these are left to `stripe-split-reduction`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the order on top-level blocks that have a better one.

        Raises GinghamError for options that are less than 1.
        """
        check_positive(op, worth=self.worth, parallelism=self.parallelism)
        hardware = hardware_with(self.figures, vector_bits=self.bits)
        for block in list(top_level_blocks(op)):
            if aggregates_plainly(block) and not is_of_rows(block, self.parallelism):
                order = self.better(block, hardware)
                if order is not None:
                    set_schedule(block, Schedule(parts=(order,)))

    def better(self, block: BlockOp, hardware: Hardware) -> OutputOrder | None:
        """The indices of the output as axes of a faster block, the last one in vectors.

        None where the block is best as it is.
        """
        clock = Clock(hardware)
        problem = problem_of(block, hardware.vector_bits)
        if len(problem.outputs) != 1 or problem.lanes < 2 or not problem.aggregates:
            return None
        orders = list(_orders(block, problem))
        if not orders or _has_whole_vectors(problem) or _will_merge(block, problem):
            return None
        now = plain = best_of(block, problem, hardware).seconds
        if now < self.worth / 100 * clock.operations(problem.vector_operations):
            return None
        fastest = None
        for order in orders:
            inner = _transposed(block, order, hardware)
            copied = copy_seconds(inner, hardware)
            if clock.operations(inner.vector_operations) + clock.launch + copied >= now:
                continue
            seconds = best(inner, hardware).seconds + copied
            if seconds < now:
                now, fastest = seconds, order
        if fastest is None:
            return None
        reason = f"{time_text(now)} with a copy, {time_text(plain)} without"
        return OutputOrder(fastest, reason=reason)


def _will_merge(block: BlockOp, problem: Problem) -> bool:
    """Whether `stripe-merge-indices` will make longer rows of the output."""
    fast = problem.vector
    others = range(len(problem.ranges))
    return fast is not None and any(
        slow != fast and may_merge(block, slow, fast) for slow in others
    )


def _has_whole_vectors(problem: Problem) -> bool:
    """Whether vectors along the output as it is are as good as any."""
    index = problem.vector
    if index is None or problem.ranges[index] < _LONG * problem.lanes:
        return False
    is_constrained = any(index in form for form in problem.constrained)
    return not is_constrained and not any(
        problem.blocked[access.number] for access in problem.inputs
    )


def _transposed(block: BlockOp, order: Sequence[int], hardware: Hardware) -> Problem:
    """A block whose output has other axes, as a problem of the cost model."""
    transposed = Transposed.of(block, order)
    problem = problem_of(transposed.block, hardware.vector_bits)
    transposed.discard()
    return problem


def _orders(block: BlockOp, problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the output's indices with another index of whole vectors last."""
    for last in problem.parallel:
        is_free = last != problem.vector and problem.ranges[last] >= problem.lanes
        is_constrained = any(last in form for form in problem.constrained)
        if is_free and not is_constrained and may_step(block, last):
            yield (*(n for n in problem.parallel if n != last), last)
