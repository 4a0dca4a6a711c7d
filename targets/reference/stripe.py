"""The `stripe` level: blocks run every statement for all their points at once.

The points of a block are the arrays of its index values, of those points where all
constraints hold. A nested block multiplies the points: each of its points knows the
outer point that it belongs to. Large blocks run part after part: the order of points
means nothing, but in a serial block, which runs one point (of all outer points) after
the other. What a program must not do is checked: accesses out of bounds, reads of
memory that was never written, conflicts between points (see `conflicts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
from xdsl.ir import Operation

from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp
from ...dialects.stripe.reshape import ReshapeOp
from .boxes import Box, Coordinate, evaluate, listed, parts
from .budget import LEAST
from .conflicts import ConcurrentPoints, Use
from .contention import contended_memories
from .dispatch import Step, prepare, prepare_all
from .elements import literal
from .faults import display
from .frame import Frame, pick
from .memory import Memory
from .window import PointFrame, Window

PART = 2**17
"""Points of a block that run at once."""

CELLS = 2**24
"""Cells that the points that run at once may allocate together."""


@prepare.register(AllocOp)
def _prepare_alloc(op: AllocOp) -> Step:
    view = op.view
    name, sizes, element = display(view), view.type.sizes, view.type.element_type

    def step(frame: Frame) -> None:
        frame.budget.allocate(op, prod(sizes) * frame.count)
        copies = 0 if frame.count == 1 else np.arange(frame.count)
        frame[view] = Window.whole(Memory(name, sizes, element, frame.count), copies)

    return step


@prepare.register(ReshapeOp)
def _prepare_reshape(op: ReshapeOp) -> Step:
    source, view = op.source, op.view
    name, sizes = display(view), view.type.sizes

    def step(frame: Frame) -> None:
        memory: Memory = frame[source].memory
        frame[view] = Window.whole(memory.reshaped(name, sizes))

    return step


@prepare.register(BlockOp)
def _prepare_block(op: BlockOp) -> Step:
    body = prepare_all(op.body.block.ops)
    ranges, serial = op.index_ranges, op.is_serial
    points = prod(ranges)
    allocated = sum(_size(inner) for inner in op.body.block.ops)
    limit = max(1, min(PART, CELLS // max(1, allocated)))
    initial = [
        (number, refinement.init)
        for number, refinement in enumerate(op.refinement_list)
        if refinement.init is not None
    ]

    def step(frame: Frame) -> None:
        frame.budget.require(op, frame.count * points)
        for number, value in initial:
            _initialize(op, number, value, frame)
        first = frame.counter.reserve(frame.count * points)
        run = ConcurrentPoints(first, lambda point: _describe(op, frame, point))
        # A serial point may use what the one before it did.
        contended = frozenset[int]() if serial else contended_memories(op, frame)
        boxes = _in_order if serial else parts
        for box in boxes((frame.count, *ranges), limit):
            frame.budget.spend(op, prod(map(len, box)) + LEAST)
            inner = _points(op, frame, box, run, contended)
            if inner.count:
                _refine(op, frame, inner)
                body(inner)

    return step


def _in_order(extents: tuple[int, ...], limit: int) -> Iterator[Box]:
    """Parts of (outer points x ranges) with one value of each index, in their order."""
    outer, *ranges = extents
    for (part,) in parts((outer,), limit):
        for place in product(*(range(extent) for extent in ranges)):
            yield (part, *(range(value, value + 1) for value in place))


def _size(op: Operation) -> int:
    return prod(op.view.type.sizes) if isinstance(op, AllocOp) else 0


def _names(op: BlockOp) -> list[str]:
    return [i.name_hint or f"d{number}" for number, i in enumerate(op.indices)]


def _describe(op: BlockOp, frame: Frame, point: int) -> str:
    outer, number = divmod(point, max(1, prod(op.index_ranges)))
    place = np.unravel_index(number, op.index_ranges) if op.index_ranges else ()
    pairs = zip(_names(op), place, strict=True)
    own = [f"{name} = {value}" for name, value in pairs]
    return "(" + ", ".join((*frame.labels_at(outer), *own)) + ")"


def _points(
    op: BlockOp,
    frame: Frame,
    box: Box,
    run: ConcurrentPoints,
    contended: frozenset[int],
) -> PointFrame:
    """The frame of the active points in a part of (outer points x ranges)."""
    outer, *indices = listed(box)
    if op.constraints:
        values: list[Coordinate] = [*indices]
        values += [pick(frame[capture], outer) for capture in op.captures]
        active = np.ones(outer.shape, np.bool_)
        for form in op.conditions:
            active &= evaluate(form, values) >= 0
        outer, *indices = (coordinate[active] for coordinate in (outer, *indices))
    numbers = outer
    for index, extent in zip(indices, op.index_ranges, strict=True):
        numbers = numbers * extent + index
    inner = PointFrame(frame, outer, run, numbers, contended)
    for name, argument, index in zip(_names(op), op.indices, indices, strict=True):
        inner[argument] = index
        inner.labels[name] = index
    return inner


def _refine(op: BlockOp, frame: Frame, inner: PointFrame) -> None:
    """Give a frame the windows of the block's refinements."""
    values: list[Coordinate] = [inner[value] for value in op.form_values]
    for number, refinement in enumerate(op.refinement_list):
        outer: Window = frame[op.buffer(number)]
        offsets = [evaluate(form, values) for form in refinement.access]
        inner[op.view(number)] = outer.refined(
            inner, offsets, op.view_type(number).sizes, refinement.aggregation
        )


def _initialize(op: BlockOp, number: int, init: int | float, frame: Frame) -> None:
    """Set what the windows of all index values cover to the refinement's `init`."""
    outer: Window = frame[op.buffer(number)]
    access = op.refinement(number).access
    memory, ranges = outer.memory, op.index_ranges
    if 0 in ranges:
        return
    # Indices that do not move the window need not be enumerated.
    moving = sorted({i for form in access for i in form.support})
    moving = [i for i in moving if i < len(ranges)]
    sizes = op.view_type(number).sizes
    value = literal(init, memory.element)
    for box in parts((frame.count, *(ranges[i] for i in moving), *sizes), PART):
        frame.budget.spend(op, prod(map(len, box)) + LEAST)
        origin, *rest = listed(box)
        values: list[Coordinate] = [0] * len(ranges)
        for index, coordinate in zip(moving, rest, strict=False):
            values[index] = coordinate
        values += [pick(frame[capture], origin) for capture in op.captures]
        inside = np.ones(origin.shape, np.bool_)
        position = np.zeros(origin.shape, np.int64)
        position += pick(outer.copy, origin) * memory.size
        for axis, form in enumerate(access):
            place = pick(outer.starts[axis], origin) + evaluate(form, values)
            place = place + rest[len(moving) + axis]
            inside &= (place >= 0) & (place < memory.shape[axis])
            position += place * memory.steps[axis]
        cells = memory.vectors(position[inside])
        for level in outer.levels:
            level.at(origin[inside]).record(op, memory, cells, Use.ASSIGN)
        memory.assign(cells, value)
