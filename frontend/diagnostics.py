"""Syntax errors in the user's words: what was expected, and the fix where it is known.

The parser hands over a `Mistake`: what it met, what came before and what it would have
accepted. `hints.py` knows the common mistakes; this file words the rest.
"""

from __future__ import annotations

from ..errors import GinghamError
from .hints import known_mistake
from .mistake import CLOSING, END, STATEMENT_STARTS, WORDS, Mistake, expectation


def syntax_error(mistake: Mistake) -> GinghamError:
    """The error that tells the user of a mistake."""
    return (
        _missing_semicolon(mistake)
        or known_mistake(mistake)
        or _unclosed_bracket(mistake)
        or mistake.error(
            f"expected {expectation(mistake.accepted)}, got {mistake.found}"
        )
    )


def _missing_semicolon(mistake: Mistake) -> GinghamError | None:
    previous, found = mistake.previous, mistake.found
    if previous is None or "SEMICOLON" not in mistake.accepted:
        return None
    begins_statement = found.kind in STATEMENT_STARTS | {"IDXID"} and (
        mistake.is_new_line
    )
    ends_function = found.kind in ("RBRACE", END)
    if not (begins_statement or ends_function):
        return None
    return mistake.error(
        f"expected ';', got {found}", "end the statement with ';'", previous.after
    )


def _unclosed_bracket(mistake: Mistake) -> GinghamError | None:
    opened, found, previous = mistake.opened, mistake.found, mistake.previous
    if opened is None or previous is None:
        return None
    closing = CLOSING[opened.kind]
    if closing not in mistake.accepted:
        return None
    is_end = found.kind in (END, "SEMICOLON", "RBRACE")
    is_other = found.kind in {*CLOSING.values(), "ASSIGN"} and found.kind != closing
    if not (is_end or is_other):
        return None
    place = f"{opened.span.line}:{opened.span.column}"
    return mistake.error(
        f"expected {WORDS[closing]}, got {found}",
        f"the {opened} at {place} is not closed",
        previous.after if is_end else found.span,
    )
