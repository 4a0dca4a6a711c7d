"""The statements of a `stripe.block`'s points that access memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from ...dialects.aggregation import Aggregation
from ...dialects.stripe.attributes import ViewType
from ...dialects.stripe.ops import LoadOp, StoreOp
from .boxes import Coordinate
from .conflicts import Use
from .dispatch import Step, prepare
from .elements import Array
from .frame import Frame
from .window import Window


@prepare.register(LoadOp)
def _prepare_load(op: LoadOp) -> Step:
    view, result = op.view, op.result
    chosen = _choice(op, result.type)

    def step(frame: Frame) -> None:
        window = chosen(frame, frame[view])
        cells = window.cells(op, frame)
        for level in window.levels:
            level.record(op, window.memory, cells, Use.READ)
        frame[result] = window.memory.read(op, frame, cells)

    return step


@prepare.register(StoreOp)
def _prepare_store(op: StoreOp) -> Step:
    view, value, condition = op.view, op.value, op.condition
    chosen = _choice(op, value.type)

    def store(frame: Frame, outer: Window) -> None:
        window = chosen(frame, outer)
        cells = window.cells(op, frame)
        memory, aggregation = window.memory, window.aggregation
        for level in window.levels:
            level.record(op, memory, cells, Use.of(aggregation))
        if aggregation is Aggregation.ASSIGN:
            memory.assign(cells, frame[value])
        else:
            memory.aggregate(op, frame, cells, frame[value], aggregation)

    def step(frame: Frame) -> None:
        if condition is None:
            store(frame, frame[view])
            return
        active = np.flatnonzero(frame[condition])
        if active.size:
            inner = Frame(active.size, frame, active)
            store(inner, frame[view].at(active))

    return step


def _choice(
    op: LoadOp | StoreOp, accessed: Attribute
) -> Callable[[Frame, Window], Window]:
    """How an access gets from its view to the window of what it accesses."""
    subscripts = op.subscripts
    if subscripts is None:
        return lambda _, window: window
    view = op.view.type
    is_element = isinstance(view, ViewType) and accessed == view.element_type
    lanes = 1 if is_element else _lanes(accessed)

    def chosen(frame: Frame, window: Window) -> Window:
        places = _places(subscripts, frame)
        return window.chosen(op, frame, places, lanes)

    return chosen


def _places(subscripts: Sequence[SSAValue | int], frame: Frame) -> list[Coordinate]:
    """The positions that subscripts say, a number or one for each point."""
    places: list[Coordinate] = []
    for subscript in subscripts:
        if isinstance(subscript, int):
            places.append(subscript)
            continue
        values: Array = frame.array(subscript)
        places.append(values.astype(np.int64))
    return places


def _lanes(type: Attribute) -> int:
    return type.get_shape()[0] if isinstance(type, VectorType) else 1
