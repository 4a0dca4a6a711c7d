"""What the passes want to know of a device, apart from the passes that ask."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..targets.hardware import Hardware, hardware_text, load_hardware

_LANE_BITS = 32
_LANE_REGISTERS = 32


@dataclass(frozen=True)
class TargetOptions:
    """What the passes want to know of a device."""

    vector_bits: int = 0
    """The width of the vectors that a work-item computes with, in bits; 0 is as the
    hardware says. On a GPU a work-item is a lane and has no vectors: 32."""
    vector_registers: int = 0
    """How many of them a work-item may use; 0 is as the hardware says."""
    unsupported: tuple[str, ...] = ()
    """The element types that it does not compute with, such as "f64"."""
    functions: tuple[str, ...] = ()
    """The functions of f32 that its runtime computes slowly or badly, such as "exp"."""
    vectorizes_loops: bool = False
    """Whether its compiler makes vectors of the steps of loops where nothing forbids
    it, as those of CPUs do, whatever the hardware is that kernels are made for."""
    device: str = ""
    """What errors call it."""
    hardware: Hardware = field(default_factory=lambda: load_hardware("cpu-avx512"))
    """Its figures. Those of a CPU have the width and the number of vectors above."""
    recall: str = ""
    """The options of `stripe-recall`; without any there are no measured decisions."""

    def __post_init__(self) -> None:
        hardware = self.hardware
        is_cpu = hardware.kind == "cpu"
        bits = self.vector_bits or (hardware.vector_bits if is_cpu else _LANE_BITS)
        registers = self.vector_registers or (
            hardware.vector_registers if is_cpu else _LANE_REGISTERS
        )
        if is_cpu:
            hardware = replace(hardware, vector_bits=bits, vector_registers=registers)
        object.__setattr__(self, "vector_bits", bits)
        object.__setattr__(self, "vector_registers", registers)
        object.__setattr__(self, "hardware", hardware)

    @property
    def hardware_text(self) -> str:
        """What the option `hardware` of passes takes: a name or path, and changes."""
        return hardware_text(self.hardware)

    def with_hardware(self, hardware: Hardware) -> TargetOptions:
        """The same for a device with other figures, those of its vectors too."""
        return replace(self, hardware=hardware, vector_bits=0, vector_registers=0)
