"""What was done with a block, kept for people: `stripe.scheduled`.

A pass that applies a part of a schedule takes it from `stripe.schedule` and notes it
here, with its reason, as does one that binds indices where they stand. Nothing is made
of it: it stands on the block, then on the kernel, so that the final IR says why a loop
or a buffer is there.

```mlir
stripe.scheduled = [
  #stripe.schedule<over [i, j, k], tile [8, 32, 1024], because "4.5 ms: ...">,
  #stripe.schedule<over [i, j], points bind [grid, grid] because "...">]
```

Each time a block gets other indices, what is done next begins another schedule: `over`
says what they were called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import BlockArgument, Operation

from .binding import Binding
from .fusion import Alone, Epilogue
from .instruction import Instruction
from .schedule import Schedule, ScheduleAttr
from .schedule_part import ScheduledBlock
from .staging import Staging
from .tiling import Points

SCHEDULED = "stripe.scheduled"
"""On a block: a schedule, or several that were applied one after the other. On a
kernel: an array of those of its blocks, outer ones first."""

_OF_NO_INDICES = (Staging, Alone, Epilogue, Instruction)
"""Parts that say nothing of the numbers of indices."""


def note_done(block: ScheduledBlock, done: Schedule) -> None:
    """Note parts that are being applied, beside what was before."""
    if not done:
        return
    if not all(isinstance(part, _OF_NO_INDICES) for part in done):
        done = replace(done, indices=tuple(map(_name, block.indices)))
    *before, last = done_with(block) or [Schedule()]
    attributes = [ScheduleAttr(entry) for entry in (*before, *_together(last, done))]
    several = ArrayAttr(attributes)
    block.attributes[SCHEDULED] = attributes[0] if len(attributes) == 1 else several


def _together(last: Schedule, done: Schedule) -> list[Schedule]:
    """What was done and what is being done: one schedule if of the same indices."""
    indices = done.indices or last.indices
    if not done.indices or (not _has_loops(last) and last.indices in ((), indices)):
        return [replace(done.completed_by(last), indices=indices)]
    if not (last.indices == indices and _only_binds(last) and _only_binds(done)):
        return [last, done]
    # What is bound later, too, are vectors of an index.
    old, new = last.points, done.points
    pairs = zip(old.bind, new.bind, strict=True)
    bind = [late if one is Binding.UNDECIDED else one for one, late in pairs]
    reason = "; ".join(filter(None, (old.reason, new.reason)))
    return [replace(done, points=Points(bind=tuple(bind), reason=reason))]


def _has_loops(schedule: Schedule) -> bool:
    return bool(schedule.levels) or schedule.points != Points()


def _only_binds(schedule: Schedule) -> bool:
    """Whether it says what indices were bound to, and nothing else."""
    return len([*schedule]) == 1 and schedule.points.bind != ()


def _name(index: BlockArgument) -> str:
    """What an index is called; `_` where nothing can be written."""
    name = index.name_hint or "_"
    return name if name.isidentifier() else "_"


def done_with(op: Operation | ScheduledBlock) -> list[Schedule]:
    """What was done with a block, or with the blocks of a kernel."""
    noted = op.attributes.get(SCHEDULED)
    entries = noted.data if isinstance(noted, ArrayAttr) else (noted,)
    return [entry.data for entry in entries if isinstance(entry, ScheduleAttr)]


def keep_done(kernel: Operation, sources: Iterable[Operation]) -> None:
    """Note on a kernel what was done with the blocks or kernels that it is made of."""
    done = dict.fromkeys(each for source in sources for each in done_with(source))
    if done:
        kernel.attributes[SCHEDULED] = ArrayAttr([ScheduleAttr(each) for each in done])
