"""The `tile` dialect: tensors, contractions and symbolic sizes.

A Tile function is a `func.func` over builtin tensors. As parsed, sizes are `?` and
element types `!eltwise.any`; named sizes come from `tile.sizes`, size arithmetic is
`eltwise` on `index`, and `tile-specialize` binds both for given arguments. Element-wise
functions are ops of the `eltwise` dialect.

```mlir
func.func @main(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>)
    -> tensor<?x?x!eltwise.any> {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>
  %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N] : (...)
  func.return %C : tensor<?x?x!eltwise.any>
}
```
"""

from xdsl.ir import Dialect

from ..aggregation import AggregationAttr, CombinationAttr
from .argsort import ArgsortOp
from .attributes import ConstraintAttr, PolynomialAttr
from .contract import ContractOp
from .gather import GatherModeAttr, GatherOp, InterpolationAttr, NearestModeAttr
from .gradient import GradientOp
from .indexing import OutOfBoundsAttr
from .ops import FromIndexOp, SizesOp, ToIndexOp
from .scatter import ScatterModeAttr, ScatterOp
from .special import (
    AssertOp,
    IndexOp,
    PrngOp,
    ReshapeOp,
    ShapeOp,
    SimpleReduceOp,
)

Tile = Dialect(
    "tile",
    [
        SizesOp,
        FromIndexOp,
        ToIndexOp,
        ContractOp,
        ReshapeOp,
        ShapeOp,
        IndexOp,
        GatherOp,
        ScatterOp,
        ArgsortOp,
        PrngOp,
        SimpleReduceOp,
        AssertOp,
        GradientOp,
    ],
    [
        PolynomialAttr,
        ConstraintAttr,
        AggregationAttr,
        CombinationAttr,
        GatherModeAttr,
        ScatterModeAttr,
        InterpolationAttr,
        NearestModeAttr,
        OutOfBoundsAttr,
    ],
)

__all__ = ["Tile"]
