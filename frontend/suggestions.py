"""Names that the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_LONGEST = 40
_MOST = 1000
"""Longer names, and those after so many, are not compared: that would take seconds."""

_SHORTEST_ABBREVIATION = 3


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The hint that names the closest of the known names; None when none is close.

    As in GCC, a third of the characters may be wrong; their case does not matter.
    Three and more may stand for a name that begins with them.
    """
    typed = name.casefold()
    close: dict[str, int] = {}
    for candidate in islice(known, _MOST):
        other = candidate.casefold()
        longest = max(len(typed), len(other))
        if longest > _LONGEST:
            continue
        most = max(longest // 3, 1) if longest > 1 else 0
        is_short_for = len(typed) >= _SHORTEST_ABBREVIATION and other.startswith(typed)
        edits = most if is_short_for else _edits(typed, other)
        if edits <= most:
            close[candidate] = edits
    return f"did you mean '{min(close, key=close.__getitem__)}'?" if close else None


def _edits(first: str, second: str) -> int:
    """Characters to insert, remove, replace, or swap with the next.

    Damerau, "A technique for computer detection and correction of spelling errors",
    1964.
    """
    table = [list(range(len(second) + 1))]
    for i, one in enumerate(first, start=1):
        row = [i]
        for j, other in enumerate(second, start=1):
            edits = min(
                table[-1][j] + 1, row[-1] + 1, table[-1][j - 1] + (one != other)
            )
            if i > 1 and j > 1 and (one, first[i - 2]) == (second[j - 2], other):
                edits = min(edits, table[-2][j - 2] + 1)
            row.append(edits)
        table.append(row)
    return table[-1][-1]
