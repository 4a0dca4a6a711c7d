"""What is decided about a block, checked against it."""

from __future__ import annotations

from ....dialects.hints import HintedVerifyException
from ....dialects.stripe.binding import Binding, index_name
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.schedule import SCHEDULE, Schedule, schedule_of
from ....dialects.stripe.tiling import verify_bindings
from ...locations import error_at


def checked_schedule(block: BlockOp) -> Schedule:
    """What is to be done with a block. Raises GinghamError where it does not fit."""
    try:
        schedule = schedule_of(block)
        schedule.check(block)
    except HintedVerifyException as error:
        raise error_at(block, str(error), error.hint) from error
    return schedule


def check_is_applied(block: BlockOp) -> None:
    """Raise GinghamError for a block of which a part of the schedule is left."""
    for part in schedule_of(block):
        raise error_at(
            block,
            f"nothing has applied '{part}' of the schedule",
            f"{part.applied_by} does that",
        )


def check_bindings_of(block: BlockOp) -> None:
    """Raise GinghamError for indices that may not be bound so, and those of vectors.

    The latter are what `stripe-vectorize` has not made vectors of.
    """
    try:
        verify_bindings(block)
    except HintedVerifyException as error:
        raise error_at(block, str(error), error.hint) from error
    if Binding.VECTOR in block.index_bindings:
        number = block.index_bindings.index(Binding.VECTOR)
        name = index_name(block.indices[number], number)
        raise error_at(
            block,
            f"nothing has made vectors of index '{name}', which is bound to 'vector'",
            "stripe-vectorize does that",
        )


def is_scheduled(block: BlockOp) -> bool:
    """Whether anything is decided about a block, so that others leave it as it is."""
    return SCHEDULE in block.attributes


def has_tiles(block: BlockOp) -> bool:
    """Whether the tiles of a block are decided."""
    return SCHEDULE in block.attributes and bool(schedule_of(block).levels)
