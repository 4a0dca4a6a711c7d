"""OpenCL as a backend: one of its devices, with all that runs programs there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..backend import Needs, Stage
from ..code import PrintedCode
from ..hardware import (
    Calibration,
    Hardware,
    ToldByGpu,
    host_caches,
    select_hardware,
)
from .compiled import CompiledCode, build_code, from_bytes, print_module, to_bytes
from .device_memory import OpenCLMemory
from .devices.driver_state import driver_state
from .devices.lanes import lanes_of
from .devices.own_functions import own_functions
from .executor import OpenCLExecutable
from .program import build_options

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..backend import Subject
    from .busy import BusyKernel
    from .devices.device import OpenCLDevice
    from .expecting import AheadOfBuild


class OpenCLKernels:
    """Kernels in OpenCL C, built by the driver of a device."""

    language = "OpenCL C"

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device

    def options(self, *, fast_math: bool) -> tuple[str, ...]:
        """See `Kernels`."""
        return build_options(self._device, fast_math=fast_math)

    def state(self) -> object:
        """See `Kernels`."""
        return driver_state()

    def ahead(self, options: Sequence[str]) -> AheadOfBuild:
        """See `Kernels`."""
        from .expecting import AheadOfBuild

        return AheadOfBuild(self._device, options)

    def printed(self, module: ModuleOp) -> PrintedCode:
        """See `Kernels`."""
        return print_module(module)

    def build(self, printed: PrintedCode, options: Sequence[str]) -> CompiledCode:
        """See `Kernels`."""
        return build_code(printed, self._device, options)

    def to_bytes(self, code: CompiledCode) -> bytes:
        """See `Kernels`."""
        return to_bytes(code)

    def from_bytes(self, data: bytes) -> CompiledCode:
        """See `Kernels`."""
        return from_bytes(data, self._device)

    def executable(self, code: CompiledCode) -> OpenCLExecutable:
        """See `Kernels`."""
        return OpenCLExecutable(code, self._device)

    def checked(self, code: CompiledCode, subject: Subject) -> OpenCLExecutable:
        """See `Kernels`."""
        from .checking import CheckedExecutable

        return CheckedExecutable(code, self._device, subject)


class OpenCLBackend:
    """What a device of OpenCL offers."""

    stage: Stage = "opencl"

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device
        self.kernels = OpenCLKernels(device)
        self.memory = OpenCLMemory(device)

    def hardware(self) -> Hardware:
        """See `Backend`."""
        details = self._device.details
        return select_hardware(
            self._device.kind,
            details.vendor,
            details.device,
            native_float_width=details.native_float_width,
            compute_units=details.compute_units,
            local_memory_bytes=details.local_memory_bytes,
            work_group_limit=details.max_work_group_size,
            caches=host_caches() if self._device.kind == "cpu" else (),
            told=ToldByGpu(
                lambda: lanes_of(self._device),
                details.clock_megahertz,
                details.cache_bytes,
                details.cache_line_bytes,
            ),
        )

    def needs(self, *, fast_math: bool) -> Needs:
        """See `Backend`; with `fast_math` all functions are the runtime's own."""
        return Needs(
            unsupported=() if self._device.details.supports_fp64 else ("f64",),
            functions=() if fast_math else own_functions(self._device),
            vectorizes_loops=self._device.kind == "cpu",
        )

    def measured(self, described: Hardware) -> Calibration:
        """See `Backend`."""
        from .devices.calibration import calibrate

        return calibrate(self._device, described)

    def busy_work(self) -> BusyKernel:
        """See `Backend`."""
        from .busy import BusyKernel

        return BusyKernel(self._device)

    def executable(self, module: ModuleOp) -> OpenCLExecutable:
        """See `Backend`."""
        return OpenCLExecutable(module, self._device)
