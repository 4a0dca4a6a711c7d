"""Errors that point at the operation that has no meaning for its values."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation, SSAValue

from ...errors import GinghamError, SourceLocation


class UnknownOperationError(GinghamError):
    """The interpreter does not know an operation, which may be right all the same."""


def fault(op: Operation, message: str, hint: str | None = None) -> GinghamError:
    """An error with the source location of an operation."""
    place = op.location
    if not isinstance(place, FileLineColLoc):
        return GinghamError(message, None, hint)
    location = SourceLocation(place.filename.data, place.line.data, place.column.data)
    return GinghamError(message, location, hint)


def display(value: SSAValue) -> str:
    """The name of a value in a message; values without one have no name to show."""
    return f"%{value.name_hint}" if value.name_hint else "a value without a name"


def display_sizes(sizes: tuple[int, ...]) -> str:
    """Sizes as in a type: `64x32`, or `()` for a single element."""
    return "x".join(map(str, sizes)) or "()"
