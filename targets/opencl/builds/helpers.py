"""The processes that help to build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .helper import Request
from .processes import HelperProcess, Helpers

if TYPE_CHECKING:
    from ..devices.device import OpenCLDevice

_SMALLEST = "kernel void nothing(global int *x) { x[0] = 0; }"


class Helper(HelperProcess):
    """A process that builds."""

    module = f"{__package__}.helper"

    def try_out(self, device: OpenCLDevice) -> bool:
        """Whether it can build for the device."""
        return bool(self.build(device, _SMALLEST, ""))

    def build(self, device: OpenCLDevice, source: str, options: str) -> bytes:
        """The binary of a program; nothing where it can not be built there.

        Raises OSError where the process has ended.
        """
        text = source.encode()
        name = device.name.partition("/")[0]
        request = Request(name, str(device.details), options, len(text))
        return self.ask(request.to_line() + text)


helpers = Helpers(Helper)
"""Those of this process."""
