"""The `opencl` dialect: kernels, and the host program that launches them.

A module has `opencl.kernel`s and one `func.func` over `!opencl.buffer`s: the host
program. Kernels compute with `eltwise` functions on scalars and vectors; every position
in memory is one linear form over loop indices, printed as one C expression.
"""

from xdsl.ir import Dialect

from .attributes import BufferType, PointerType, WorkItemQueryAttr
from .kernel import AllocateOp, KernelOp, LaunchOp
from .ops import (
    ArrayOp,
    BarrierOp,
    DelinearizeOp,
    ForOp,
    IfOp,
    LoadOp,
    StoreOp,
    WorkItemOp,
)

OpenCL = Dialect(
    "opencl",
    [
        KernelOp,
        AllocateOp,
        LaunchOp,
        WorkItemOp,
        DelinearizeOp,
        ForOp,
        IfOp,
        ArrayOp,
        LoadOp,
        StoreOp,
        BarrierOp,
    ],
    [BufferType, PointerType, WorkItemQueryAttr],
)

__all__ = ["OpenCL"]
