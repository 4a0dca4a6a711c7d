"""`opencl-stream-stores`: let large results go past the caches.

A processor reads a line of memory before it writes a part of it, and keeps it in its
caches, where it replaces what is still needed. A result that is larger than the caches
and written in whole lines, each once, gains from neither: its vectors are marked to be
stored directly to memory. On a chain that reads and writes as much, that is a third of
the traffic.

Before:

```mlir
opencl.for %j : 1048576 {
  %x = opencl.load %A[16 * %j] : !opencl.pointer<f32, global> -> vector<16xf32>
  opencl.store %x, %B[16 * %j] : vector<16xf32> -> !opencl.pointer<f32, global>
}
```

After:

```mlir
opencl.for %j : 1048576 {
  %x = opencl.load %A[16 * %j] : !opencl.pointer<f32, global> -> vector<16xf32>
  opencl.store stream %x, %B[16 * %j] : vector<16xf32> -> !opencl.pointer<f32, global>
}
```

A buffer is large when it fills half of the last cache, or twice that cache if a later
launch reads it. Left alone are buffers that the kernel reads itself, places that are no
multiple of the vector, stores in loops that do not move them, and vectors shorter than
a line that do not follow each other in the innermost loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, VectorType, i1
from xdsl.ir import SSAValue

from ...dialects.eltwise.ops import value_bytes
from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.effects import Use
from ...dialects.opencl.kernel import LaunchOp
from ...dialects.opencl.memory import StoreOp
from ..hardware_pass import HardwarePass
from ..kernel_pass import LaunchPass
from ..walking import operations
from .dependences import kernel_uses
from .lifetimes import buffer_bytes
from .loops import loops_around
from .modules import host_launches, host_programs, kernels_by_name


@dataclass(frozen=True)
class OpenCLStreamStoresPass(LaunchPass, HardwarePass):
    """Mark stores of large results that nothing reads soon."""

    name = "opencl-stream-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark stores of all kernels with `stream`, where there are vectors.

        Raises GinghamError for hardware that is not known.
        """
        hardware = self.figures
        if not hardware.has_vectors:
            return
        cache = hardware.caches[-1].size_bytes
        line = hardware.cache_line_bytes
        kernels = kernels_by_name(op)
        uses = kernel_uses(kernels)
        streams: dict[str, set[int]] = {}
        for function in host_programs(op):
            read: set[SSAValue] = set()
            for launch in reversed(host_launches(function)):
                name = launch.kernel_name
                found = _streams(launch, uses[name], read, cache)
                streams[name] = streams.get(name, found) & found
                read |= _read_by(launch, uses[name])
        for name, arguments in streams.items():
            body = kernels[name].body.block
            pointers = {body.args[number] for number in arguments}
            for store in operations(kernels[name]):
                if (
                    isinstance(store, StoreOp)
                    and store.pointer in pointers
                    and _writes_whole_lines(store, line)
                ):
                    store.stream = UnitAttr()


def _streams(
    launch: LaunchOp, own: list[Use], read: set[SSAValue], cache: int
) -> set[int]:
    """The arguments of a launch that are only written, large, and not needed soon.

    `read` are the buffers that launches after it read.
    """
    found: set[int] = set()
    for number, (buffer, use) in enumerate(zip(launch.buffers, own, strict=True)):
        if not use.writes or use.reads or not isinstance(buffer.type, BufferType):
            continue
        if [*launch.buffers].count(buffer) > 1:
            continue
        size = buffer_bytes(buffer.type)
        limit = 2 * cache if buffer in read else cache // 2
        if size >= limit:
            found.add(number)
    return found


def _read_by(launch: LaunchOp, own: list[Use]) -> set[SSAValue]:
    """The buffers that a launch reads."""
    pairs = zip(launch.buffers, own, strict=True)
    return {buffer for buffer, use in pairs if use.reads}


def _writes_whole_lines(store: StoreOp, line: int) -> bool:
    """Whether a store writes aligned vectors, each place once, and lines at once."""
    type = store.value.type
    if not isinstance(type, VectorType) or type.element_type == i1:
        return False
    (lanes,) = type.get_shape()
    form = store.form.data
    if any(number % lanes for number in (*form.coefficients, form.constant)):
        return False
    steps = dict(zip(store.values, form.coefficients, strict=True))
    loops = loops_around(store)
    if any(loop.index not in steps for loop in loops):
        return False
    if value_bytes(type) >= line:
        return True
    return bool(loops) and steps[loops[0].index] == lanes
