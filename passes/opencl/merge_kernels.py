"""`opencl-merge-kernels`: one kernel for all launches that run the same one.

Before:

```mlir
opencl.kernel @scale(%A : !opencl.pointer<f32, global>,
                     %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
opencl.kernel @scale_1(%C : !opencl.pointer<f32, global>,
                       %D : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %j = opencl.work_item group_id 0 below 64
  %y = opencl.load %C[%j] : !opencl.pointer<f32, global> -> f32
  opencl.store %y, %D[%j] : f32 -> !opencl.pointer<f32, global>
}
func.func @main(...) {
  opencl.launch @scale groups [64, 1, 1] (%A, %T) : ...
  opencl.launch @scale_1 groups [64, 1, 1] (%T, %B) : ...
}
```

After:

```mlir
opencl.kernel @scale(%A : !opencl.pointer<f32, global>,
                     %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
  opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
}
func.func @main(...) {
  opencl.launch @scale groups [64, 1, 1] (%A, %T) : ...
  opencl.launch @scale groups [64, 1, 1] (%T, %B) : ...
}
```

Networks repeat their layers, and the device's compiler takes longer than all passes.
Names of values and source locations do not tell kernels apart; the first one's stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ..structure import structure
from ..walking import operations


@dataclass(frozen=True)
class OpenCLMergeKernelsPass(ModulePass):
    """Drop kernels that are the same as an earlier one."""

    name = "opencl-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Let launches name the first of equal kernels, and drop the others."""
        firsts = _first_ones([each for each in op.ops if isinstance(each, KernelOp)])
        for launch in operations(op):
            if isinstance(launch, LaunchOp):
                first = firsts.get(launch.kernel.root_reference.data)
                if first is not None:
                    launch.kernel = SymbolRefAttr(first)


def _first_ones(kernels: list[KernelOp]) -> dict[str, str]:
    """Erase what is there already: the name that stands for each name from now on."""
    known: dict[object, str] = {}
    firsts: dict[str, str] = {}
    for kernel in kernels:
        name = kernel.sym_name.data
        first = known.setdefault(structure(kernel, _is_name), name)
        if first != name:
            firsts[name] = first
            Rewriter.erase_op(kernel)
    return firsts


def _is_name(attribute: str) -> bool:
    return attribute == "sym_name"
