"""What is measured in one go, and what comes of it, as texts that any process takes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Job:
    """Decisions about one leaf of a unit, to be measured on a device."""

    device: str
    """The name of the device."""
    ir: str
    """The unit before anything is decided."""
    passes: str
    """The pipeline from there on."""
    leaf: int
    """The number of the leaf that the decisions are about."""
    decisions: tuple[str, ...]
    """A schedule each, as text."""
    seconds: float
    """How long each is measured."""
    time_limit: float
    """Seconds after which one is given up."""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    """Variables of the environment that the measuring process is given."""

    def rest(self, start: int) -> Job:
        """The job without the first decisions."""
        return replace(self, decisions=self.decisions[start:])

    def to_json(self) -> str:
        """One line, for a worker that may run on another machine."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        """The job that `to_json` wrote."""
        values: dict[str, Any] = json.loads(text)
        values["decisions"] = tuple(values["decisions"])
        return Job(**values)


@dataclass(frozen=True)
class Outcome:
    """What measuring one decision gave."""

    status: str
    """`ok`, `wrong`, `error`, `crash` or `timeout`, as in records; or `lost` where it
    was not measured, for a reason that has nothing to do with the decision."""
    seconds: float | None = None
    """The fastest run."""
    model_seconds: float | None = None
    """The same of the model's own choice."""
    message: str = ""

    def to_json(self) -> str:
        """One line, as a worker answers."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Outcome:
        """The outcome that `to_json` wrote; ValueError or TypeError for other texts."""
        values: Any = json.loads(text)
        return Outcome(**values)
