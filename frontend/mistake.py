"""A mistake in Tile text: what the parser met, and what could have stood there."""

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

WORDS = {
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
    known = [text for kind, text in WORDS.items() if kind in rest]
    closers = [text for text in known if text in ("';'", "')'", "']'", "'}'")]
    others = [text for text in known if text not in closers]
    return one_of([*closers, *words, *others]) if words or known else "something else"
