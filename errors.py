"""Errors that a user sees: a message, where it points, and what to do about it.

Every layer may raise `GinghamError`; the tools print `render()` and exit with status 1.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

_LONGEST_EXCERPT = 400
"""Characters of a source line that are shown; generated programs have longer ones."""

_NOT_THE_USERS = (__name__.split(".", maxsplit=1)[0], "contextlib", "xdsl")
"""Packages whose lines say nothing to a user who is warned."""


_LONGEST_MESSAGE = 4000
"""Characters of a message that are shown; names may be as long as a file."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What a terminal obeys and does not show: controls, marks that turn or hide text."""


def visible(text: object) -> str:
    r"""A text with all that a terminal would obey as an escape, `\x1b`, `\u202e`.

    Names and paths of a user or a file are printed so. Lines and tabs stay.
    """
    return _HIDDEN.sub(_escape, str(text))


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _in_a_line(text: str) -> str:
    """A name that must not look like further lines."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def message_text(message: str) -> str:
    """A message as it is shown: visible, and without the middle of a very long one."""
    if len(message) > _LONGEST_MESSAGE:
        part = _LONGEST_MESSAGE // 2
        message = f"{message[:part]} [...] {message[-part:]}"
    return visible(message)


@dataclass(frozen=True)
class SourceLocation:
    """A place in a source text: `line` and `column` count from 1.

    `text` is the whole source when it is at hand, so that the line can be shown;
    `length` is the number of characters that the caret underlines.
    """

    file: str
    line: int
    column: int
    text: str | None = None
    length: int = 1

    def __str__(self) -> str:
        return f"{_in_a_line(self.file)}:{self.line}:{self.column}"

    def excerpt(self) -> str | None:
        """The source line with a caret below it, or None when the text is unknown.

        Of a very long line only the part around the place is shown.
        """
        if self.text is None:
            return None
        lines = self.text.split("\n")
        if not 1 <= self.line <= len(lines):
            return None
        line = "".join(
            character if character.isprintable() or character == "\t" else "\ufffd"
            for character in lines[self.line - 1].rstrip("\r")
        )
        first = 0
        if len(line) > _LONGEST_EXCERPT:
            first = max(self.column - 1 - _LONGEST_EXCERPT // 2, 0)
            line = line[first : first + _LONGEST_EXCERPT]
        # Tabs before the caret are kept, so that it lines up in any terminal.
        before = line[: self.column - 1 - first]
        padding = "".join("\t" if character == "\t" else " " for character in before)
        underline = "^" + "~" * (min(self.length, len(line) - len(before)) - 1)
        return f"{line}\n{padding}{underline}"


class GinghamError(Exception):
    """A mistake in what the user gave us: source text, IR, arguments or device.

    `message` says what is wrong in the user's own terms, `location` where, and `hint`
    what would be right.
    """

    def __init__(
        self,
        message: str,
        location: SourceLocation | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def render(self) -> str:
        """The error as `file:line:col: error: ...`, the line with a caret, the hint."""
        prefix = f"{self.location}: " if self.location is not None else ""
        parts = [f"{prefix}error: {message_text(self.message)}"]
        excerpt = self.location.excerpt() if self.location is not None else None
        if excerpt is not None:
            parts.append(excerpt)
        if self.hint is not None:
            parts.append(f"hint: {message_text(self.hint)}")
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.render()


def again(error: GinghamError) -> GinghamError:
    """The same error to be raised once more, maybe in another thread."""
    copy = GinghamError(error.message, error.location, error.hint)
    copy.__cause__ = error
    return copy


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something, at the line of the user's code that led to it."""
    import inspect

    level, frame = 1, inspect.currentframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.split(".", maxsplit=1)[0] not in _NOT_THE_USERS:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message_text(message), category, stacklevel=level)
