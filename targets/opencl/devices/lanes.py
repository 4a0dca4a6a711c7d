"""How many work-items a device runs as one, by plain OpenCL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import GinghamError
from ..program import build_program

if TYPE_CHECKING:
    from .device import OpenCLDevice

_SOURCE = "kernel void copy(global float *x) { x[get_global_id(0)] += 1.0f; }"


def lanes_of(device: OpenCLDevice) -> int:
    """What groups should be a multiple of; 0 where the device does not say.

    Devices tell that of a kernel, which is built for it; those of OpenCL 3.0 of
    themselves, too.
    """
    import pyopencl as cl

    handle = device.handle
    try:
        return int(handle.preferred_work_group_size_multiple)
    except (cl.Error, AttributeError):
        pass
    try:
        kernel = build_program(device, _SOURCE).kernel("copy").handle
        question = cl.kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
        return int(kernel.get_work_group_info(question, handle))
    except (cl.Error, GinghamError):
        return 0
