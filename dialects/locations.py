"""Where operations and values come from in the user's program."""

from __future__ import annotations

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, LocationAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ..errors import GinghamError, SourceLocation


def source_location(origin: Operation | SSAValue) -> SourceLocation | None:
    """Where an operation or value comes from; None when that is not known.

    A block's argument without a place of its own is where the block's operation is.
    """
    place = _place(origin)
    if not isinstance(place, FileLineColLoc):
        return None
    return SourceLocation(place.filename.data, place.line.data, place.column.data)


def error_at(
    origin: Operation | SSAValue, message: str, hint: str | None = None
) -> GinghamError:
    """An error that points at where `origin` comes from."""
    return GinghamError(message, source_location(origin), hint)


def _place(origin: Operation | SSAValue) -> LocationAttr:
    if isinstance(origin, Operation):
        return origin.location
    if isinstance(origin, BlockArgument) and origin.location is not UNKNOWN_LOC:
        return origin.location
    owner = (
        origin.owner
        if isinstance(origin.owner, Operation)
        else origin.owner.parent_op()
    )
    return UNKNOWN_LOC if owner is None else owner.location
