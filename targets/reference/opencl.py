"""The `opencl` level: a host program that launches kernels.

All work-items of many work-groups run in step, one operation after the other, those of
an `opencl.if` or `opencl.when` alone where its condition holds. That is one of the
orders that OpenCL allows, and the others give the same: a cell that two work-items use,
one of them writing, is an error unless a barrier of their group is between the uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute
from xdsl.traits import SymbolTable

from ...dialects.locations import error_at
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.choose import ChooseOp
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import PositionOp, WhenOp
from ...dialects.opencl.effects import argument_uses
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...dialects.opencl.memory import ArrayOp, LoadOp, StoreOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import BarrierOp, DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from .boxes import Coordinate, evaluator, strides
from .budget import LEAST
from .conflicts import ConcurrentPoints, Level, Use
from .dispatch import Step, prepare, prepare_all
from .elements import Array
from .faults import display
from .frame import Frame, pick
from .memory import Memory

ITEMS = 2**15
"""Work-items that run at once, unless one work-group has more."""

# What a frame of work-items knows beside SSA values: of each work-item the place of its
# group among those that run at once, its number in the launch, and the launch.
_GROUP: Final = "group"
_ITEM: Final = "item"
_LAUNCH: Final = "launch"

# What the frame of the host program knows: first and last byte of memories with places.
_ARENA: Final = "arena"


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


@prepare.register(AllocateOp)
def _prepare_allocate(op: AllocateOp) -> Step:
    buffer, place = op.buffer, op.place
    name, sizes = display(buffer), buffer.type.sizes
    element = buffer.type.element_type

    def step(frame: Frame) -> None:
        frame.budget.allocate(op, prod(sizes))
        memory = Memory(name, sizes, element)
        if place is not None:
            _take_place(frame, place, memory)
        frame[buffer] = Pointer(memory)

    return step


def _take_place(frame: Frame, start: int, memory: Memory) -> None:
    """What others hold at this place of the arena is undefined from here on."""
    if _ARENA not in frame:
        frame[_ARENA] = []
    end = start + memory.cells.nbytes
    for other_start, other_end, other in frame[_ARENA]:
        if start < other_end and other_start < end:
            other.written[:] = False
    frame[_ARENA].append((start, end, memory))


@prepare.register(LaunchOp)
def _prepare_launch(op: LaunchOp) -> Step:
    kernel = SymbolTable.lookup_symbol(op, op.kernel)
    if not isinstance(kernel, KernelOp):
        raise error_at(op, f"there is no kernel {op.kernel}")
    body = prepare_all(kernel.body.block.ops)

    def step(frame: Frame) -> None:
        memories = [frame[buffer].memory for buffer in op.buffers]
        if len({id(memory) for memory in memories}) != len(memories):
            raise error_at(op, "the arguments of a kernel must be different buffers")
        launch = _Launch(op, kernel, memories, frame)
        groups = prod(op.group_counts)
        at_once = max(1, ITEMS // launch.items)
        frame.budget.spend(op, groups * launch.items + groups // at_once * LEAST)
        for first in range(0, groups, at_once):
            numbers = np.arange(first, min(first + at_once, groups))
            body(launch.frame(numbers))

    return step


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
        self.groups = ConcurrentPoints(
            frame.counter.reserve(groups), lambda n: f"group {n}"
        )
        self.intervals = {
            space: ConcurrentPoints(
                frame.counter.reserve(self.all_items),
                self._describe,
                "work-items run in any order between barriers: let them use different "
                "cells, or run opencl-synchronize",
            )
            for space in (MemorySpace.GLOBAL, MemorySpace.LOCAL)
        }
        """The work-items between two barriers for a memory space."""
        arguments = zip(kernel.body.block.args, argument_uses(kernel), strict=True)
        self.stored = {argument for argument, use in arguments if use.writes}
        self.coming: list[tuple[Memory, Array]] = []
        """Cells that are stored asynchronously."""

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
            frame[WorkItemQuery.GLOBAL_OFFSET, number] = np.zeros_like(global_ids)
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


def _coordinates(position: Coordinate, sizes: tuple[int, ...]) -> list[Coordinate]:
    """The coordinates of positions in a box, rows contiguous."""
    return [
        position // step % max(size, 1)
        for size, step in zip(sizes, strides(sizes), strict=True)
    ]


@prepare.register(WorkItemOp)
def _prepare_work_item(op: WorkItemOp) -> Step:
    query, result = (op.query.data, op.dimension.value.data), op.result
    bound = op.bound.value.data

    def step(frame: Frame) -> None:
        value = frame[query]
        _check_below(op, frame, value, bound)
        # Plain numbers make the arithmetic of a single work-item faster.
        frame[result] = int(value[0]) if frame.count == 1 else value

    return step


@prepare.register(DelinearizeOp)
def _prepare_delinearize(op: DelinearizeOp) -> Step:
    index, extents, results = op.index, op.extents, tuple(op.coordinates)
    count = prod(extents)

    def step(frame: Frame) -> None:
        position = frame[index]
        _check_below(op, frame, position, count)
        coordinates = _coordinates(position, extents)
        for result, coordinate in zip(results, coordinates, strict=True):
            frame[result] = coordinate

    return step


def _check_below(
    op: WorkItemOp | DelinearizeOp | PositionOp,
    frame: Frame,
    values: Coordinate,
    bound: int,
) -> None:
    wrong = np.atleast_1d((values < 0) | (values >= bound))
    if wrong.any():
        item = int(wrong.argmax())
        raise error_at(
            op,
            f"'{op.name}' expects a value from 0 to below {bound}, got "
            f"{np.atleast_1d(values)[item]}{frame.describe(item)}",
        )


@prepare.register(ForOp)
def _prepare_for(op: ForOp) -> Step:
    index, extent = op.index, op.steps
    name = index.name_hint or "loop"
    body = prepare_all(op.body.block.ops)

    def step(frame: Frame) -> None:
        frame.budget.spend(op, extent * LEAST)
        for value in range(extent):
            frame[index] = frame.labels[name] = value
            body(frame)
        frame.labels.pop(name, None)

    return step


@prepare.register(IfOp)
def _prepare_if(op: IfOp) -> Step:
    values = tuple(op.values)
    conditions = [evaluator(condition.data) for condition in op.conditions]
    body = prepare_all(op.body.block.ops)
    zeros = None if op.zeros is None or op.copy is None else _zeros(op.copy)

    def step(frame: Frame) -> None:
        numbers = [frame[value] for value in values]
        active = np.ones(frame.count, np.bool_)
        for condition in conditions:
            active &= condition(numbers) >= 0
        _run_where(active, body, frame)
        if zeros is not None:
            _run_where(~active, zeros, frame)

    return step


@prepare.register(WhenOp)
def _prepare_when(op: WhenOp) -> Step:
    condition = op.condition
    body = prepare_all(op.body.block.ops)

    def step(frame: Frame) -> None:
        _run_where(frame[condition], body, frame)

    return step


def _run_where(active: Array, body: Step, frame: Frame) -> None:
    """Run a body for the work-items that are active."""
    if active.all():
        body(frame)
    elif active.any():
        origin = np.flatnonzero(active)
        body(Frame(len(origin), frame, origin))


@prepare.register(ChooseOp)
def _prepare_choose(op: ChooseOp) -> Step:
    index, cases, first = op.index, op.cases, op.first.value.data
    arguments = tuple(op.body.block.args)
    body = prepare_all(op.body.block.ops)

    def step(frame: Frame) -> None:
        values = frame.array(index)
        for number, case in enumerate(cases):
            origin = np.flatnonzero(values == first + number)
            if len(origin):
                inner = Frame(len(origin), frame, origin)
                for argument, pointer in zip(arguments, case, strict=True):
                    inner[argument] = inner[pointer]
                body(inner)

    return step


@prepare.register(PositionOp)
def _prepare_position(op: PositionOp) -> Step:
    number, result, bound = op.number, op.result, op.bound.value.data

    def step(frame: Frame) -> None:
        position: Coordinate = frame.array(number).astype(np.int64)
        _check_below(op, frame, position, bound)
        frame[result] = position

    return step


@prepare.register(ArrayOp)
def _prepare_array(op: ArrayOp) -> Step:
    pointer = op.pointer
    element, space = pointer.type.element_type, pointer.type.space.data
    shape, name = (op.length.value.data,), display(pointer)

    def step_of_private(frame: Frame) -> None:
        frame.budget.allocate(op, shape[0] * frame.count)
        copies = 0 if frame.count == 1 else np.arange(frame.count)
        frame[pointer] = Pointer(Memory(name, shape, element, frame.count), copies)

    def step_of_local(frame: Frame) -> None:
        launch: _Launch = frame[_LAUNCH]
        groups = frame[_GROUP]
        copies = int(groups.max()) + 1
        frame.budget.allocate(op, shape[0] * copies)
        memory = Memory(name, shape, element, copies)
        levels = launch.level(memory, MemorySpace.LOCAL, frame[_ITEM])
        frame[pointer] = Pointer(memory, groups, levels)

    return step_of_private if space is MemorySpace.PRIVATE else step_of_local


@prepare.register(LoadOp)
def _prepare_load(op: LoadOp) -> Step:
    source, result = op.pointer, op.result
    cells_of = _addressing(op, result.type)

    def step(frame: Frame) -> None:
        pointer: Pointer = frame[source]
        cells = cells_of(frame, pointer)
        for level in pointer.levels:
            level.record(op, pointer.memory, cells, Use.READ)
        frame[result] = pointer.memory.read(op, frame, cells)

    return step


@prepare.register(StoreOp)
def _prepare_store(op: StoreOp) -> Step:
    value = op.value
    return _storing(op, lambda frame: frame[value])


def _zeros(op: StoreOp) -> Step:
    """What sets the cells of a store to zero, in the same way."""
    return _storing(op, lambda frame: 0)


def _storing(op: StoreOp, value_of: Callable[[Frame], Array | int]) -> Step:
    """What stores a value of each work-item."""
    target, value = op.pointer, op.value
    cells_of = _addressing(op, value.type)
    is_asynchronous = op.asynchronous is not None

    def step(frame: Frame) -> None:
        pointer: Pointer = frame[target]
        cells = cells_of(frame, pointer)
        for level in pointer.levels:
            level.record(op, pointer.memory, cells, Use.ASSIGN)
        pointer.memory.assign(cells, value_of(frame))
        if is_asynchronous:
            launch: _Launch = frame[_LAUNCH]
            launch.coming.append((pointer.memory, cells))
            pointer.memory.written[cells] = False

    return step


def _addressing(
    op: LoadOp | StoreOp, accessed: Attribute
) -> Callable[[Frame, Pointer], Array]:
    """The cells that each work-item accesses, checked to be within the memory."""
    lanes = prod(accessed.get_shape()) if isinstance(accessed, VectorType) else None
    values, position_of = tuple(op.values), evaluator(op.form.data)

    def cells_of(frame: Frame, pointer: Pointer) -> Array:
        memory = pointer.memory
        position = position_of([frame[value] for value in values])
        length = None if memory.holds_vectors else lanes
        last = memory.size // memory.lanes - (length or 1)
        _check_inside(op, frame, memory, position, last)
        start = pointer.copy * memory.size + position * memory.lanes
        if isinstance(start, int):
            start = np.full(frame.count, start)
        return memory.vectors(start, length)

    return cells_of


def _check_inside(
    op: LoadOp | StoreOp, frame: Frame, memory: Memory, position: Coordinate, last: int
) -> None:
    """Raise an error unless all positions are from 0 to `last`."""
    outside = (position < 0) | (position > last)
    if outside is False or (outside is not True and not outside.any()):
        return
    item = int(np.atleast_1d(outside).argmax())
    place = np.atleast_1d(position)[item]
    elements = memory.size // memory.lanes
    length = elements - last
    shown = f" {place}" if length == 1 else f"s {place} to {place + length - 1}"
    raise error_at(
        op,
        f"'{op.name}' accesses element{shown} of {memory.name}, which has {elements}"
        f"{frame.describe(item)}",
    )


@prepare.register(PrefetchOp)
def _prepare_prefetch(op: PrefetchOp) -> Step:
    del op
    return lambda frame: None


@prepare.register(BarrierOp)
def _prepare_barrier(op: BarrierOp) -> Step:
    space = op.space.data
    is_asynchronous = op.asynchronous is not None

    def step(frame: Frame) -> None:
        launch: _Launch = frame[_LAUNCH]
        if is_asynchronous:
            for memory, cells in launch.coming:
                memory.written[cells] = True
            launch.coming.clear()
        waiting = np.bincount(frame[_GROUP])
        if not np.isin(waiting, (0, launch.items)).all():
            raise error_at(
                op,
                "only some work-items of a group reach the barrier"
                f"{frame.describe(0)}, the others wait for ever",
            )
        launch.intervals[space].start = frame.counter.reserve(launch.all_items)

    return step
