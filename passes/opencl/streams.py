"""Streams: what loops read once, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.memory import LoadOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...targets.hardware import Hardware
from ..clock import Clock
from ..walking import operations
from .kernel_cost import KernelCosts
from .loops import copies_of, group_numbers, innermost_loops
from .stretches import Stretch, fetch, stretches_of

_LEAST_SHARE = 0.1
"""The arithmetic of a step that looks a page ahead, in the time of its lines."""


def fetch_streams(kernel: KernelOp, costs: KernelCosts, hardware: Hardware) -> None:
    """Let loops fetch a page ahead, where there is some arithmetic in a step."""
    for loop, streams in [*_streams(kernel, hardware)]:
        operations = costs.operations(loop.body.block)
        if _share(operations, streams, hardware) >= _LEAST_SHARE:
            for stream in streams:
                fetch(loop, _next_page(stream, hardware))


def _share(operations: float, streams: Sequence[Stretch], hardware: Hardware) -> float:
    """The time of the arithmetic of a step, as a part of the time of its lines."""
    size = sum(stream.length * stream.element_bytes for stream in streams)
    clock = Clock(hardware)
    return clock.operations(operations, cores=1) / clock.memory(size, cores=1)


def _streams(
    kernel: KernelOp, hardware: Hardware
) -> Iterator[tuple[ForOp, list[Stretch]]]:
    """Innermost loops with their loads that are the first to go through a memory."""
    cache = hardware.own_cache_bytes
    numbers = group_numbers(kernel)
    read: set[SSAValue] = set()
    for loop in innermost_loops(kernel):
        inside = operations(loop)
        if any(isinstance(op, IfOp) for op in inside):
            continue
        found = [
            stretch
            for stretch in stretches_of(loop, numbers)
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
