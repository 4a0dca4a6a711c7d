"""C as a backend: what the processor of this machine offers by the C compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import GinghamError
from ..backend import Needs, Stage
from ..code import PrintedCode
from ..hardware import Calibration, Hardware, host_caches, select_hardware
from .code import CCode, build_code, compile_module, from_bytes, print_module, to_bytes
from .compiler import FAST_MATH, compiler, processor
from .executable import CExecutable

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..backend import Subject
    from .device import CDevice

_OWN_FUNCTIONS = ("exp", "log", "pow", "sigmoid", "erf", "sin", "cos", "tan", "tanh")
"""The compiler's library has them for scalars only, so that a vector of 16 exp takes
ten times as long as ours."""


class CKernels:
    """Kernels in C, built by the system's compiler."""

    language = "C"

    def __init__(self, device: CDevice) -> None:
        self._device = device

    def options(self, *, fast_math: bool) -> tuple[str, ...]:
        """See `Kernels`."""
        return (FAST_MATH,) if fast_math else ()

    def state(self) -> object:
        """See `Kernels`."""
        return compiler()

    def ahead(self, options: Sequence[str]) -> None:
        """See `Kernels`: nothing takes long."""

    def printed(self, module: ModuleOp) -> PrintedCode:
        """See `Kernels`."""
        return print_module(module)

    def build(self, printed: PrintedCode, options: Sequence[str]) -> CCode:
        """See `Kernels`."""
        return build_code(printed, options)

    def to_bytes(self, code: CCode) -> bytes:
        """See `Kernels`."""
        return to_bytes(code)

    def from_bytes(self, data: bytes) -> CCode:
        """See `Kernels`."""
        return from_bytes(data)

    def executable(self, code: CCode) -> CExecutable:
        """See `Kernels`."""
        return CExecutable(code, self._device)

    def checked(self, code: CCode, subject: Subject) -> None:
        """See `Kernels`: there are no safer builds."""


class CBackend:
    """What the processor of this machine offers."""

    stage: Stage = "opencl"
    memory = None

    def __init__(self, device: CDevice) -> None:
        self._device = device
        self.kernels = CKernels(device)

    def hardware(self) -> Hardware:
        """See `Backend`."""
        vendor, name = processor()
        works = self._device.failure() is None
        return select_hardware(
            "cpu",
            vendor,
            name,
            native_float_width=compiler().vector_bits // 32 if works else 0,
            compute_units=self._device.cores,
            local_memory_bytes=0,
            caches=host_caches(),
        )

    def needs(self, *, fast_math: bool) -> Needs:
        """See `Backend`."""
        return Needs(functions=() if fast_math else _OWN_FUNCTIONS)

    def measured(self, described: Hardware) -> Calibration:
        """Raises GinghamError: a device of OpenCL measures the same processor."""
        raise GinghamError(
            f"device '{self._device.name}' cannot be measured",
            hint="a device of OpenCL for the same processor can: `tile-devices` lists "
            "them",
        )

    def busy_work(self) -> None:
        """See `Backend`."""

    def executable(self, module: ModuleOp) -> CExecutable:
        """See `Backend`."""
        return CExecutable(compile_module(module), self._device)
