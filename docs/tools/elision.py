"""Texts with `...` for what a page does not show.

Inside a line `...` stands for any characters; a line that is only `...` stands for any
number of lines.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

ELISION = "..."


def matches(shown: Sequence[str], actual: Sequence[str]) -> bool:
    """Whether a page shows these lines, apart from what it elides."""
    # The lines of `actual` at which the lines of `shown` so far may end.
    ends = {0}
    for line in shown:
        if _is_elision(line):
            ends = set(range(min(ends, default=len(actual) + 1), len(actual) + 1))
        else:
            ends = {
                end + 1
                for end in ends
                if end < len(actual) and _line_matches(line, actual[end])
            }
    return len(actual) in ends


def updated(shown: Sequence[str], actual: Sequence[str]) -> list[str]:
    """`actual`, elided as `shown` is where the two still correspond.

    The correspondence is the cheapest one: an elided run of lines costs nothing, a
    line less the more it resembles the one that was shown, and a line without a
    counterpart 1. What was added next to an elided run is taken to belong to it.
    """
    rows, columns = len(shown) + 1, len(actual) + 1
    cost = [[0.0] * columns for _ in range(rows)]
    text: list[list[list[str]]] = [[[] for _ in range(columns)] for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if row or column:
                cost[row][column], text[row][column] = min(
                    _last_steps(shown, actual, row, column, cost, text),
                    key=lambda step: step[0],
                )
    return text[-1][-1]


def _last_steps(
    shown: Sequence[str],
    actual: Sequence[str],
    row: int,
    column: int,
    cost: list[list[float]],
    text: list[list[list[str]]],
) -> list[tuple[float, list[str]]]:
    """The ways to bring `row` shown lines together with `column` actual ones."""
    steps: list[tuple[float, list[str]]] = []
    old = shown[row - 1] if row else ""
    is_elision = row > 0 and _is_elision(old)
    if row and column and not is_elision:
        change, line = _replacement(old, actual[column - 1])
        before = text[row - 1][column - 1]
        steps.append((cost[row - 1][column - 1] + change, [*before, line]))
    if row:
        # An elision may stand for nothing; another line has gone.
        kept = [old] if is_elision else []
        price = 0 if is_elision else 1
        steps.append((cost[row - 1][column] + price, [*text[row - 1][column], *kept]))
    if column:
        price = 0 if is_elision else 1
        added = [] if is_elision else [actual[column - 1]]
        steps.append((cost[row][column - 1] + price, [*text[row][column - 1], *added]))
    return steps


def _replacement(old: str, new: str) -> tuple[float, str]:
    """What it costs that `new` stands where `old` stood, and the line to show."""
    if _line_matches(old, new):
        return 0, old
    return 1 - difflib.SequenceMatcher(None, old, new).ratio() / 2, new


def _is_elision(line: str) -> bool:
    return line.strip() == ELISION


def _line_matches(shown: str, actual: str) -> bool:
    if ELISION not in shown:
        return shown == actual
    pattern = ".*".join(re.escape(part) for part in shown.split(ELISION))
    return re.fullmatch(pattern, actual) is not None
