"""How much memory a compiled program needs, and which buffers share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import GinghamError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import SSAValue

    from ..dialects.opencl.attributes import BufferType


@dataclass(frozen=True)
class PlacedBuffer:
    """A buffer that one call needs from launch `first` to launch `last`.

    It takes `size` bytes from byte `place` on.
    """

    name: str
    size: int
    place: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryReport:
    """The device memory of one program for inputs of certain shapes, in bytes."""

    inputs: int
    results: int
    kept: int
    """What is computed once of constant inputs."""
    peak: int
    """All that is between the launches of a call."""
    lower_bound: int
    """The most of `peak` that is in use at once: no placement needs less."""
    unshared: int
    """What `peak` would be with memory for each buffer of its own."""
    buffers: tuple[PlacedBuffer, ...]
    """What shares the memory of `peak`, in the order of first use."""

    def __str__(self) -> str:
        """A table for people."""
        lines = [
            f"inputs   {_shown(self.inputs)}",
            f"results  {_shown(self.results)}",
            f"kept     {_shown(self.kept)}",
            f"between  {_shown(self.peak)}, of which {_shown(self.lower_bound)} are in "
            f"use at once; {_shown(self.unshared)} without sharing",
        ]
        for buffer in self.buffers:
            lines.append(
                f"  {buffer.name}: {_shown(buffer.size)} at {buffer.place}, launches "
                f"{buffer.first} to {buffer.last}"
            )
        return "\n".join(lines)


def memory_report(module: ModuleOp) -> MemoryReport:
    """The memory of a module at the `opencl` level, as its buffers are placed."""
    from ..dialects.opencl.kernel import AllocateOp
    from ..passes.opencl.lifetimes import (
        buffer_bytes,
        lower_bound,
        own_buffers,
        returned_buffers,
    )

    function = _entry(module)
    lifetimes = own_buffers(function)
    allocations = [op for op in function.body.block.ops if isinstance(op, AllocateOp)]
    sizes: dict[SSAValue, int] = {
        op.buffer: buffer_bytes(op.buffer.type) for op in allocations
    }
    returned = returned_buffers(function)
    buffers = [
        PlacedBuffer(
            op.buffer.name_hint or "a buffer",
            lifetimes[op.buffer].size,
            op.place,
            lifetimes[op.buffer].first,
            lifetimes[op.buffer].last,
        )
        for op in allocations
        if op.buffer in lifetimes and op.place is not None
    ]
    own = [sizes[op.buffer] for op in allocations if op.buffer in lifetimes]
    unplaced = sum(own) - sum(buffer.size for buffer in buffers)
    ends = [buffer.place + buffer.size for buffer in buffers]
    kept = [
        sizes[op.buffer]
        for op in allocations
        if op.buffer not in lifetimes and op.buffer not in returned
        if op.buffer.first_use is not None
    ]
    return MemoryReport(
        inputs=sum(map(buffer_bytes, _inputs(function))),
        results=sum(sizes.get(value, 0) for value in returned),
        kept=sum(kept),
        peak=max(ends, default=0) + unplaced,
        lower_bound=lower_bound(list(lifetimes.values())),
        unshared=sum(own),
        buffers=tuple(sorted(buffers, key=lambda buffer: buffer.first)),
    )


def _inputs(function: FuncOp) -> list[BufferType]:
    from ..dialects.opencl.attributes import BufferType

    types = [argument.type for argument in function.body.block.args]
    return [type for type in types if isinstance(type, BufferType)]


def _entry(module: ModuleOp) -> FuncOp:
    from xdsl.dialects.func import FuncOp

    for op in module.ops:
        if isinstance(op, FuncOp):
            return op
    raise GinghamError("the module has no function")


def _shown(count: int) -> str:
    from ..targets.opencl.host_memory import format_bytes

    return format_bytes(count)
