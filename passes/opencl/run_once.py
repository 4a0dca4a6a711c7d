"""`opencl-run-once`: launches that depend on constant inputs only run once.

Before:

```mlir
func.func @main(%I : !opencl.buffer<64xf32>,
                %K : !opencl.buffer<64xf32> {tile.constant}) -> !opencl.buffer<64xf32> {
  %J = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @scale groups [64, 1, 1] (%I, %J) : ...
  %P = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @pack groups [64, 1, 1] (%K, %P) : ...
  %O = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @product groups [64, 1, 1] (%J, %P, %O) : ...
  func.return %O : !opencl.buffer<64xf32>
}
```

After:

```mlir
func.func @main(%I : !opencl.buffer<64xf32>,
                %K : !opencl.buffer<64xf32> {tile.constant}) -> !opencl.buffer<64xf32> {
  %P = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch once @pack groups [64, 1, 1] (%K, %P) : ...
  %J = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @scale groups [64, 1, 1] (%I, %J) : ...
  %O = opencl.allocate : !opencl.buffer<64xf32>
  opencl.launch @product groups [64, 1, 1] (%J, %P, %O) : ...
  func.return %O : !opencl.buffer<64xf32>
}
```

A buffer is constant when all launches that write it are, a launch when all buffers that
it reads or writes are. What is returned is new in every call, so it is not. Launches
that run once move to the front, with the allocations that they need. Those that need no
input at all run once, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.constants import constant_arguments
from ...dialects.opencl.effects import Use
from ...dialects.opencl.kernel import AllocateOp, LaunchOp
from ..kernel_pass import LaunchPass
from .dependences import kernel_uses
from .lifetimes import returned_buffers
from .modules import host_launches, host_programs, kernels_by_name


@dataclass(frozen=True)
class OpenCLRunOncePass(LaunchPass):
    """Mark the launches that depend on constant inputs only."""

    name = "opencl-run-once"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark launches of every host program with `once`."""
        uses = kernel_uses(kernels_by_name(op))
        for function in host_programs(op):
            _mark(function, uses)


def _mark(function: FuncOp, uses: dict[str, list[Use]]) -> None:
    """Mark launches of one host program, and move them to the front."""
    launches = _constant_launches(function, uses)
    moved: dict[Operation, None] = {}
    for launch in launches:
        launch.once = UnitAttr()
        for buffer in launch.buffers:
            if isinstance(buffer.owner, AllocateOp):
                moved[buffer.owner] = None
        moved[launch] = None
    for op in moved:
        op.detach()
    Rewriter.insert_op(list(moved), InsertPoint.at_start(function.body.block))


def _constant_launches(function: FuncOp, uses: dict[str, list[Use]]) -> list[LaunchOp]:
    """All are taken for constant, until what they depend on turns out not to be."""
    arguments = function.body.block.args
    returned = returned_buffers(function)
    constant: set[SSAValue] = {
        *(arguments[position] for position in constant_arguments(function)),
        *(
            op.buffer
            for op in function.body.block.ops
            if isinstance(op, AllocateOp) and op.buffer not in returned
        ),
    }
    launches = host_launches(function)
    while True:
        varying = {
            launch
            for launch in launches
            if not all(buffer in constant for buffer in launch.buffers)
        }
        lost = {
            buffer
            for launch in varying
            for buffer, use in zip(
                launch.buffers, uses[launch.kernel_name], strict=True
            )
            if use.writes and buffer in constant
        }
        if not lost:
            return [launch for launch in launches if launch not in varying]
        constant -= lost
