"""A source text, and errors that point into it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import GinghamError, SourceLocation

if TYPE_CHECKING:
    from .syntax import Span


@dataclass(frozen=True)
class Source:
    """The text of a Tile program and the name of its file."""

    file: str
    text: str

    @staticmethod
    def of(text: str, file: str) -> Source:
        """The source of a text as read: without byte order mark, lines ended by LF."""
        unmarked = text.removeprefix("\ufeff")
        return Source(file, unmarked.replace("\r\n", "\n").replace("\r", "\n"))

    def location(self, span: Span) -> SourceLocation:
        """The place of a stretch of this source."""
        length = max(span.end - span.start, 1)
        return SourceLocation(self.file, span.line, span.column, self.text, length)

    def error(self, message: str, span: Span, hint: str | None = None) -> GinghamError:
        """An error that points at a stretch of this source."""
        return GinghamError(message, self.location(span), hint)


def read(path: str | os.PathLike[str]) -> str:
    """The text of a Tile file. Raises GinghamError when it can not be read."""
    file = os.fspath(path)
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise GinghamError(f"cannot read '{file}': {reason or error}") from error
    return decode(data, file)


def decode(data: bytes, file: str) -> str:
    """The text of a source file, which is UTF-8.

    Raises GinghamError at the first byte that is not.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        valid = Source.of(data[: error.start].decode("utf-8"), file)
        before = valid.text.rpartition("\n")[2]
        shown = Source.of(data.decode("utf-8", "replace"), file)
        line = valid.text.count("\n") + 1
        location = SourceLocation(file, line, len(before) + 1, shown.text)
        raise GinghamError(
            f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}",
            location,
            "save the file in the encoding UTF-8",
        ) from None
