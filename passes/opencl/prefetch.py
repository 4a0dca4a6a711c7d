"""`opencl-prefetch`: fetch what loops read next while they compute.

Of a product with few rows, some work-groups in a row read the same part of an operand:
a panel. The first of them waits for every line of it to come from memory, the others
find it in a cache of the core. So each of them fetches its share of the next panel.

Before:

```mlir
%g = opencl.work_item group_id 0 below 128
%h, %b = opencl.delinearize %g into [16, 8]
opencl.for %n : 512 {
  opencl.for %w : 2 unroll {
    %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w]
        : !opencl.pointer<f32, global> -> vector<16xf32>
    ...
  }
}
```

Eight groups read 512 times 32 numbers. After:

```mlir
%g = opencl.work_item group_id 0 below 128
%h, %b = opencl.delinearize %g into [16, 8]
opencl.for %n : 512 {
  opencl.prefetch %W[16384 * %h + 2048 * %b + 4 * %n + 16384]
  opencl.for %w : 2 unroll {
    %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w]
        : !opencl.pointer<f32, global> -> vector<16xf32>
    ...
  }
}
```

The loops that a panel is read in must be inside of those, or of the numbers of the
group, that it is used again for: at least 2 times, and at most 32. Beyond that the
first use takes too small a part of the time. Of steps that fetch and have accumulators
in half of the registers or more, at most two stay side by side
(`opencl-limit-unrolling`): a compiler loads first what more of them read, and has no
registers left. All panels of a kernel, and the next ones, must fit the last cache that
a core has for itself, and what they are parts of must not: it would be there anyway.

What a loop reads once, line by line, comes in time if a core looks far enough ahead.
Its own prefetcher stops at the end of each page, and loads begin early only as far as
the operations between them fit the core: with much arithmetic in a step, both wait for
each other at every page. So the loop asks for the lines of the next page, here of

```mlir
%x = opencl.load %X[16384 * %g + 16 * %i]
    : !opencl.pointer<f32, global> -> vector<16xf32>
```

by `opencl.prefetch %X[16384 * %g + 16 * %i + 1024]`. It is done for what is in other
places for each step of the loops and groups around, and more in all than that cache. It
must be a page or longer, together with what the next steps around read, so that what is
a page ahead is read next. Of several loops that read a memory the first one fetches.
The arithmetic of a step has to take at least a tenth of the time that its lines take to
come from memory. With less, a core sees far enough by itself, and what is asked
for twice delays what is needed first: sums of rows took longer.

In both cases the steps of an innermost loop must read one stretch of memory without
gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.opencl.functions import FunctionOp
from ..hardware_pass import HardwarePass
from ..kernel_pass import KernelPass
from .kernel_cost import KernelCosts
from .modules import kernels
from .panels import fetch_panels
from .streams import fetch_streams


@dataclass(frozen=True)
class OpenCLPrefetchPass(KernelPass, HardwarePass):
    """Fetch the next panel of an operand, and the next page of what is read once."""

    name = "opencl-prefetch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert prefetches where the hardware's figures say that they pay.

        Kernels whose work-groups have several work-items are left alone. Raises
        GinghamError for hardware that is not known.
        """
        hardware = self.figures
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FunctionOp)}
        costs = KernelCosts({}, functions, hardware)
        for kernel in kernels(op):
            if prod(kernel.group_size) == 1:
                fetch_panels(kernel, hardware)
                fetch_streams(kernel, costs, hardware)
