"""How long a launch takes, about: what decides whether it is worth joining others.

All loops of a kernel have known lengths, so its operations can be counted. A group
takes the larger of its operations and its loads, a launch the larger of its groups on
all cores and its memory traffic. Of conditions side by side the longest counts, as they
are mostly parts of one region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, Block, Operation

from ...dialects.eltwise.element_types import bit_width
from ...dialects.eltwise.ops import ElementwiseOp, element_of, lane_count
from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.choose import ChooseOp
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import WhenOp
from ...dialects.opencl.division import DivideOp
from ...dialects.opencl.functions import CallOp, FunctionOp
from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace
from ...targets.hardware import Hardware
from ..arithmetic import weight_of
from ..clock import Clock
from .forms import space_of
from .lifetimes import buffer_bytes


@dataclass(frozen=True)
class Count:
    """Vector operations and accesses of a body."""

    operations: float = 0.0
    accesses: float = 0.0
    bytes: float = 0.0
    """Of global memory."""

    def __add__(self, other: Count) -> Count:
        return Count(
            self.operations + other.operations,
            self.accesses + other.accesses,
            self.bytes + other.bytes,
        )


@dataclass(frozen=True)
class LaunchCost:
    """What a launch costs, apart from being one."""

    groups: int
    group_seconds: float
    """Of one work-group on one core."""
    traffic_bytes: float
    """Between cores and memory, by all of them."""


class KernelCosts:
    """Counts kernels of one module, and costs their launches on one device."""

    def __init__(
        self,
        kernels: Mapping[str, KernelOp],
        functions: Mapping[str, FunctionOp],
        hardware: Hardware,
    ) -> None:
        self._kernels = kernels
        self._functions = functions
        self._hardware = hardware
        self._clock = Clock(hardware)
        self._counts: dict[str, Count] = {}

    def of(self, launch: LaunchOp) -> LaunchCost:
        """The cost of a launch."""
        hardware = self._hardware
        name = launch.kernel_name
        count = self._counts.get(name)
        if count is None:
            count = self._counts[name] = self._block(self._kernels[name].body.block)
        size = prod(self._kernels[name].group_size)
        items = -(-size // hardware.items_at_once)
        cycles, _ = self._clock.step(count.operations, count.accesses)
        groups = prod(launch.group_counts)
        return LaunchCost(
            groups,
            items * cycles * self._clock.cycle,
            min(count.bytes * size * groups, _size(launch)),
        )

    def operations(self, block: Block) -> float:
        """The vector operations of a part of a kernel."""
        return self._block(block).operations

    def _block(self, block: Block, loops: tuple[ForOp, ...] = ()) -> Count:
        """The operations of a block inside these loops."""
        total = longest = Count()
        for op in block.ops:
            count = self._operation(op, loops)
            if isinstance(op, IfOp | WhenOp):
                longest = max(longest, count, key=lambda c: c.operations + c.accesses)
            else:
                total += count
        return total + longest

    def _operation(self, op: Operation, loops: tuple[ForOp, ...]) -> Count:
        match op:
            case ForOp():
                return self._block(op.body.block, (*loops, op))
            case IfOp() | WhenOp() | ChooseOp():
                return self._block(op.body.block, loops)
            case CallOp():
                function = self._functions.get(op.callee.root_reference.data)
                body = None if function is None else function.body.block
                return Count() if body is None else self._block(body, loops)
            case ElementwiseOp():
                steps = prod(loop.steps for loop in loops)
                vectors = self._vectors(op.results[0].type)
                return Count(steps * weight_of(op) * vectors)
            case DivideOp():
                steps = prod(loop.steps for loop in loops)
                return Count(steps * op.WEIGHT * self._vectors(op.result.type))
            case LoadOp():
                return self._access(op, op.result.type, loops)
            case StoreOp():
                return self._access(op, op.value.type, loops)
            case _:
                return Count()

    def _access(
        self, op: LoadOp | StoreOp, type: Attribute, loops: tuple[ForOp, ...]
    ) -> Count:
        space = space_of(op.pointer)
        if space is MemorySpace.PRIVATE:
            # Mostly registers.
            return Count()
        steps = prod(
            loop.steps
            for loop in loops
            # What unrolled steps have in common is accessed once.
            if loop.unroll is None or loop.index in op.values
        )
        moved = steps * _bits(type) / 8 if space is MemorySpace.GLOBAL else 0.0
        return Count(0.0, steps * self._vectors(type), moved)

    def _vectors(self, type: Attribute) -> float:
        """How many registers a value fills; each lane has its own."""
        if self._hardware.has_vectors:
            return max(_bits(type) / self._hardware.vector_bits, 1.0)
        return _bits(type) / 32


def _bits(type: Attribute) -> int:
    return lane_count(type) * max(bit_width(element_of(type)), 8)


def _size(launch: LaunchOp) -> float:
    """The bytes of all buffers of a launch."""
    types = [buffer.type for buffer in launch.buffers]
    return float(sum(buffer_bytes(t) for t in types if isinstance(t, BufferType)))
