"""What there is to say of a placement: where each unit runs, when, and why.

Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ExplainedTime:
    """The time of a unit on a device."""

    seconds: float | None
    """None where it cannot run there."""
    source: str
    """`measured`, `predicted`, or why it cannot run there."""
    correction: float
    """What the cost model's prediction was multiplied by."""


@dataclass(frozen=True)
class ExplainedUnit:
    """Operations that are placed together."""

    name: str
    place: str
    """`file:line` in the program, where it is known."""
    operations: tuple[str, ...]
    """Their results' names, or what they do."""
    device: str
    reason: str
    is_forced: bool
    times: dict[str, ExplainedTime]
    """By the names of devices."""
    bytes_in: int
    """What is copied from elsewhere before it can run."""
    transfer_seconds: float
    """How long those copies take, each by itself."""
    start: float
    end: float
    moved: dict[str, float | None]
    """For each other device the time of the whole program with only this unit there;
    None where that is not possible."""

    @property
    def short_place(self) -> str:
        """The place without the folder."""
        return self.place.rpartition("/")[2]


@dataclass(frozen=True)
class ExplainedTensor:
    """A value that units exchange, an input or a result."""

    name: str
    size_bytes: int
    source: int | None
    """The number of the unit that computes it; None for an input."""
    users: tuple[int, ...]
    homes: tuple[str, ...]
    """Where an input is before."""
    end: str | None
    """Where a result has to be in the end."""
    is_result: bool
    is_constant: bool
    """Whether it is copied in the first run only."""


@dataclass(frozen=True)
class ExplainedTransfer:
    """A copy from one place to another."""

    tensor: int
    source: str
    target: str
    start: float
    end: float


@dataclass(frozen=True)
class ExplainedDevice:
    """What a device does in a run."""

    name: str
    busy_seconds: float
    units: int
    peak_bytes: int
    memory_bytes: int
    load: float


@dataclass(frozen=True)
class ExplainedAlternative:
    """Another placement of the whole."""

    name: str
    seconds: float | None
    """None where it is not possible."""
    is_chosen: bool


@dataclass(frozen=True)
class Explained:
    """A decision and what it was made by."""

    seconds: float
    """From the start of a run to its last result."""
    reason: str
    devices: tuple[ExplainedDevice, ...]
    units: tuple[ExplainedUnit, ...]
    tensors: tuple[ExplainedTensor, ...]
    transfers: tuple[ExplainedTransfer, ...]
    alternatives: tuple[ExplainedAlternative, ...]

    def as_json(self) -> dict[str, Any]:
        """All of it as what the module `json` writes."""
        return asdict(self)
