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
    wall: float
    """Seconds that a user waits."""
    driver_wall: float
    """Those of them after the passes, until all kernels are built and loaded."""
    helpers: float
    """Processor time of the processes that help to build."""
    megabytes: float
    """The most memory that the process held."""

    @property
    def total(self) -> float:
        """Processor time of the process."""
        return sum(self.seconds.values())

    @property
    def own(self) -> float:
        """Without the device's compiler."""
        return self.total - self.seconds.get(DRIVER, 0.0)
