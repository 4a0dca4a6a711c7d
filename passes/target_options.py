"""What the passes want to know of a device, apart from the passes that ask."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..targets.hardware import Hardware, load_hardware


@dataclass(frozen=True)
class TargetOptions:
    """What the passes want to know of a device."""

    hardware: Hardware = field(default_factory=lambda: load_hardware("cpu-avx512"))
    """Its figures."""
    lane_bits: int = 32
    """The width of what a work-item that is a lane computes with, in bits."""
    unsupported: tuple[str, ...] = ()
    """The element types that it does not compute with, such as "f64"."""
    functions: tuple[str, ...] = ()
    """The functions of f32 that its runtime computes slowly or badly, such as "exp"."""
    vectorizes_loops: bool = False
    """Whether its compiler makes vectors of the steps of loops where nothing forbids
    it, as those of CPUs do, whatever the hardware is that kernels are made for."""
    device: str = ""
    """What errors call it."""
    recall: tuple[tuple[str, str], ...] = ()
    """The options of `stripe-recall`; without any there are no measured decisions."""

    @property
    def vector_bits(self) -> int:
        """The width of the vectors that a work-item computes with, in bits."""
        return (
            self.hardware.vector_bits if self.hardware.has_vectors else self.lane_bits
        )

    def with_vectors(self, bits: int = 0, registers: int = 0) -> TargetOptions:
        """The same with other vectors; 0 leaves a figure as it is.

        Raises ValueError for such as no device has.
        """
        width, lane = (bits, 0) if self.hardware.has_vectors else (0, bits)
        hardware = self.hardware.with_vectors(width, registers)
        return replace(self, hardware=hardware, lane_bits=lane or self.lane_bits)
