"""`opencl-synchronize`: barriers where work-items of a group use each other's cells.

Work-items of a group run in any order. Where one writes a cell of local or global
memory that another one reads or writes before or after, a barrier must be between the
two. This pass finds these pairs and puts as few barriers as it can before the second of
them, as far out of loops as that is right; where the pair is of different iterations of
a loop, at the end of its body.

Before:

```mlir
opencl.kernel @turn(...) group [8, 1, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %i = opencl.work_item local_id 0 below 8
  opencl.for %k : 4 {
    %x = opencl.load %A[8 * %k + %i] : ...
    opencl.store %x, %t[%i] : ...
    %y = opencl.load %t[-%i + 7] : ...
    opencl.store %y, %B[8 * %k + %i] : ...
  }
}
```

After:

```mlir
  opencl.for %k : 4 {
    %x = opencl.load %A[8 * %k + %i] : ...
    opencl.store %x, %t[%i] : ...
    opencl.barrier local
    %y = opencl.load %t[-%i + 7] : ...
    opencl.store %y, %B[8 * %k + %i] : ...
    opencl.barrier local
  }
```

Whether two accesses meet is decided exactly on the integer points of their positions,
where each loop may be at any iteration. All work-items of a group must reach a barrier
or none: it is an error when one is needed under a condition that depends on the
work-item or on data. Barriers that are there already count.

`lower-stripe-to-opencl` does the same for the kernels that it makes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .barriers import (
    synchronize,
)
from .modules import kernels


@dataclass(frozen=True)
class OpenCLSynchronizePass(ModulePass):
    """Put barriers between accesses of work-items that depend on each other."""

    name = "opencl-synchronize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert barriers into all kernels that need some."""
        for kernel in kernels(op):
            synchronize(kernel)
