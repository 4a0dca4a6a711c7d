"""What an OpenCL device says about itself, with a unit in every field's name.

Nothing here is measured: `targets/hardware` holds what measuring adds.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ...backend import DeviceKind, PropertyValue

if TYPE_CHECKING:
    import pyopencl as cl


@dataclass(frozen=True)
class OpenCLProperties:
    """A device's properties; 0 or an empty string where the device does not say.

    `native_float_width` counts the floats of one vector register. The preferred width
    is left out: Intel's CPU runtime gives 1, meaning that it vectorizes by itself.
    `rounds_division_correctly` says that quotients and square roots of floats can be
    asked to be correctly rounded.
    `shares_host_memory` says that the device works on any memory of the process, seeing
    the host's writes and showing its own with no call between (fine-grained system
    shared virtual memory).
    """

    device: str
    vendor: str
    platform: str
    platform_version: str
    driver_version: str
    opencl_version: str
    opencl_c_version: str
    compute_units: int
    clock_megahertz: int
    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    native_float_width: int
    global_memory_bytes: int
    max_allocation_bytes: int
    local_memory_bytes: int
    has_dedicated_local_memory: bool
    cache_bytes: int
    cache_line_bytes: int
    supports_fp64: bool
    supports_fp16: bool
    rounds_division_correctly: bool
    host_unified_memory: bool
    shares_host_memory: bool
    address_bits: int
    little_endian: bool
    extensions: tuple[str, ...]

    @property
    def builds_whole_binaries(self) -> bool:
        """Whether a program's binary saves its compiling.

        PoCL compiles kernels when they are launched, and keeps them in a cache of its
        own. Asking it for a binary took twice as long, and the first launch of what was
        loaded from that as long as before (PoCL 5.0).
        """
        return self.platform != "Portable Computing Language"

    @property
    def compares_names(self) -> bool:
        """Whether its compiler compares the name of all that is called with patterns.

        Intel's for CPUs does so in each of many passes: see `builds/inlined_vectors`.
        """
        return self.platform == "Intel(R) OpenCL"

    @property
    def starts_at_once(self) -> bool:
        """Whether the device gets each command when it is enqueued.

        Others collect commands until they are told to flush, which takes NVIDIA's
        driver 2 us though there is nothing to do.
        """
        return self.platform == "NVIDIA CUDA"

    def as_dict(self) -> dict[str, PropertyValue]:
        """The properties by field name, in the order of the fields."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def read_properties(handle: cl.Device) -> OpenCLProperties:
    """Ask the device for its properties. Raises `pyopencl.Error` where it refuses."""
    import pyopencl as cl

    platform = handle.platform
    extensions = tuple(handle.extensions.split())
    return OpenCLProperties(
        device=_tidy(handle.name),
        vendor=_tidy(handle.vendor),
        platform=_tidy(platform.name),
        platform_version=_tidy(platform.version),
        driver_version=_tidy(handle.driver_version),
        opencl_version=_version_number(handle.version),
        opencl_c_version=_version_number(handle.opencl_c_version),
        compute_units=handle.max_compute_units,
        clock_megahertz=handle.max_clock_frequency,
        max_work_group_size=handle.max_work_group_size,
        max_work_item_sizes=tuple(handle.max_work_item_sizes),
        native_float_width=handle.native_vector_width_float,
        global_memory_bytes=handle.global_mem_size,
        max_allocation_bytes=handle.max_mem_alloc_size,
        local_memory_bytes=handle.local_mem_size,
        has_dedicated_local_memory=(
            handle.local_mem_type == cl.device_local_mem_type.LOCAL
        ),
        cache_bytes=handle.global_mem_cache_size,
        cache_line_bytes=handle.global_mem_cacheline_size,
        supports_fp64="cl_khr_fp64" in extensions,
        supports_fp16="cl_khr_fp16" in extensions,
        rounds_division_correctly=bool(
            handle.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        ),
        host_unified_memory=bool(handle.host_unified_memory),
        shares_host_memory=_shares_host_memory(handle),
        address_bits=handle.address_bits,
        little_endian=bool(handle.endian_little),
        extensions=extensions,
    )


def kind_of(handle: cl.Device) -> DeviceKind:
    """What sort of processor the device is."""
    import pyopencl as cl

    kinds: tuple[tuple[int, DeviceKind], ...] = (
        (cl.device_type.CPU, "cpu"),
        (cl.device_type.GPU, "gpu"),
        (cl.device_type.ACCELERATOR, "accelerator"),
    )
    # The type is a bit field: DEFAULT may stand beside the kind.
    for bit, kind in kinds:
        if int(handle.type) & bit:
            return kind
    return "custom"


def _shares_host_memory(handle: cl.Device) -> bool:
    import pyopencl as cl

    try:
        capabilities = int(handle.svm_capabilities)
    except cl.Error:  # a device older than OpenCL 2.0 does not know the question
        return False
    return bool(capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM)


def _tidy(text: str) -> str:
    """The text on one line without padding; vendors pad their names with spaces."""
    return " ".join(text.replace("\0", " ").split())


def _version_number(text: str) -> str:
    """`3.0` of `OpenCL 3.0 (Build 0)` or of `OpenCL C 3.0`."""
    words = (word for word in text.split() if word[0].isdigit())
    return next(words, "")
