"""The `opencl` dialect: kernels, and the host program that launches them.

A module has `opencl.kernel`s and one `func.func` over `!opencl.buffer`s: the host
program. Kernels compute with `eltwise` functions on scalars and vectors; every position
in memory is one linear form over indices, printed as one C expression. Indices are
those of loops and work-items, and numbers of the data that are known to lie in a range.
"""

from xdsl.ir import Dialect

from .attributes import BufferType, PointerType, WorkItemQueryAttr
from .choose import ChooseOp
from .control_flow import ForOp, IfOp
from .data_ops import IndexOp, PositionOp, WhenOp
from .division import DivideOp
from .functions import CallOp, FunctionOp, ReturnOp
from .kernel import AllocateOp, KernelOp, LaunchOp
from .memory import ArrayOp, LoadOp, StoreOp
from .prefetch import PrefetchOp
from .work_items import BarrierOp, DelinearizeOp, WorkItemOp

OpenCL = Dialect(
    "opencl",
    [
        KernelOp,
        FunctionOp,
        ReturnOp,
        CallOp,
        DivideOp,
        AllocateOp,
        LaunchOp,
        WorkItemOp,
        DelinearizeOp,
        ForOp,
        IfOp,
        WhenOp,
        ChooseOp,
        IndexOp,
        PositionOp,
        ArrayOp,
        LoadOp,
        StoreOp,
        PrefetchOp,
        BarrierOp,
    ],
    [BufferType, PointerType, WorkItemQueryAttr],
)

__all__ = ["OpenCL"]
