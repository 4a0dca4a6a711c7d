"""Where operations and values come from in the user's program."""

from __future__ import annotations

from functools import lru_cache
from io import StringIO

from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, LocationAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.printer import Printer

from ..errors import GinghamError, SourceLocation


def source_location(origin: Operation | SSAValue) -> SourceLocation | None:
    """Where an operation or value comes from; None when that is not known.

    A block's argument without a place of its own is where the block's operation is.
    """
    place = _place(origin)
    if not isinstance(place, FileLineColLoc):
        return None
    return SourceLocation(place.filename.data, place.line.data, place.column.data)


def text_with_places(op: Operation) -> str:
    """An operation as text that says where all of it is from."""
    stream = StringIO()
    _PlacePrinter(stream, print_debuginfo=True).print_op(op)
    return stream.getvalue()


class _PlacePrinter(Printer):
    """Prints types and strings, mostly names of files, again as it has before.

    xDSL's printer takes strings byte by byte.
    """

    def print_attribute(self, attribute: Attribute) -> None:
        """Print an attribute."""
        if isinstance(attribute, TypeAttribute):
            self.print_string(_type(attribute))
        else:
            super().print_attribute(attribute)

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """Print them in quotes."""
        self.print_string(_quoted(bytestring))


@lru_cache(maxsize=256)
def _type(type: Attribute) -> str:
    return str(type)


@lru_cache(maxsize=256)
def _quoted(bytestring: bytes) -> str:
    stream = StringIO()
    Printer(stream).print_bytes_literal(bytestring)
    return stream.getvalue()


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
