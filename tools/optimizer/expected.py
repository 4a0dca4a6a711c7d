"""Compares diagnostics with the comments that describe them, for error tests.

    // expected-error @+1 {{expected a tensor}}
    // expected-warning@below {{...}}
    // expected-note @-2 {{...}}
    // expected-error @unknown {{...}}
    // expected-error-re @above {{operand #{{[0-9]+}}}}

A comment without `@` describes its own line. The text in braces has to occur in the
message; in the `-re` form, its inner parts in braces are regular expressions. Each
error has to be described, and each description has to be met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import GinghamError, SourceLocation
from .diagnostics import Diagnostic, Severity

_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)?"
    r"[ \t]*(?:@(?P<line>[+-][0-9]+|above|below|unknown))?"
    # Up to the first closing braces, in the -re form those of no inner part.
    r"[ \t]*\{\{(?P<text>(?(regex)(?:(?>\{\{.*?\}\})|(?!\}\}).)*+|.*?))\}\}"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Expectation:
    """A diagnostic that a comment describes; `line` is None for one without a place."""

    severity: str
    pattern: re.Pattern[str]
    text: str
    line: int | None
    written_at: SourceLocation

    def is_met_by(self, diagnostic: Diagnostic, file: str) -> bool:
        """Whether this describes a diagnostic for the file that holds the comment."""
        place = diagnostic.location
        line = place.line if place is not None and place.file == file else None
        return (
            self.severity == diagnostic.severity
            and self.line == line
            and self.pattern.search(" ".join(diagnostic.message.split())) is not None
        )


def expectations(text: str, file: str) -> list[Expectation]:
    """The expectations that the comments of a text hold."""
    found: list[Expectation] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for match in _COMMENT.finditer(line):
            found.append(_expectation(match, number, file, text))
    return found


def unmet(
    diagnostics: Iterable[Diagnostic], expected: Sequence[Expectation], file: str
) -> list[Diagnostic]:
    """An error for each diagnostic that is not expected, and each missing one."""
    open_expectations = list(expected)
    problems: list[Diagnostic] = []
    for diagnostic in _with_notes(diagnostics):
        met = next(
            (one for one in open_expectations if one.is_met_by(diagnostic, file)), None
        )
        if met is not None:
            open_expectations.remove(met)
        elif diagnostic.severity is not Severity.NOTE:
            problems.append(
                Diagnostic(
                    Severity.ERROR,
                    f"unexpected {diagnostic.severity}: {diagnostic.message}",
                    diagnostic.location,
                )
            )
    for one in open_expectations:
        message = f'expected {one.severity} "{one.text}" was not produced'
        problems.append(Diagnostic(Severity.ERROR, message, one.written_at))
    return problems


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes


def _expectation(
    match: re.Match[str], number: int, file: str, text: str
) -> Expectation:
    where = match["line"]
    if where is None:
        line: int | None = number
    elif where == "unknown":
        line = None
    elif where in ("above", "below"):
        line = number + (1 if where == "below" else -1)
    else:
        line = number + int(where)
    content = " ".join(match["text"].split())
    place = SourceLocation(
        file, number, match.start() + 1, text, match.end() - match.start()
    )
    try:
        pattern = _pattern(content, bool(match["regex"]))
    except re.error as error:
        raise GinghamError(f"invalid regular expression: {error}", place) from error
    return Expectation(match["severity"], pattern, content, line, place)


def _pattern(content: str, has_expressions: bool) -> re.Pattern[str]:
    if not has_expressions:
        return re.compile(re.escape(content))
    # re.split with a group gives the texts between and the groups in turn.
    parts = _INNER.split(content)
    return re.compile(
        "".join(
            f"(?:{part})" if index % 2 else re.escape(part)
            for index, part in enumerate(parts)
        )
    )
