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
    lane_registers: int = 32
    """How many registers of that width a lane may use."""
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

    @property
    def vector_registers(self) -> int:
        """How many of them a work-item may use."""
        if self.hardware.has_vectors:
            return self.hardware.vector_registers
        return self.lane_registers

    def with_vectors(self, bits: int = 0, registers: int = 0) -> TargetOptions:
        """The same with other vectors; 0 leaves a figure as it is.

        Raises ValueError for such as no device has.
        """
        bits = bits or self.vector_bits
        registers = registers or self.vector_registers
        if not self.hardware.has_vectors:
            return replace(self, lane_bits=bits, lane_registers=registers)
        hardware = replace(self.hardware, vector_bits=bits, vector_registers=registers)
        return replace(self, hardware=hardware)
