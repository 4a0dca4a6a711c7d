"""Tile text to the syntax tree.

`parse` reads a whole source; every mistake is one `GinghamError` that points into it.
The grammar is `tile.lark`; the parser is made on first use and kept.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ..errors import GinghamError
from ..limits import LARGEST_INTEGER, LONGEST_NAME, MOST_NESTED, MOST_TOKENS
from .diagnostics import syntax_error
from .mistake import CHARACTER, CLOSING, Lexeme, Mistake
from .source import Source
from .syntax import Span, SyntaxTree

if TYPE_CHECKING:
    from lark import Lark, Token, UnexpectedCharacters


def parse(text: str, file: str = "<string>") -> SyntaxTree:
    """The syntax tree of a Tile source: a function, or a form that stands alone.

    A byte order mark at the beginning is skipped; CR LF, CR and LF end a line. Raises
    GinghamError at the first mistake.
    """
    return parse_source(Source.of(text, file))


def parse_source(source: Source) -> SyntaxTree:
    """As `parse`, for a source at hand."""
    from lark import UnexpectedCharacters, UnexpectedToken

    # Any: lark's annotations of its interactive parser are partial.
    cursor: Any = cast(Any, _lark()).parse_interactive(source.text)
    token: Token
    previous: Token | None = None
    opened: list[Lexeme] = []
    try:
        tokens = cursor.lexer_thread.lex(cursor.parser_state)
        for number, token in enumerate(tokens):
            if number >= MOST_TOKENS:
                raise _too_long(_lexeme(token), source)
            _check(token, opened, source)
            cursor.feed_token(token)
            previous = token
        return cursor.feed_eof(previous)
    except UnexpectedToken as error:
        found = _lexeme(cast("Token", cast(Any, error).token))
    except UnexpectedCharacters as error:
        found = _character(error, source)
    last = _lexeme(previous) if previous is not None else None
    if found.kind == "$END" and last is not None:
        found = Lexeme(found.kind, "", last.after)
    accepted = frozenset(cursor.accepts())
    innermost = opened[-1] if opened else None
    raise syntax_error(Mistake(source, found, last, accepted, innermost))


@cache
def _lark() -> Lark:
    from .parser_tables import load_parser
    from .transformer import SyntaxBuilder

    return load_parser(SyntaxBuilder())


def _lexeme(token: Token) -> Lexeme:
    # The end of an empty text is a token without a place.
    start, line, column = token.start_pos or 0, token.line or 1, token.column or 1
    span = Span(line, column, start, start + len(token))
    return Lexeme(token.type, str(token), span)


def _character(error: UnexpectedCharacters, source: Source) -> Lexeme:
    start: int = cast(Any, error).pos_in_stream or 0
    span = Span(error.line, error.column, start, start + 1)
    return Lexeme(CHARACTER, source.text[start : start + 1], span)


def _check(token: Token, opened: list[Lexeme], source: Source) -> None:
    """Refuse numbers that have no value here, endless names and endless nesting.

    Keeps `opened`, the brackets that are not closed, up to date.
    """
    if token.type in CLOSING:
        opened.append(_lexeme(token))
        if len(opened) > MOST_NESTED:
            raise _nested_too_deep(opened[-1], source)
    elif opened and token.type == CLOSING[opened[-1].kind]:
        opened.pop()
    elif len(token) > LONGEST_NAME and token.type in ("ID", "IDXID"):
        raise source.error(
            f"expected a name of at most {LONGEST_NAME} characters, got {len(token)}",
            _lexeme(token).span,
        )
    elif token.type == "INT":
        _check_integer(_lexeme(token), source)
    elif token.type == "FLOAT" and float(token) == float("inf"):
        raise source.error(
            "the number is too large", _lexeme(token).span, "a float goes up to 1.8e308"
        )


def _too_long(token: Lexeme, source: Source) -> GinghamError:
    return source.error(
        f"expected at most {MOST_TOKENS} words, numbers and signs in a program",
        token.span,
    )


def _nested_too_deep(bracket: Lexeme, source: Source) -> GinghamError:
    return source.error(
        f"expected at most {MOST_NESTED} brackets inside each other",
        bracket.span,
        "give the inner part a name in a statement of its own",
    )


def _check_integer(number: Lexeme, source: Source) -> None:
    digits = number.text.lstrip("0")
    # Python refuses to convert very long numbers, so the length is looked at first.
    if len(digits) > len(str(LARGEST_INTEGER)) or int(digits or "0") > LARGEST_INTEGER:
        raise source.error(
            "the integer does not fit 64 bits",
            number.span,
            f"an integer goes up to {LARGEST_INTEGER}; as a float, write "
            f"{number.text[:20]}{'...' if len(number.text) > 20 else ''}.0",
        )
