"""What compiling one program took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DRIVER = "driver"
"""What the device's compiler is called among the passes."""


@dataclass(frozen=True)
class Measured:
    """What compiling one program took."""

    family: str
    statements: int
    operations: int
    """Operations on tensors that it has, gradients and all."""
    seconds: Mapping[str, float]
    """Processor time of each pass, of the verifier, of the device's compiler."""
    driver_wall: float
    """Seconds until the device's compiler was done, which may use several cores."""
    megabytes: float
    """The most memory that the process held."""

    @property
    def total(self) -> float:
        """Seconds of all passes together."""
        return sum(self.seconds.values())

    @property
    def own(self) -> float:
        """Without the device's compiler."""
        return self.total - self.seconds.get(DRIVER, 0.0)
