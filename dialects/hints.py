"""Mistakes in IR with a hint: what would be right, for who reads the error."""

from __future__ import annotations

from typing import NoReturn

from xdsl.parser import AttrParser
from xdsl.utils.exceptions import ParseError, VerifyException


class HintedParseError(ParseError):
    """A text that is not IR, and what would be."""

    def __init__(self, error: ParseError, hint: str | None) -> None:
        super().__init__(error.span, error.msg)
        self.hint = hint


class HintedVerifyException(VerifyException):
    """IR that does not fit together, and what would."""

    def __init__(self, message: str, hint: str | None) -> None:
        super().__init__(message)
        self.hint = hint


def fail_to_parse(
    parser: AttrParser, message: str, hint: str | None, start: int, length: int = 1
) -> NoReturn:
    """Raise a HintedParseError that points at so many characters from `start` on."""
    try:
        parser.raise_error(message, start, start + length)
    except ParseError as error:
        raise HintedParseError(error, hint) from None


def hint_of(error: BaseException) -> str | None:
    """The hint of an error, if it has one."""
    is_hinted = isinstance(error, HintedParseError | HintedVerifyException)
    return error.hint if is_hinted else None
