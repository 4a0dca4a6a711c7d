"""OpenCL C for the kernels of a module.

```mlir
opencl.kernel @scale(%A : !opencl.pointer<f32, global>,
                     %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
  %i = opencl.work_item group_id 0 below 64
  %x = opencl.load %A[16 * %i] : !opencl.pointer<f32, global> -> vector<16xf32>
  %y = eltwise.exp %x : vector<16xf32>
  opencl.store %y, %B[16 * %i] : vector<16xf32> -> !opencl.pointer<f32, global>
}
```

is printed as

```c
// scale.tile:3
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scale(__global const float *restrict A, __global float *restrict B) {
  const int i = get_group_id(0);
  const float16 x = vload16(0, A + (16 * i));
  const float16 y = exp(x);
  vstore16(y, 0, B + (16 * i));
}
```

Names come from the program, changed where they mean something in C (`names`). Index
arithmetic is in int where that is proven to be wide enough (`indices`). A truth value
is a byte in memory, an int in a variable, and a lane of 0 or -1 in a vector
(`expressions`). Numbers are printed exactly (`types`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp

from ....dialects.opencl.kernel import KernelOp
from ...printer import PrintedKernel, print_kernel, print_kernels
from .language import OpenCLC


def print_opencl(
    module: ModuleOp,
    *,
    index_bits: int = 32,
    known: Mapping[KernelOp, PrintedKernel] = MappingProxyType({}),
) -> str:
    """OpenCL C 1.2 for all kernels of a module at the opencl level.

    `index_bits` is the least width of index arithmetic: 32, or 64 for long everywhere.
    `known` are kernels that `print_opencl_kernel` has printed before.
    Raises GinghamError for what OpenCL C does not have.
    """
    return print_kernels(module, OpenCLC(), index_bits, known)


def print_opencl_kernel(
    module: ModuleOp, kernel: KernelOp
) -> tuple[str, PrintedKernel]:
    """OpenCL C for one kernel of a module, by itself and as a part of a whole.

    Raises GinghamError for what OpenCL C does not have.
    """
    return print_kernel(module, kernel, OpenCLC())
