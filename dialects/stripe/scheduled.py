"""What was done with a block, kept for people: `stripe.scheduled`.

A pass that applies a part of a schedule takes it from `stripe.schedule` and notes it
here, with its reason. Nothing is made of it: it stands on the outermost block of a
nest, then on the kernel, so that the final IR says why a loop or a buffer is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation

from .schedule import Schedule, ScheduleAttr

SCHEDULED = "stripe.scheduled"
"""On a block: a schedule, over the indices that the block had before it was applied. On
a kernel: an array of those of its blocks, outer ones first."""


def note_done(block: Operation, done: Schedule) -> None:
    """Note parts that were applied, beside what was before."""
    if done:
        known = block.attributes.get(SCHEDULED)
        if isinstance(known, ScheduleAttr):
            done = done.completed_by(known.data)
        block.attributes[SCHEDULED] = ScheduleAttr(done)


def done_with(op: Operation) -> list[Schedule]:
    """What was done with a block, or with the blocks of a kernel."""
    noted = op.attributes.get(SCHEDULED)
    entries = noted.data if isinstance(noted, ArrayAttr) else (noted,)
    return [entry.data for entry in entries if isinstance(entry, ScheduleAttr)]


def keep_done(kernel: Operation, sources: Iterable[Operation]) -> None:
    """Note on a kernel what was done with the blocks or kernels that it is made of."""
    done = dict.fromkeys(each for source in sources for each in done_with(source))
    if done:
        kernel.attributes[SCHEDULED] = ArrayAttr([ScheduleAttr(each) for each in done])
