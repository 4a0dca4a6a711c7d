"""Taking parts out of the schedule of a block, to apply them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

from ....dialects.stripe.binding import Binding
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import Schedule, set_schedule
from ....dialects.stripe.schedule_part import Part
from ....dialects.stripe.scheduled import note_done
from ....dialects.stripe.staging import Staging
from ....dialects.stripe.tiling import Points
from ..analysis.nests import reduction_indices
from ..analysis.schedules import checked_schedule, is_scheduled

PartType = TypeVar("PartType", bound=Part)


def take_part(block: BlockOp, kind: type[PartType]) -> PartType | None:
    """Take the part of a kind, which is noted as done; None if there is none.

    Raises GinghamError where the schedule does not fit the block.
    """
    if not is_scheduled(block):
        return None
    schedule = checked_schedule(block)
    part = schedule.part(kind)
    if part is not None:
        set_schedule(block, schedule.without(kind))
        note_done(block, Schedule(parts=(part,)))
    return part


def take_stages(block: BlockOp) -> tuple[Staging, ...]:
    """Take what is to be copied, likewise."""
    schedule = checked_schedule(block)
    set_schedule(block, replace(schedule, stages=()))
    note_done(block, Schedule(stages=schedule.stages))
    return schedule.stages


def bind(
    block: BlockOp, indices: Collection[int], binding: Binding, reason: str
) -> None:
    """Bind indices of a block where they stand, and note why."""
    numbers = range(len(block.index_ranges))
    chosen = [binding if n in indices else Binding.UNDECIDED for n in numbers]
    note_done(block, Schedule(points=Points(bind=tuple(chosen), reason=reason)))
    block.set_bindings(
        binding if n in indices else own for n, own in enumerate(block.index_bindings)
    )


def take_loops(block: BlockOp) -> Schedule:
    """Take the loops of a nest, likewise: a schedule of nothing else, in normal form.

    What is left counts the blocks of that nest.
    """
    written = checked_schedule(block)
    if not written:
        return written
    normal = written.normalized(block.index_ranges, reduction_indices(block))
    set_schedule(block, replace(normal, levels=(), points=Points(), reason=""))
    # Copies count the blocks of the nest, also where they are noted.
    is_shorter = len(normal.levels) < len(written.levels)
    note_done(block, _loops_of(normal if is_shorter else written))
    return _loops_of(normal)


def take_levels(block: BlockOp, count: int) -> Schedule:
    """Take so many levels of a schedule in normal form, the outermost, likewise.

    With them comes what is copied in windows of their blocks. What is left counts the
    blocks inside from 0, and those around them down from -1.
    """
    whole = checked_schedule(block)
    whole = whole.normalized(block.index_ranges, reduction_indices(block))
    taken = Schedule(
        whole.levels[:count],
        stages=tuple([each for each in whole.stages if each.window < count]),
        reason=whole.reason,
    )
    stages = [
        replace(each, before=each.before - count, window=each.window - count)
        for each in whole.stages
        if each.window >= count
    ]
    left = replace(whole, levels=whole.levels[count:], stages=tuple(stages))
    set_schedule(block, left)
    note_done(block, replace(taken, stages=()))
    return taken


def _loops_of(schedule: Schedule) -> Schedule:
    """The parts that are about the loops of a nest, with their reason."""
    return Schedule(schedule.levels, schedule.points, reason=schedule.reason)
