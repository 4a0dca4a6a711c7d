"""Operations and values: how a frontend composes Tile functions.

```python
class Scale(tile.Operation):
    def __init__(self, value, factor):
        super().__init__(
            "function (X, F) -> (Y) { Y = X * F; }",
            [("X", value), ("F", factor)],
            [("Y", value.shape)],
        )

x = tile.Value.from_ndims(2)
f = tile.compose(ctx, dev, inputs=[("X", x)], outputs=[("Y", Scale.function(x, 2))])
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .aggregation import compute_aggregation_axes
from .composition import check_tensor, compose_function
from .context import Context
from .devices import Device
from .dot import to_dot
from .dtypes import (
    DTYPE_INFOS,
    INFO_DTYPES,
    NUMPY_DTYPE_TO_PLAIDML,
    PLAIDML_DTYPE_TO_NUMPY,
    DTypeInfo,
    common_dtype,
    convert_np_dtype_to_pml,
    convert_pml_dtype_to_np,
)
from .errors import Error, LogicError
from .functions import Function
from .operations import Bindings, Operation, Shape, Source
from .tensors import Tensor
from .values import (
    ShapeOf,
    Value,
    binary_op,
    broadcast_dims,
    maximum,
    minimum,
    shape_of,
    unary_op,
)

__all__ = [
    "DTYPE_INFOS",
    "INFO_DTYPES",
    "NUMPY_DTYPE_TO_PLAIDML",
    "PLAIDML_DTYPE_TO_NUMPY",
    "DTypeInfo",
    "Error",
    "LogicError",
    "Operation",
    "Shape",
    "ShapeOf",
    "Source",
    "Value",
    "binary_op",
    "broadcast_dims",
    "common_dtype",
    "compose",
    "compute_aggregation_axes",
    "convert_np_dtype_to_pml",
    "convert_pml_dtype_to_np",
    "maximum",
    "minimum",
    "shape_of",
    "to_dot",
    "unary_op",
]


def compose(
    ctx: Context,
    dev: Device | None,
    inputs: Sequence[tuple[str, Value]],
    outputs: Sequence[tuple[str, Any]],
    updates: Sequence[tuple[Any, Any]] | None = None,
    name: str = "",
) -> Function:
    """One function of what operations compute, without anything between them in memory.

    `inputs` and `outputs` are names with values; each of `updates` is a tensor, or the
    value of one, and what is written to it in each run, as is what operations have as
    side effects. Raises GinghamError for an input that is computed, and for a
    placeholder that is used but no input.
    """
    ctx.check()
    if dev is not None:
        dev.check()
    results = [(each, Value.from_python_value(value)) for each, value in outputs]
    writes = [(to, Value.from_python_value(value)) for to, value in updates or ()]
    bindings = Bindings(ctx, dev)
    effects = bindings.bind_all([value for _, value in [*inputs, *results, *writes]])
    writes += [(to, Value.from_python_value(value)) for to, value in effects]
    return compose_function(
        [(each, value.bind(bindings)) for each, value in inputs],
        [(each, value.bind(bindings)) for each, value in results],
        [(_destination(to), value.bind(bindings)) for to, value in writes],
        name,
        dev,
    )


def _destination(value: Any) -> Tensor:
    return check_tensor(value.var if isinstance(value, Value) else value)
