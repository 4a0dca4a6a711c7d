"""A way to run a block, with what it is predicted to take: what decisions are among."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects.stripe.schedule import Schedule
from ...clock import Estimate


@dataclass(frozen=True)
class Candidate:
    """One way to run a block."""

    estimate: Estimate
    """The predicted time of all cores together."""
    schedule: Schedule
    """What makes the passes build it, with the reason."""

    @property
    def seconds(self) -> float:
        """The predicted seconds."""
        return self.estimate.seconds
