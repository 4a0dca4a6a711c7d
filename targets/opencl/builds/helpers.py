"""The processes that help to build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .processes import HelperProcess, Helpers
from .request import Request

if TYPE_CHECKING:
    from ..handles.handle import DeviceHandle

_SMALLEST = "kernel void nothing(global int *x) { x[0] = 0; }"


class Helper(HelperProcess):
    """A process that builds."""

    module = f"{(__package__ or '').rpartition('.')[0]}.build_helper"

    def trial(self, device: DeviceHandle) -> bytes:
        """To build the smallest kernel."""
        return _request(device, _SMALLEST, "")

    def build(self, device: DeviceHandle, source: str, options: str) -> bytes:
        """The binary of a program; nothing where it can not be built there.

        Raises OSError where the process has ended.
        """
        return self.ask(_request(device, source, options))


def _request(device: DeviceHandle, source: str, options: str) -> bytes:
    text = source.encode()
    request = Request(device.name, str(device.details), options, len(text))
    return request.to_line() + text


helpers = Helpers(Helper)
"""Those of this process."""
