"""Sizes with known values, each with the expression that it came from, for messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dialects.eltwise.table import Function

_NAME = re.compile(r"[A-Za-z]\w*'?")
_LONGEST_EXPRESSION = 60
"""Characters; of a longer expression only the value is told."""


@dataclass(frozen=True)
class Size:
    """An integer, and how it reads in the source: `N - K + 1`.

    `text` is None where the expression is too long to help.
    """

    value: int
    text: str | None
    is_compound: bool = False
    """Whether the text needs parentheses as an operand."""

    @staticmethod
    def literal(value: int) -> Size:
        """A number that stands in the source."""
        return Size(value, str(value), value < 0)

    @property
    def operand(self) -> str | None:
        """The text as part of a larger expression."""
        return f"({self.text})" if self.text and self.is_compound else self.text


def apply(function: Function, operands: Sequence[Size]) -> Size:
    """The function of sizes; it must be one that folds."""
    if function.fold is None:
        raise TypeError(f"sizes have no function '{function.name}'")
    value = function.fold(*(size.value for size in operands))
    texts = [size.operand for size in operands]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return Size(value, None)
    if function.symbol is not None and len(known) == 2:
        text, is_compound = f" {function.symbol} ".join(known), True
        # A sum reads from left to right without parentheses.
        left = operands[0].text
        if function.name in ("add", "sub") and left is not None:
            text = f"{left} {function.symbol} {known[1]}"
    elif function.name == "neg":
        text, is_compound = f"-{known[0]}", True
    else:
        inner = ", ".join(size.text or "" for size in operands)
        text, is_compound = f"{function.name}({inner})", False
    if len(text) > _LONGEST_EXPRESSION:
        return Size(value, None)
    return Size(value, text, is_compound)


def explain(size: Size, named: Mapping[str, int]) -> str:
    """The size for a message: `N - K + 1 = -2 (N = 3, K = 6)`.

    `named` are the values of the sizes that have names.
    """
    if size.text is None or size.text == str(size.value):
        return str(size.value)
    names = [n for n in _NAME.findall(size.text) if n in named]
    where = "" if names == [size.text] else _values(size.text, named)
    return f"{size.text} = {size.value}{where}"


def explain_condition(condition: Size, named: Mapping[str, int]) -> str | None:
    """What does not hold: `N % 2 == 0 (N = 3)`; None where it is too long to help."""
    if condition.text is None:
        return None
    return f"{condition.text} does not hold{_values(condition.text, named)}"


def _values(text: str, named: Mapping[str, int]) -> str:
    """The values of the sizes that occur in a text: ` (N = 3, K = 6)`."""
    names = dict.fromkeys(n for n in _NAME.findall(text) if n in named)
    values = ", ".join(f"{name} = {named[name]}" for name in names)
    return f" ({values})" if values else ""
