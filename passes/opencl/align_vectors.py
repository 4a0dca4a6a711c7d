"""`opencl-align-vectors`: mark the vectors that lie at multiples of their size.

A lane of a GPU loads and stores four elements at once where its compiler knows that
they lie together as a vector does: the position is a multiple of the vector's elements
whatever the indices are. What allocates memory lets it begin at such multiples.

Before:

```mlir
%x = opencl.load %A[1024 * %i + 4 * %j] : ... -> vector<4xf32>
opencl.store %x, %B[1003 * %i + 4 * %j] : vector<4xf32> -> ...
```

After:

```mlir
%x = opencl.load aligned %A[1024 * %i + 4 * %j] : ... -> vector<4xf32>
opencl.store %x, %B[1003 * %i + 4 * %j] : vector<4xf32> -> ...
```

Private memory is left alone: it is registers.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from ...dialects.opencl.memory import LoadOp, StoreOp, lies_aligned
from ...dialects.stripe.attributes import MemorySpace
from ..kernel_pass import KernelPass
from ..walking import operations
from .forms import space_of


@dataclass(frozen=True)
class OpenCLAlignVectorsPass(KernelPass):
    """Mark vectors that always lie at a multiple of their elements."""

    name = "opencl-align-vectors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark loads and stores of all kernels and functions."""
        for access in operations(op):
            if not isinstance(access, LoadOp | StoreOp):
                continue
            if space_of(access.pointer) is not MemorySpace.PRIVATE:
                access.aligned = UnitAttr() if lies_aligned(access) else None
