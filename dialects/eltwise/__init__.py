"""The `eltwise` dialect: element-wise functions on tensors, scalars and vectors.

One op per row of `table.FUNCTIONS`, the same op at every level: on tensors in `tile`
(with NumPy broadcasting), on scalars in `stripe`, on scalars and vectors in `opencl`.
Lowering a function through the levels changes its types and nothing else.
"""

from xdsl.ir import Dialect

from .ops import (
    FUNCTION_OPS,
    AnyElementType,
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
)
from .shuffle import ShuffleOp

Eltwise = Dialect(
    "eltwise",
    [ConstantOp, CastOp, BitcastOp, BroadcastOp, ShuffleOp, *FUNCTION_OPS.values()],
    [AnyElementType],
)

__all__ = ["Eltwise"]
