"""Passes that go by the figures of a device, told by their option `hardware`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ..targets.hardware import Hardware, hardware_text, load_hardware


@dataclass(frozen=True)
class HardwarePass(ModulePass):
    """A pass that goes by the figures of a device.

    A pipeline that is text names them; who has them hands them on.
    """

    hardware: str | Hardware = "cpu-avx512"
    """The device's description: a name or the path of a file, with changes."""

    @property
    def figures(self) -> Hardware:
        """What is known of the device.

        Raises GinghamError for a description that is not there or is wrong.
        """
        if isinstance(self.hardware, Hardware):
            return self.hardware
        return load_hardware(self.hardware)

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """See `ModulePass.spec`: figures are the text that stands for them."""
        if isinstance(self.hardware, Hardware):
            named = replace(self, hardware=hardware_text(self.hardware))
            return named.spec(include_default=include_default)
        return super().spec(include_default=include_default)
