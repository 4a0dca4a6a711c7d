"""`tile-check-types`: refuse element types that a device does not compute with.

With `tile-check-types{unsupported="f64" device="nvidia.0"}` the function

```mlir
func.func @main(%A : tensor<4xf32>) -> tensor<4xf64> {
  %B = eltwise.cast %A : tensor<4xf32> to tensor<4xf64>
  func.return %B : tensor<4xf64>
}
```

is the error `device 'nvidia.0' does not compute with f64, the type of B`, where B is
computed. What remains is left alone. A type that can be emulated exactly is not one to
list here: see `opencl-emulate-types`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.eltwise.element_types import ELEMENT_TYPES, name_of
from ...dialects.eltwise.ops import element_of
from ...suggestions import did_you_mean
from ..locations import error_at
from .specializer import argument_name


@dataclass(frozen=True)
class TileCheckTypesPass(ModulePass):
    """Raise an error at the first tensor of an unsupported element type."""

    name = "tile-check-types"

    unsupported: tuple[str, ...] = ()
    """Names of element types, such as "f64"."""
    device: str = ""
    """What the error calls the device."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change nothing.

        Raises GinghamError, located, for the first unsupported tensor, and for an
        option that names no element type.
        """
        for name in self.unsupported:
            if name not in ELEMENT_TYPES:
                raise error_at(
                    op,
                    f"there is no element type '{name}'",
                    did_you_mean(name, ELEMENT_TYPES)
                    or f"element types are {', '.join(ELEMENT_TYPES)}",
                )
        elements = {ELEMENT_TYPES[name] for name in self.unsupported}
        for value in _values(op):
            element = element_of(value.type)
            if element in elements:
                device = f"device '{self.device}'" if self.device else "the device"
                name = name_of(element)
                raise error_at(
                    value,
                    f"{device} does not compute with {name}, the type of "
                    f"{_name(value)}",
                    "use another type, or run on another device: 'reference' has all",
                )


def _values(module: ModuleOp) -> Iterator[SSAValue]:
    """The arguments and results of everything in the functions, in order."""
    for function in module.ops:
        if not isinstance(function, FuncOp):
            continue
        for block in function.body.blocks:
            yield from block.args
            for op in block.ops:
                yield from op.results


def _name(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return argument_name(value)
    if value.name_hint is not None:
        return value.name_hint
    owner = value.owner
    return (
        f"the result of '{owner.name}'" if isinstance(owner, Operation) else "a value"
    )
