"""Names that the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

_LONGEST = 40
_MOST = 1000
"""Longer names, and those after so many, are not compared: that would take seconds."""

_MOST_NAMED = 3
_LEAST_LIKE = 0.6
"""Of difflib's measure, which is 1 for the same name."""
_LESS_LIKE = 0.12
"""How much less alike than the closest name the others may be."""

_SHORTEST_ABBREVIATION = 3


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The hint `did you mean 'x'?` for a name that is not among the known ones.

    It has up to three that are about as close; None when none is. The case of
    characters does not matter, and three and more may stand for a name that begins with
    them.
    """
    close = _close_names(name, known)
    return f"did you mean {alternatives(close)}?" if close else None


def alternatives(names: Sequence[str]) -> str:
    """Names as `'a', 'b' or 'c'`."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _close_names(name: str, known: Iterable[str]) -> list[str]:
    # Imported here as it takes time that only an error should cost.
    from difflib import SequenceMatcher

    if len(name) > _LONGEST:
        return []
    typed = name.casefold()
    likeness: dict[str, float] = {}
    matcher = SequenceMatcher(b=typed)
    for candidate in islice(known, _MOST):
        other = candidate.casefold()
        if len(other) > _LONGEST:
            continue
        matcher.set_seq1(other)
        alike = matcher.ratio()
        if len(typed) >= _SHORTEST_ABBREVIATION and other.startswith(typed):
            alike = max(alike, _LEAST_LIKE)
        if alike >= _LEAST_LIKE:
            likeness[candidate] = alike
    least = max(likeness.values(), default=0.0) - _LESS_LIKE
    close = [each for each in likeness if likeness[each] >= least]
    return sorted(close, key=lambda each: -likeness[each])[:_MOST_NAMED]
