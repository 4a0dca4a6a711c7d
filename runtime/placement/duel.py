"""Whether another way than the one that is used is faster, beyond chance."""

from __future__ import annotations

from collections.abc import Sequence

GAIN = 0.05
"""The part of the time that another way, or several devices, have to save."""
ENOUGH = 2
"""The calls of a turn that count."""
_BEHIND, _AHEAD = 2, 4
_MOST_PAIRS = 16


class Duel:
    """Turns of the way that is used and of one that may be faster, in pairs.

    One that saves `GAIN` in a turn is a step ahead. The rival has to be four steps
    ahead, and has lost when it is two behind: a sequential test (Wald, Sequential
    Analysis, 1947), so that chance seldom decides, and what is slower is left soon.
    """

    def __init__(self, used: str, rival: str) -> None:
        self.used = used
        self.rival = rival
        self.runs: dict[str, list[float]] = {used: [], rival: []}

    @property
    def turn(self) -> str:
        """Whose turn it is."""
        used, rival = (len(each) // ENOUGH for each in self.runs.values())
        return self.used if used <= rival else self.rival

    @property
    def is_won(self) -> bool:
        """Whether the rival is the faster one."""
        return self.lead >= _AHEAD

    @property
    def lead(self) -> int:
        """How many steps the rival is ahead."""
        used, rival = map(_best_of_turns, self.runs.values())
        pairs = zip(used, rival, strict=False)
        return sum(1 if b < (1 - GAIN) * a else -1 for a, b in pairs)

    @property
    def is_over(self) -> bool:
        """Whether it is decided, or takes too long."""
        is_even = len(self.runs[self.rival]) >= ENOUGH * _MOST_PAIRS
        return is_even or not -_BEHIND < self.lead < _AHEAD


def _best_of_turns(runs: Sequence[float]) -> list[float]:
    starts = range(0, len(runs) - ENOUGH + 1, ENOUGH)
    return [min(runs[start : start + ENOUGH]) for start in starts]
