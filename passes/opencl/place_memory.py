"""`opencl-place-memory`: give buffers that are not in use at once the same memory.

Before:

```mlir
func.func @main(%A : !opencl.buffer<1024xf32>) -> !opencl.buffer<1024xf32> {
  %T = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @first groups [64, 1, 1] (%A, %T) : ...
  %U = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @second groups [64, 1, 1] (%T, %U) : ...
  %V = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @third groups [64, 1, 1] (%U, %V) : ...
  %B = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @fourth groups [64, 1, 1] (%V, %B) : ...
  func.return %B : !opencl.buffer<1024xf32>
}
```

After:

```mlir
func.func @main(%A : !opencl.buffer<1024xf32>) -> !opencl.buffer<1024xf32> {
  %T = opencl.allocate at 0 : !opencl.buffer<1024xf32>
  opencl.launch @first groups [64, 1, 1] (%A, %T) : ...
  %U = opencl.allocate at 4096 : !opencl.buffer<1024xf32>
  opencl.launch @second groups [64, 1, 1] (%T, %U) : ...
  %V = opencl.allocate at 0 : !opencl.buffer<1024xf32>
  opencl.launch @third groups [64, 1, 1] (%U, %V) : ...
  %B = opencl.allocate : !opencl.buffer<1024xf32>
  opencl.launch @fourth groups [64, 1, 1] (%V, %B) : ...
  func.return %B : !opencl.buffer<1024xf32>
}
```

A buffer is in use from the first launch that has it as an argument to the last. Placed
are those whose contents nobody needs after the call: not results, and not what a launch
that runs once leaves for others. Each place is a multiple of `alignment` bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp

from ...dialects.opencl.kernel import AllocateOp
from ...errors import GinghamError
from ..kernel_pass import LaunchPass
from .arena import place
from .lifetimes import Lifetime, own_buffers
from .modules import host_launches, host_programs


@dataclass(frozen=True)
class OpenCLPlaceMemoryPass(LaunchPass):
    """Place the buffers of every host program by their lifetimes."""

    name = "opencl-place-memory"

    alignment: int = 512
    """The bytes of which every place is a multiple; a power of two from 64 on."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Give allocations of every host program their place.

        Raises GinghamError for an alignment that is no power of two from 64 on.
        """
        if self.alignment < 64 or self.alignment & (self.alignment - 1):
            raise GinghamError(
                "expected 'alignment' to be a power of two from 64 on, got "
                f"{self.alignment}"
            )
        for function in host_programs(op):
            _place(function, self.alignment)


def _place(function: FuncOp, alignment: int) -> None:
    for op in function.body.block.ops:
        if isinstance(op, AllocateOp):
            op.offset = None
    found = {
        buffer.owner: lifetime
        for buffer, lifetime in own_buffers(function).items()
        if isinstance(buffer.owner, AllocateOp) and lifetime.size > 0
    }
    lifetimes = [_aligned(lifetime, alignment) for lifetime in found.values()]
    launches = host_launches(function)
    for op, lifetime, start in zip(found, lifetimes, place(lifetimes), strict=True):
        op.offset = IntegerAttr(start, i64)
        user = launches[lifetime.first]
        if user.parent is not None:
            op.detach()
            user.parent.insert_op_before(op, user)


def _aligned(lifetime: Lifetime, alignment: int) -> Lifetime:
    size = -(-lifetime.size // alignment) * alignment
    return Lifetime(size, lifetime.first, lifetime.last)
