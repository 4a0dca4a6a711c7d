"""The texts that locations point into, and the way from xDSL's locations to ours."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.lexer import Span

from ...errors import SourceLocation

MAXIMUM_SIZE = 16 * 1024 * 1024
"""Bytes of a file that a location names, up to which its line is shown."""


@dataclass
class Sources:
    """The source texts by file name, read when an error first points into them."""

    texts: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def text_of(self, file: str) -> str | None:
        """The text of a file, or None when it is not at hand."""
        if file not in self.texts:
            self.texts[file] = _read_text(file)
        return self.texts[file]

    def at(self, file: str, line: int, column: int, length: int = 1) -> SourceLocation:
        """A place in a file, with the file's text."""
        return SourceLocation(file, line, column, self.text_of(file), max(length, 1))

    def of_span(self, span: Span[str] | Span[bytes]) -> SourceLocation:
        """The place of a part of a parsed text.

        At the end of the text, this is the place just behind the last word.
        """
        content = span.input.content
        start = span.start if content[span.start :].strip() else len(content.rstrip())
        file, line, column = replace(span, start=start).get_location()
        return self.at(file, line, column, span.end - start)

    def of_attribute(self, location: Attribute) -> SourceLocation | None:
        """The first place that a location attribute names, or None."""
        match location:
            case FileLineColLoc():
                line, column = location.line.data, location.column.data
                return self.at(location.filename.data, line, column)
            case NameLoc():
                return self.of_attribute(location.location)
            case CallSiteLoc():
                return self.of_attribute(location.callee)
            case FusedLoc():
                return self._first(location.locations)
            case _:
                return None

    def of_operation(self, op: Operation) -> SourceLocation | None:
        """Where an operation comes from, or else the closest one around it."""
        around: Operation | None = op
        while around is not None:
            place = self.of_attribute(around.location)
            if place is not None:
                return place
            around = around.parent_op()
        return None

    def _first(self, locations: Attribute) -> SourceLocation | None:
        if not isinstance(locations, ArrayAttr):
            return None
        places = map(self.of_attribute, locations)
        return next((place for place in places if place is not None), None)


def _read_text(file: str) -> str | None:
    """The text of a file that a location names; the file may be anything."""
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > MAXIMUM_SIZE:
            return None
        with open(file, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, ValueError):
        return None
