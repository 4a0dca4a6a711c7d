"""The `opencl` level: a host program that launches kernels.

All work-items of many work-groups run in step, one operation after the other, those of
an `opencl.if` alone where its conditions hold. That is one of the orders that OpenCL
allows, and the others give the same: a cell that two work-items use, one of them writing,
is an error unless a barrier of their group is between the uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...dialects.opencl.ops import (
    ArrayOp,
    BarrierOp,
    DelinearizeOp,
    ForOp,
    IfOp,
    LoadOp,
    StoreOp,
    WorkItemOp,
)
from ...dialects.stripe.attributes import MemorySpace
from .boxes import Coordinate, evaluate, strides
from .conflicts import Use
from .dispatch import execute, execute_all
from .elements import Array
from .faults import display, fault
from .frame import Frame, pick
from .memory import Level, Memory, Run

ITEMS = 2**15
"""Work-items that run at once, unless one work-group has more."""


@dataclass(frozen=True)
class Pointer:
    """A memory, and which copy of it each work-item has."""

    memory: Memory
    copy: Coordinate = 0
    levels: tuple[Level, ...] = ()

    def enter(self, frame: Frame) -> Pointer:
        """The same pointer for the work-items of an inner frame."""
        return replace(
            self,
            copy=pick(self.copy, frame.origin),
            levels=tuple(level.at(frame.origin) for level in self.levels),
        )


@execute.register(AllocateOp)
def execute_allocate(op: AllocateOp, frame: Frame) -> None:
    type = op.buffer.type
    frame[op.buffer] = Pointer(
        Memory(display(op.buffer), type.sizes, type.element_type)
    )


@execute.register(LaunchOp)
def execute_launch(op: LaunchOp, frame: Frame) -> None:
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, KernelOp):
        raise fault(op, f"there is no kernel {op.kernel}")
    memories = [frame[buffer].memory for buffer in op.buffers]
    if len({id(memory) for memory in memories}) != len(memories):
        raise fault(op, "a kernel's arguments must be different buffers")
    launch = _Launch(op, kernel, memories, frame)
    at_once = max(1, ITEMS // launch.items)
    groups = prod(op.group_counts)
    for first in range(0, groups, at_once):
        items = launch.frame(np.arange(first, min(first + at_once, groups)))
        execute_all(kernel.body.block.ops, items)


class _Launch:
    """A launch, and what its work-items are called in messages."""

    def __init__(
        self, op: LaunchOp, kernel: KernelOp, memories: list[Memory], frame: Frame
    ) -> None:
        self.kernel = kernel
        self.memories = memories
        self.outer = frame
        self.group_counts = op.group_counts
        self.group_size = kernel.group_size
        self.items = prod(kernel.group_size)
        """Work-items of one group."""
        count = prod(op.group_counts)
        self.groups = Run(frame.counter.reserve(count), self._describe_group)

    def frame(self, groups: Array) -> Frame:
        """The frame of the work-items of these groups, numbered from 0."""
        frame = Frame(len(groups) * self.items, self.outer)
        group = np.repeat(groups, self.items)
        item = np.tile(np.arange(self.items), len(groups))
        group_ids = _coordinates(group, self.group_counts)
        local_ids = _coordinates(item, self.group_size)
        for dimension in range(3):
            size = self.group_size[dimension]
            global_ids = group_ids[dimension] * size + local_ids[dimension]
            frame[WorkItemQuery.GROUP_ID, dimension] = group_ids[dimension]
            frame[WorkItemQuery.LOCAL_ID, dimension] = local_ids[dimension]
            frame[WorkItemQuery.GLOBAL_ID, dimension] = global_ids
        frame.labels["group"], frame.labels["item"] = group, item
        frame["group"] = group - groups[0]
        frame["item"] = group * self.items + item
        frame["launch"] = self
        self._bind(frame, group)
        return frame
