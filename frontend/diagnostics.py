"""Syntax errors in the user's words: what was expected, and the fix where it is known.

The parser hands over a `Mistake`: what it met, what came before and what it would have
accepted. `hints.py` knows the common mistakes; this file words the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import GinghamError
from .source import Source
from .syntax import Span

END = "$END"
"""The kind of the end of the text."""

CHARACTER = "CHARACTER"
"""The kind of a character that begins no token."""

CLOSING = {"LPAR": "RPAR", "LSQUARE": "RSQUARE", "LBRACE": "RBRACE"}
KEYWORDS = frozenset(
    {"FUNCTION", "POLYNOMIAL", "EXPRESSION", "CONTRACTION", "DEFAULT", "NO_DEFRACT"}
)
COMPARISONS = frozenset(
    {"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"}
)
AGGREGATIONS = frozenset({"PLUS", "TIMES", "GREATER", "LESS", "ASSIGN"})
ARITHMETIC = frozenset({"PLUS", "MINUS", "TIMES", "SLASH"})
OPERATORS = (
    ARITHMETIC
    | COMPARISONS
    | {"SHIFT_LEFT", "SHIFT_RIGHT", "AMPERSAND", "PIPE", "CARET", "QUESTION"}
)
EXPRESSION_STARTS = frozenset({"INT", "FLOAT", "ID", "IDXID", "MINUS", "TILDE", "LPAR"})
POLYNOMIAL_STARTS = frozenset({"INT", "ID", "IDXID", "MINUS", "LPAR"})
STATEMENT_STARTS = frozenset({"ID", "ATTRIBUTE_OPEN"})

_WORDS = {
    "SEMICOLON": "';'",
    "RPAR": "')'",
    "RSQUARE": "']'",
    "RBRACE": "'}'",
    "ATTRIBUTE_CLOSE": "']]'",
    "LPAR": "'('",
    "LSQUARE": "'['",
    "LBRACE": "'{'",
    "ASSIGN": "'='",
    "ARROW": "'->'",
    "COMMA": "','",
    "COLON": "':'",
    "QUESTION": "'?'",
    "PLUS": "'+'",
    "TIMES": "'*'",
    "EQUAL": "'=='",
    "LESS": "'<'",
    "FUNCTION": "'function'",
    "POLYNOMIAL": "'polynomial'",
    "EXPRESSION": "'expression'",
    "CONTRACTION": "'contraction'",
    "DEFAULT": "'default'",
    "NO_DEFRACT": "'no_defract'",
    "ID": "a name that begins with a capital letter",
    "IDXID": "a name that begins with a lower-case letter",
    END: "the end of the file",
}
"""What the user calls a kind of token, in the order of mention."""


@dataclass(frozen=True)
class Lexeme:
    """A piece of the text and its kind: a terminal of `tile.lark`, END or CHARACTER."""

    kind: str
    text: str
    span: Span

    @property
    def after(self) -> Span:
        """The place just behind it."""
        length = self.span.end - self.span.start
        return Span(
            self.span.line, self.span.column + length, self.span.end, self.span.end
        )

    def __str__(self) -> str:
        if self.kind == END:
            return "the end of the file"
        if self.kind in KEYWORDS:
            return f"the keyword '{self.text}'"
        if not self.text.isprintable():
            return " ".join(f"U+{ord(character):04X}" for character in self.text)
        return f"'{self.text}'"


@dataclass(frozen=True)
class Mistake:
    """Where the parser stopped.

    `found` can not follow `previous` (None at the beginning); a token of a kind in
    `accepted` could. `opened` is the innermost bracket that is not closed.
    """

    source: Source
    found: Lexeme
    previous: Lexeme | None
    accepted: frozenset[str]
    opened: Lexeme | None

    @property
    def following(self) -> str:
        """The text behind `found`."""
        return self.source.text[self.found.span.end :]

    def takes_only(self, *kinds: str) -> bool:
        """Whether exactly these kinds could have stood there."""
        return self.accepted == frozenset(kinds)

    @property
    def takes_expression(self) -> bool:
        """Whether an expression may start here."""
        return {"FLOAT", "ID", "LPAR"} <= self.accepted

    @property
    def takes_operator(self) -> bool:
        """Whether an expression ends here that an operator could continue."""
        return self.accepted >= ARITHMETIC and not self.takes_expression

    @property
    def is_new_line(self) -> bool:
        """Whether `found` stands on a later line than what came before."""
        return (
            self.previous is not None and self.found.span.line > self.previous.span.line
        )

    def error(
        self, message: str, hint: str | None = None, span: Span | None = None
    ) -> GinghamError:
        """The error for the user, at `found` unless another place is given."""
        return self.source.error(message, span or self.found.span, hint)


def one_of(words: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def expectation(accepted: frozenset[str]) -> str:
    """What could have stood there, in the user's words."""
    rest = set(accepted)
    words: list[str] = []
    if {"FLOAT", "ID", "LPAR"} <= rest:
        words.append("an expression")
        rest -= EXPRESSION_STARTS
    elif {"INT", "IDXID", "LPAR"} <= rest:
        words.append("an index expression")
        rest -= POLYNOMIAL_STARTS
    elif rest >= STATEMENT_STARTS:
        words.append("a statement")
        rest -= STATEMENT_STARTS
    elif rest >= AGGREGATIONS and not rest >= ARITHMETIC:
        words.append("an aggregation ('+', '*', '>', '<' or '=')")
        rest -= AGGREGATIONS
    elif rest >= ARITHMETIC:
        words.append("an operator")
        # What else could continue a name or a number here says little.
        rest -= OPERATORS | {"LPAR", "IDXID"}
    known = [text for kind, text in _WORDS.items() if kind in rest]
    closers = [text for text in known if text in ("';'", "')'", "']'", "'}'")]
    others = [text for text in known if text not in closers]
    return one_of([*closers, *words, *others]) if words or known else "something else"


def syntax_error(mistake: Mistake) -> GinghamError:
    """The error that tells the user of a mistake."""
    from .hints import known_mistake

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
        f"expected {_WORDS[closing]}, got {found}",
        f"the {opened} at {place} is not closed",
        previous.after if is_end else found.span,
    )
