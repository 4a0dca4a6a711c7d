"""Inputs that are the same in many calls, marked at every level of the IR.

```mlir
func.func @main(%I : tensor<8x8xf32>, %K : tensor<3x3xf32> {tile.constant})
```
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

CONSTANT_ATTRIBUTE = "tile.constant"
"""On an argument of a function: callers mostly give the same array."""


def constant_arguments(function: FuncOp) -> set[int]:
    """The positions of the arguments that are marked."""
    return {
        position
        for position, attributes in enumerate(function.arg_attrs or ())
        if CONSTANT_ATTRIBUTE in attributes.data
    }


def is_constant_argument(value: SSAValue) -> bool:
    """Whether a value is an argument that is marked."""
    if not isinstance(value, BlockArgument):
        return False
    function = value.block.parent_op()
    return isinstance(function, FuncOp) and value.index in constant_arguments(function)


def mark_constants(function: FuncOp, positions: Iterable[int]) -> None:
    """Mark arguments as constant, too."""
    count = len(function.function_type.inputs)
    old = [attributes.data for attributes in function.arg_attrs or ()]
    new: list[dict[str, Attribute]] = [dict(data) for data in old] or [
        {} for _ in range(count)
    ]
    for position in positions:
        new[position][CONSTANT_ATTRIBUTE] = UnitAttr()
    function.arg_attrs = ArrayAttr([DictionaryAttr(data) for data in new])
