"""The `opencl` level: a host program that launches kernels.

All work-items of many work-groups run in step, one operation after the other, those of
an `opencl.if` alone where its conditions hold. That is one of the orders that OpenCL
allows, and the others give the same: a cell that two work-items use, one of them
writing, is an error unless a barrier of their group is between the uses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
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

# What a frame of work-items knows beside SSA values: of each work-item the place of its
# group among those that run at once, its number in the launch, and the launch.
_GROUP: Final = "group"
_ITEM: Final = "item"
_LAUNCH: Final = "launch"


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
    declared = op.buffer.type
    memory = Memory(display(op.buffer), declared.sizes, declared.element_type)
    frame[op.buffer] = Pointer(memory)


@execute.register(LaunchOp)
def execute_launch(op: LaunchOp, frame: Frame) -> None:
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, KernelOp):
        raise fault(op, f"there is no kernel {op.kernel}")
    memories = [frame[buffer].memory for buffer in op.buffers]
    if len({id(memory) for memory in memories}) != len(memories):
        raise fault(op, "the arguments of a kernel must be different buffers")
    launch = _Launch(op, kernel, memories, frame)
    groups = prod(op.group_counts)
    at_once = max(1, ITEMS // launch.items)
    for first in range(0, groups, at_once):
        numbers = np.arange(first, min(first + at_once, groups))
        execute_all(kernel.body.block.ops, launch.frame(numbers))


class _Launch:
    """A launch: its work-items, and the conflicts that they may have."""

    def __init__(
        self, op: LaunchOp, kernel: KernelOp, memories: list[Memory], frame: Frame
    ) -> None:
        self.host = frame
        self.kernel = kernel
        self.memories = memories
        self.group_counts = op.group_counts
        self.items = prod(kernel.group_size)
        """Work-items of one group."""
        groups = prod(op.group_counts)
        self.all_items = groups * self.items
        self.groups = Run(frame.counter.reserve(groups), lambda n: f"group {n}")
        self.intervals = {
            space: Run(frame.counter.reserve(self.all_items), self._describe)
            for space in (MemorySpace.GLOBAL, MemorySpace.LOCAL)
        }
        """The work-items between two barriers for a memory space."""
        stores = [inner for inner in kernel.walk() if isinstance(inner, StoreOp)]
        self.stored = {store.pointer for store in stores}

    def enter(self, frame: Frame) -> _Launch:
        """The launch is the same for all its work-items."""
        del frame
        return self

    def frame(self, groups: Array) -> Frame:
        """The frame of all work-items of these groups."""
        count = len(groups) * self.items
        frame = Frame(count, self.host, np.zeros(count, np.int64))
        group = np.repeat(groups, self.items)
        within = np.tile(np.arange(self.items), len(groups))
        frame[_LAUNCH] = self
        frame[_GROUP] = group - groups[0]
        frame[_ITEM] = item = group * self.items + within
        frame.labels["group"], frame.labels["item"] = group, within
        # Dimension 0 varies fastest.
        sizes = self.kernel.group_size
        group_ids = _coordinates(group, self.group_counts[::-1])[::-1]
        local_ids = _coordinates(within, sizes[::-1])[::-1]
        for number in range(3):
            frame[WorkItemQuery.GROUP_ID, number] = group_ids[number]
            frame[WorkItemQuery.LOCAL_ID, number] = local_ids[number]
            global_ids = group_ids[number] * sizes[number] + local_ids[number]
            frame[WorkItemQuery.GLOBAL_ID, number] = global_ids
        for argument, memory in zip(
            self.kernel.body.block.args, self.memories, strict=True
        ):
            levels: tuple[Level, ...] = ()
            if argument in self.stored:
                levels = (
                    Level(memory.tracker(_GROUP), self.groups, group),
                    *self.level(memory, MemorySpace.GLOBAL, item),
                )
            frame[argument] = Pointer(memory, 0, levels)
        return frame

    def level(
        self, memory: Memory, space: MemorySpace, items: Array
    ) -> tuple[Level, ...]:
        """The conflicts of work-items of one group; none when it has a single one."""
        if self.items == 1:
            return ()
        return (Level(memory.tracker(_ITEM), self.intervals[space], items),)

    def _describe(self, item: int) -> str:
        group, within = divmod(item, self.items)
        return f"item {within} of group {group}"


def _coordinates(position: Array, sizes: tuple[int, ...]) -> list[Array]:
    """The coordinates of positions in a box, rows contiguous."""
    return [
        position // step % max(size, 1)
        for size, step in zip(sizes, strides(sizes), strict=True)
    ]


@execute.register(WorkItemOp)
def execute_work_item(op: WorkItemOp, frame: Frame) -> None:
    value = frame[op.query.data, op.dimension.value.data]
    _check_below(op, frame, value, op.bound.value.data)
    frame[op.result] = value


@execute.register(DelinearizeOp)
def execute_delinearize(op: DelinearizeOp, frame: Frame) -> None:
    position = frame[op.index]
    _check_below(op, frame, position, prod(op.extents))
    coordinates = _coordinates(position, op.extents)
    for result, coordinate in zip(op.coordinates, coordinates, strict=True):
        frame[result] = coordinate


def _check_below(
    op: WorkItemOp | DelinearizeOp, frame: Frame, values: Array, bound: int
) -> None:
    wrong = (values < 0) | (values >= bound)
    if wrong.any():
        item = int(wrong.argmax())
        raise fault(
            op,
            f"'{op.name}' expects a value from 0 to below {bound}, got "
            f"{values[item]}{frame.describe(item)}",
        )


@execute.register(ForOp)
def execute_for(op: ForOp, frame: Frame) -> None:
    index = op.body.block.args[0]
    name = index.name_hint or "loop"
    for value in range(op.extent.value.data):
        frame[index] = np.full(frame.count, value, np.int64)
        frame.labels[name] = value
        execute_all(op.body.block.ops, frame)
    frame.labels.pop(name, None)


@execute.register(IfOp)
def execute_if(op: IfOp, frame: Frame) -> None:
    values = [frame[value] for value in op.values]
    active = np.ones(frame.count, np.bool_)
    for condition in op.conditions:
        active &= evaluate(condition.data, values) >= 0
    if active.all():
        execute_all(op.body.block.ops, frame)
    elif active.any():
        origin = np.flatnonzero(active)
        execute_all(op.body.block.ops, Frame(len(origin), frame, origin))


@execute.register(ArrayOp)
def execute_array(op: ArrayOp, frame: Frame) -> None:
    declared = op.pointer.type
    shape, name = (op.length.value.data,), display(op.pointer)
    if declared.space.data is MemorySpace.PRIVATE:
        memory = Memory(name, shape, declared.element_type, frame.count)
        frame[op.pointer] = Pointer(memory, np.arange(frame.count))
        return
    launch: _Launch = frame[_LAUNCH]
    groups = frame[_GROUP]
    memory = Memory(name, shape, declared.element_type, int(groups.max()) + 1)
    levels = launch.level(memory, MemorySpace.LOCAL, frame[_ITEM])
    frame[op.pointer] = Pointer(memory, groups, levels)


@execute.register(LoadOp)
def execute_load(op: LoadOp, frame: Frame) -> None:
    pointer: Pointer = frame[op.pointer]
    cells = _cells(op, frame, pointer, op.result.type)
    for level in pointer.levels:
        level.record(op, pointer.memory, cells, Use.READ)
    frame[op.result] = pointer.memory.read(op, frame, cells)


@execute.register(StoreOp)
def execute_store(op: StoreOp, frame: Frame) -> None:
    pointer: Pointer = frame[op.pointer]
    cells = _cells(op, frame, pointer, op.value.type)
    for level in pointer.levels:
        level.record(op, pointer.memory, cells, Use.ASSIGN)
    pointer.memory.assign(cells, frame[op.value])


def _cells(
    op: LoadOp | StoreOp, frame: Frame, pointer: Pointer, accessed: Attribute
) -> Array:
    """The cells that each work-item accesses, checked to be within the memory."""
    memory = pointer.memory
    length: int | None = None
    if isinstance(accessed, VectorType) and not memory.holds_vectors:
        length = prod(accessed.get_shape())
    position = evaluate(op.form.data, [frame[value] for value in op.values])
    elements = prod(memory.shape)
    outside = (position < 0) | (position + (length or 1) > elements)
    if np.any(outside):
        item = int(np.broadcast_to(np.asarray(outside), (frame.count,)).argmax())
        place = np.broadcast_to(np.asarray(position), (frame.count,))[item]
        last = f"s {place} to {place + length - 1}" if length else f" {place}"
        raise fault(
            op,
            f"'{op.name}' accesses element{last} of {memory.name}, which has {elements}"
            f"{frame.describe(item)}",
        )
    start = np.asarray(pointer.copy * memory.size + position * memory.lanes, np.int64)
    return memory.vectors(np.broadcast_to(start, (frame.count,)), length)


@execute.register(BarrierOp)
def execute_barrier(op: BarrierOp, frame: Frame) -> None:
    launch: _Launch = frame[_LAUNCH]
    waiting = np.bincount(frame[_GROUP])
    if not np.isin(waiting, (0, launch.items)).all():
        raise fault(
            op,
            "only some work-items of a group reach the barrier"
            f"{frame.describe(0)}, the others wait for ever",
        )
    run = launch.intervals[op.space.data]
    run.start = frame.counter.reserve(launch.all_items)
