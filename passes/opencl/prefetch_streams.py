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

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from operator import mul

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, IfOp, LoadOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ...targets.hardware import Hardware, load_hardware
from ..locations import check_positive, located
from ..walking import operations
from .kernel_cost import KernelCosts
from .stretches import element_bytes, factors_of, lanes, side_by_side


@dataclass(frozen=True)
class OpenCLPrefetchStreamsPass(ModulePass):
    """Fetch what loops with arithmetic read from memory, a page ahead."""

    name = "opencl-prefetch-streams"

    hardware: str = "cpu-avx512"
    """The description of the device: a name or the path of a file."""
    worth: int = 10
    """The arithmetic of a step, at least, in percent of the time of its lines."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert prefetches where the hardware's figures say that they pay.

        Kernels whose work-groups have several work-items are left alone. Raises
        GinghamError for hardware that is not known.
        """
        check_positive(op, worth=self.worth)
        hardware = load_hardware(self.hardware)
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FunctionOp)}
        costs = KernelCosts({}, functions, hardware)
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and prod(kernel.group_size) == 1:
                extents = _extents(kernel)
                for loop, loads in [*_streams(kernel, extents, hardware)]:
                    steps = [_step(load, loop, extents) or 0 for load in loads]
                    read = sum(map(mul, steps, map(element_bytes, loads)))
                    operations = costs.operations(loop.body.block)
                    if self._pays(operations, read, hardware):
                        for load, step in zip(loads, steps, strict=True):
                            _fetch(loop, load, step, hardware)

    def _pays(self, operations: float, size: int, hardware: Hardware) -> bool:
        """Whether there is so much arithmetic that loads begin late."""
        rate = hardware.multiply_adds_per_cycle * hardware.clock_gigahertz * 1e9
        share = hardware.memory_gigabytes_per_second * 1e9 / hardware.cores
        return operations / rate >= self.worth / 100 * size / share


def _extents(kernel: KernelOp) -> dict[SSAValue, int]:
    """How many values the indices of loops and work-groups have."""
    found: dict[SSAValue, int] = {}
    for op in operations(kernel):
        if isinstance(op, ForOp):
            found[op.body.block.args[0]] = op.extent.value.data
        elif isinstance(op, WorkItemOp):
            found[op.result] = op.bound.value.data
        elif isinstance(op, DelinearizeOp):
            found |= dict(zip(op.coordinates, op.extents, strict=True))
    return found


def _streams(
    kernel: KernelOp, extents: dict[SSAValue, int], hardware: Hardware
) -> Iterator[tuple[ForOp, list[LoadOp]]]:
    """Innermost loops with their loads that are the first to go through a memory."""
    cache = hardware.own_cache_bytes
    read: set[SSAValue] = set()
    for loop in operations(kernel):
        if not isinstance(loop, ForOp) or loop.unroll is not None:
            continue
        if any(
            isinstance(op, ForOp | IfOp) and not _is_unrolled(op)
            for op in _inside(loop)
        ):
            continue
        loads = [op for op in _inside(loop) if isinstance(op, LoadOp)]
        found = [
            load
            for load in loads
            if load.pointer not in read
            and _goes_on(load, loop, extents)
            and _reach_bytes(load, extents) > cache
            and _run_bytes(load, loop, extents) >= hardware.page_bytes
        ]
        if found:
            yield loop, found
        read |= {load.pointer for load in loads}


def _inside(loop: ForOp) -> Iterator[Operation]:
    return (op for part in loop.body.block.ops for op in part.walk())


def _is_unrolled(op: Operation) -> bool:
    return isinstance(op, ForOp) and op.unroll is not None


def _goes_on(load: LoadOp, loop: ForOp, extents: dict[SSAValue, int]) -> bool:
    """Whether a load reads vectors side by side, none of them twice."""
    pointer = load.pointer.type
    if not isinstance(pointer, PointerType) or not isinstance(
        load.result.type, VectorType
    ):
        return False
    if pointer.space.data is not MemorySpace.GLOBAL:
        return False
    factors = factors_of(load)
    if not {*factors} <= {*extents}:
        return False
    if factors.get(loop.body.block.args[0]) != _step(load, loop, extents):
        return False
    return all(factors.get(index) for index in _around(loop) if extents[index] > 1)


def _step(load: LoadOp, loop: ForOp, extents: dict[SSAValue, int]) -> int | None:
    """The elements that a step of a loop reads side by side; None with gaps."""
    return side_by_side(load, {index: extents[index] for index in _copies(loop)})


def _copies(loop: ForOp) -> set[SSAValue]:
    """The indices of the unrolled loops inside an innermost one."""
    return {op.body.block.args[0] for op in _inside(loop) if isinstance(op, ForOp)}


def _run_bytes(load: LoadOp, loop: ForOp, extents: dict[SSAValue, int]) -> int:
    """The bytes that a load reads one after the other, also in loops around."""
    factors = factors_of(load)
    run = _step(load, loop, extents) or 0
    for index in (loop.body.block.args[0], *_around(loop)):
        if extents[index] > 1 and factors.get(index) != run:
            break
        run *= extents[index]
    return run * element_bytes(load)


def _around(loop: ForOp) -> Iterator[SSAValue]:
    """The indices of the loops around a loop and of the groups, the inner first."""
    parent: Operation | None = loop.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            yield parent.body.block.args[0]
        if isinstance(parent, KernelOp):
            yield from _group_indices(parent)
        parent = parent.parent_op()


def _group_indices(kernel: KernelOp) -> Iterator[SSAValue]:
    for op in kernel.body.block.ops:
        if isinstance(op, DelinearizeOp):
            yield from reversed(op.coordinates)
        elif isinstance(op, WorkItemOp) and not any(
            isinstance(use.operation, DelinearizeOp) for use in op.result.uses
        ):
            yield op.result


def _reach_bytes(load: LoadOp, extents: dict[SSAValue, int]) -> int:
    """The bytes from the first that a load reads to the last."""
    terms = zip(load.values, load.form.data.coefficients, strict=True)
    elements = sum(abs(int(f)) * (extents[value] - 1) for value, f in terms)
    return (elements + lanes(load)) * element_bytes(load)


def _fetch(loop: ForOp, load: LoadOp, step: int, hardware: Hardware) -> None:
    """Put what fetches the lines of the next page at the start of a loop."""
    element = element_bytes(load)
    line = max(hardware.cache_line_bytes // element, 1)
    copies = _copies(loop)
    terms = [
        (value, factor)
        for value, factor in zip(load.values, load.form.data.coefficients, strict=True)
        if value not in copies
    ]
    start = load.form.data.constant + hardware.page_bytes // element
    for offset in range(0, step, line):
        form = LinearForm.of([factor for _, factor in terms], start + offset)
        op = PrefetchOp(load.pointer, form, [value for value, _ in terms])
        Rewriter.insert_op(located(op, load), InsertPoint.at_start(loop.body.block))
