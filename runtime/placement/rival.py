"""Whether another way than the one that is used is faster, beyond chance."""

from __future__ import annotations

import math

GAIN = 0.05
"""The part of the time that several devices have to save, against a single one."""
LEAST_GAIN = 0.02
"""The same for one device against another, for less it is not worth to change; what
several devices save no longer when they are left for one."""
_DIFFERENCE = 0.05
"""What should be told from chance at least, as a part of the time."""
WON, LOST = 4.0, -2.0
"""How far a rival has to be ahead, and how far behind nothing more is counted."""
_MOST_STEP = 2.0
"""One pair does not decide, but a clear one says that a way is not worth another."""
_NOISE, _LEAST_NOISE = 0.1, 0.03
"""By what parts pairs are believed to differ by chance: before any was seen, and at
least."""
_WEIGHT = 0.25
"""Of the latest pair in what is believed of their noise."""
_MEAN_DIFFERENCE = 2 / math.sqrt(math.pi)
"""Of two values that are normally distributed, in standard deviations."""


class Rival:
    """How far a way is ahead of the one that is used, by turns that both had in pairs.

    What comes upon a machine for a while comes upon both turns of a pair, so only pairs
    are compared. A pair adds the logarithm of how much likelier it is if the rival
    saves more than it has to, by some difference, than if it saves less, for pairs that
    vary by chance as those before did. The sum falls no lower than `LOST`, so that a
    change is seen soon, and at `WON` the rival is the faster one: a cumulative sum test
    (Page, Continuous Inspection Schemes, 1954).
    """

    def __init__(self) -> None:
        self.lead = 0.0
        self._noise = _NOISE
        self._before: float | None = None

    def note(self, used: float, own: float, least_gain: float) -> None:
        """Note a pair of turns, by the seconds of a call.

        `least_gain` is the part of the time that the rival has to save; below zero, the
        one that it may lose.
        """
        gain = math.log(used / own)
        if self._before is not None:
            seen = abs(gain - self._before) / _MEAN_DIFFERENCE
            self._noise += _WEIGHT * (min(seen, 3 * self._noise) - self._noise)
        self._before = gain
        noise = max(self._noise, _LEAST_NOISE)
        # Through much noise only large differences can be told soon.
        difference = max(_DIFFERENCE, noise / 2)
        step = 2 * difference * (gain + math.log(1 - least_gain)) / noise**2
        self.lead += min(max(step, -_MOST_STEP), _MOST_STEP)
        self.lead = max(self.lead, LOST)
