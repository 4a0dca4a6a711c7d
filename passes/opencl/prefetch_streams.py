"""`opencl-prefetch-streams`: fetch what a loop reads from memory a page ahead.

What a loop reads line by line comes in time if a core looks far enough ahead. Its own
prefetcher stops at the end of each page, and loads begin early only as far as the
operations between them fit the core: with much arithmetic in a step, both wait for
each other at every page. So the loop asks for the lines of the next page.

Before:

```mlir
%g = opencl.work_item group_id 0 below 1024
opencl.for %i : 1024 {
  %x = opencl.load %X[16384 * %g + 16 * %i]
      : !opencl.pointer<f32, global> -> vector<16xf32>
  ...
}
```

After:

```mlir
%g = opencl.work_item group_id 0 below 1024
opencl.for %i : 1024 {
  opencl.prefetch %X[16384 * %g + 16 * %i + 1024]
  %x = opencl.load %X[16384 * %g + 16 * %i]
      : !opencl.pointer<f32, global> -> vector<16xf32>
  ...
}
```

The steps of an innermost loop must read one stretch of memory without gaps, in other
places for each step of the loops and groups around, and more in all than the last
cache that a core has for itself. The stretch must be a page or longer, together with
those of the next steps around, so that what is a page ahead is read next. Of several
loops that read a memory the first one fetches.

It is done where the arithmetic of a step takes at least `worth` percent of the time
that its lines take to come from memory. With less, a core sees far enough by itself,
and what is asked for twice delays what is needed first: sums of rows took longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, IfOp, LoadOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...targets.hardware import Hardware
from ..hardware_pass import HardwarePass
from ..locations import check_positive
from ..walking import operations
from .kernel_cost import KernelCosts
from .loops import copies_of, innermost_loops
from .stretches import Stretch, fetch, stretches_of


@dataclass(frozen=True)
class OpenCLPrefetchStreamsPass(HardwarePass):
    """Fetch what loops with arithmetic read from memory, a page ahead."""

    name = "opencl-prefetch-streams"

    worth: int = 10
    """The arithmetic of a step, at least, in percent of the time of its lines."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert prefetches where the hardware's figures say that they pay.

        Kernels whose work-groups have several work-items are left alone. Raises
        GinghamError for hardware that is not known.
        """
        check_positive(op, worth=self.worth)
        hardware = self.figures
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FunctionOp)}
        costs = KernelCosts({}, functions, hardware)
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and prod(kernel.group_size) == 1:
                for loop, streams in [*_streams(kernel, hardware)]:
                    operations = costs.operations(loop.body.block)
                    if self._pays(operations, streams, hardware):
                        for stream in streams:
                            fetch(loop, _next_page(stream, hardware))

    def _pays(
        self, operations: float, streams: Sequence[Stretch], hardware: Hardware
    ) -> bool:
        """Whether there is so much arithmetic that loads begin late."""
        size = sum(stream.length * stream.element_bytes for stream in streams)
        rate = hardware.multiply_adds_per_cycle * hardware.clock_gigahertz * 1e9
        share = hardware.memory_gigabytes_per_second * 1e9 / hardware.cores
        return operations / rate >= self.worth / 100 * size / share


def _streams(
    kernel: KernelOp, hardware: Hardware
) -> Iterator[tuple[ForOp, list[Stretch]]]:
    """Innermost loops with their loads that are the first to go through a memory."""
    cache = hardware.own_cache_bytes
    read: set[SSAValue] = set()
    for loop in innermost_loops(kernel):
        inside = operations(loop)
        if any(isinstance(op, IfOp) for op in inside):
            continue
        found = [
            stretch
            for stretch in stretches_of(loop)
            if stretch.load.pointer not in read
            and all(stretch.factors.get(index.value) for index in stretch.around)
            and _reach_bytes(stretch) > cache
            and _run_bytes(stretch) >= hardware.page_bytes
        ]
        if found:
            yield loop, found
        read |= {op.pointer for op in inside if isinstance(op, LoadOp)}


def _run_bytes(stretch: Stretch) -> int:
    """The bytes that a load reads one after the other, also in loops around."""
    run = stretch.length
    for index in reversed(stretch.around):
        if stretch.factors.get(index.value) != run:
            break
        run *= index.extent
    return run * stretch.element_bytes


def _reach_bytes(stretch: Stretch) -> int:
    """The bytes from the first that a load reads to the last."""
    elements = sum(
        abs(stretch.factors.get(index.value, 0)) * (index.extent - 1)
        for index in stretch.around
    )
    return (elements + stretch.length) * stretch.element_bytes


def _next_page(stretch: Stretch, hardware: Hardware) -> list[PrefetchOp]:
    """What fetches the lines of a step that are a page ahead."""
    copies = copies_of(stretch.loop)
    terms = {v: f for v, f in stretch.factors.items() if v not in copies}
    ahead = hardware.page_bytes // stretch.element_bytes
    start = int(stretch.load.form.data.constant) + ahead
    line = hardware.cache_line_bytes
    return stretch.prefetches(terms, start, stretch.length, line)
