"""`opencl-check-limits`: refuse kernels that a device cannot run.

Decisions keep to the description of a device. A schedule that is written by hand, or
was recalled for another one, may ask for more work-items in a group, or for more local
memory: that is an error at the block, before the device's compiler or a launch says so
without a place.

Before, and after:

```mlir
opencl.kernel @C(%A : !opencl.pointer<f32, global>) group [32, 8, 1] {
  %stage = opencl.array 1024 : !opencl.pointer<f32, local>
  ...
}
```

Registers have no such limit: what does not fit them is in memory, which is slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.eltwise.ops import value_bytes
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import ArrayOp
from ...dialects.stripe.attributes import MemorySpace
from ...targets.hardware import Hardware
from ..hardware_pass import HardwarePass
from ..kernel_pass import KernelPass
from ..locations import error_at
from ..walking import operations
from .modules import kernels


@dataclass(frozen=True)
class OpenCLCheckLimitsPass(KernelPass, HardwarePass):
    """Refuse kernels with more work-items or local memory than a device has."""

    name = "opencl-check-limits"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at all kernels; none is changed.

        Raises GinghamError, located, for a kernel that the device cannot run, and for
        hardware that is not known.
        """
        for kernel in kernels(op):
            _check(kernel, self.figures)


def _check(kernel: KernelOp, hardware: Hardware) -> None:
    items, most = prod(kernel.group_size), hardware.work_group_limit
    if items > most:
        raise error_at(
            kernel,
            f"expected groups of at most {most} work-items for {hardware.name}, got "
            f"{items}",
            "let a group have a smaller tile, or its work-items more cells each",
        )
    taken, most = local_bytes(kernel), hardware.array_memory_bytes
    if taken > most:
        raise error_at(
            kernel,
            f"expected at most {most} bytes of local memory for {hardware.name}, got "
            f"{taken}",
            "stage smaller tiles, or fewer values of a sum at a time",
        )


def local_bytes(kernel: KernelOp) -> int:
    """What the arrays of a kernel take of the local memory of a group."""
    return sum(
        op.length.value.data * value_bytes(op.pointer.type.element_type)
        for op in operations(kernel)
        if isinstance(op, ArrayOp) and op.pointer.type.space.data is MemorySpace.LOCAL
    )
