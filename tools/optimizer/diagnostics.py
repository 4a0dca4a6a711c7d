"""What the user is told: errors, warnings and notes with their place in the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ...errors import GinghamError, SourceLocation, message_text


class Severity(StrEnum):
    """How bad it is, spelled as in the message."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One message to the user; its notes say more about other places."""

    severity: Severity
    message: str
    location: SourceLocation | None = None
    hint: str | None = None
    notes: tuple[Diagnostic, ...] = ()

    @staticmethod
    def of(error: GinghamError) -> Diagnostic:
        """The diagnostic that tells of an error."""
        notes = error.notes if isinstance(error, ToolError) else ()
        return Diagnostic(
            Severity.ERROR, error.message, error.location, error.hint, notes
        )

    def render(self) -> str:
        """The text `file:line:col: severity: message`, source line, hint and notes."""
        place = f"{self.location}: " if self.location is not None else ""
        parts = [f"{place}{self.severity}: {message_text(self.message)}"]
        excerpt = self.location.excerpt() if self.location is not None else None
        if excerpt is not None:
            parts.append(excerpt)
        if self.hint is not None:
            parts.append(f"hint: {message_text(self.hint)}")
        parts.extend(note.render() for note in self.notes)
        return "\n".join(parts)


class ToolError(GinghamError):
    """A user error with notes about other places that matter for it."""

    def __init__(
        self,
        message: str,
        location: SourceLocation | None = None,
        hint: str | None = None,
        notes: Iterable[Diagnostic] = (),
    ) -> None:
        super().__init__(message, location, hint)
        self.notes = tuple(notes)


class ValidationError(ToolError):
    """A pass that changes what the program computes; a note names the reproducer."""


class InternalError(ToolError):
    """A defect of `owner`, met by the user; `__cause__` is what was raised."""

    def __init__(
        self,
        message: str,
        location: SourceLocation | None = None,
        owner: str = "the compiler",
    ) -> None:
        super().__init__(message, location)
        self.owner = owner


def note(message: str, location: SourceLocation | None = None) -> Diagnostic:
    """A note to attach to an error."""
    return Diagnostic(Severity.NOTE, message, location)
