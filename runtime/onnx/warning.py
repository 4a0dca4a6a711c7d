"""The warning that some of a model does not run on the device."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import warn
from .parts import HostStep

_MOST_NAMED = 5


class HostWarning(UserWarning):
    """Nodes of a model run on the host, which is slow, as no device can."""


def warn_of(steps: Sequence[HostStep]) -> None:
    """Warn once of what runs on the host, with the reasons."""
    named = [f"{step.label}: {step.reason}" for step in steps[:_MOST_NAMED]]
    more = len(steps) - len(named)
    if more:
        named.append(f"and {more} more, which `report` lists")
    count = "a node" if len(steps) == 1 else f"{len(steps)} nodes"
    warn(f"{count} of the model run on the host: {'; '.join(named)}", HostWarning)
