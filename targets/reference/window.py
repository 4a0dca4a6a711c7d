"""Windows: what a view of the `stripe` dialect is at each of many points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Operation

from ...dialects.aggregation import Aggregation
from ...dialects.locations import error_at
from ...errors import GinghamError
from .boxes import Coordinate
from .conflicts import ConcurrentPoints, Level, Use
from .elements import Array
from .faults import display_sizes
from .frame import Frame, pick
from .memory import Memory


class PointFrame(Frame):
    """A frame of points of a block.

    `points` are their numbers in the `run` of the block. Of the `contended` memories,
    by identity, the uses of different points are checked for conflicts.
    """

    def __init__(
        self,
        outer: Frame,
        origin: Array,
        run: ConcurrentPoints,
        points: Array,
        contended: frozenset[int],
    ) -> None:
        super().__init__(len(origin), outer, origin)
        self.depth: int = outer.depth + 1 if isinstance(outer, PointFrame) else 0
        self.run = run
        self.points = points
        self.contended = contended

    def levels_of(self, memory: Memory, use: Use) -> tuple[Level, ...]:
        """The level of this block for a memory, if its points may be in conflict."""
        if memory.identity not in self.contended:
            return ()
        return (Level(memory.tracker(self.depth), self.run, self.points, use),)


@dataclass(frozen=True)
class _Limit:
    """An outer window that this one overhangs: along `axis`, `low <= place < high`."""

    axis: int
    low: Coordinate
    high: Coordinate


@dataclass(frozen=True)
class Window:
    """A window of `sizes` elements that starts at `starts` in a copy of a memory.

    It may overhang the memory, or the window that it was cut from, as long as nothing
    is accessed there. What is stored through it is aggregated by `aggregation`.
    """

    memory: Memory
    sizes: tuple[int, ...]
    starts: tuple[Coordinate, ...]
    copy: Coordinate = 0
    aggregation: Aggregation = Aggregation.ASSIGN
    levels: tuple[Level, ...] = ()
    limits: tuple[_Limit, ...] = ()

    @staticmethod
    def whole(memory: Memory, copy: Coordinate = 0) -> Window:
        """The window that shows all of a memory."""
        return Window(memory, memory.shape, (0,) * len(memory.shape), copy)

    def refined(
        self,
        frame: PointFrame,
        offsets: Sequence[Coordinate],
        sizes: tuple[int, ...],
        aggregation: Aggregation,
    ) -> Window:
        """A window of these sizes, at `offsets` within this one, in an inner frame."""
        origin = frame.origin
        starts = [pick(start, origin) for start in self.starts]
        limits = [
            _Limit(limit.axis, pick(limit.low, origin), pick(limit.high, origin))
            for limit in self.limits
        ]
        for axis, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            start, extent = starts[axis], self.sizes[axis]
            is_whole = isinstance(start, int) and extent == self.memory.shape[axis]
            inside = np.min(offset) >= 0 and np.max(offset) + size <= extent
            if not is_whole and not inside:
                limits.append(_Limit(axis, start, start + extent))
        levels = [level.at(origin) for level in self.levels]
        levels += frame.levels_of(self.memory, Use.of(aggregation))
        return Window(
            self.memory,
            sizes,
            tuple(s + o for s, o in zip(starts, offsets, strict=True)),
            pick(self.copy, origin),
            aggregation,
            tuple(levels),
            tuple(limits),
        )

    def at(self, origin: Array) -> Window:
        """The same window for those points of a frame that `origin` lists."""
        return replace(
            self,
            starts=tuple(pick(start, origin) for start in self.starts),
            copy=pick(self.copy, origin),
            levels=tuple(level.at(origin) for level in self.levels),
            limits=tuple(
                _Limit(limit.axis, pick(limit.low, origin), pick(limit.high, origin))
                for limit in self.limits
            ),
        )

    def chosen(
        self, op: Operation, frame: Frame, places: Sequence[Coordinate], lanes: int
    ) -> Window:
        """The window of the element at `places` within this one.

        It has `lanes` elements along the last axis. Raises an error that names `op`
        where they are not all in the window.
        """
        sizes = (*(1 for _ in self.sizes[:-1]), lanes)
        for place, extent, size in zip(places, self.sizes, sizes, strict=True):
            outside = np.atleast_1d((place < 0) | (place > extent - size))
            if outside.any():
                raise self._not_chosen(op, frame, places, int(outside.argmax()))
        starts = tuple(s + p for s, p in zip(self.starts, places, strict=True))
        return replace(self, sizes=sizes, starts=starts)

    def _not_chosen(
        self, op: Operation, frame: Frame, places: Sequence[Coordinate], point: int
    ) -> GinghamError:
        numbers = [np.broadcast_to(place, (frame.count,))[point] for place in places]
        return error_at(
            op,
            f"'{op.name}' has the subscripts [{', '.join(map(str, numbers))}] in a "
            f"window of {display_sizes(self.sizes)} of {self.memory.name}"
            f"{frame.describe(point)}",
        )

    def cells(self, op: Operation, frame: Frame) -> Array:
        """The cells of the one element or vector that the window shows, per point.

        Of shape (points,), or (points, lanes). Raises an error that names `op` where a
        cell is outside of the memory or of a window around this one.
        """
        memory = self.memory
        position: Coordinate = self.copy * memory.size
        for axis, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            last = memory.shape[axis] - size
            if np.min(start) < 0 or np.max(start) > last:
                outside = np.asarray((start < 0) | (start > last))
                sizes = display_sizes(memory.shape)
                raise self._outside(op, frame, outside, f"its buffer of {sizes}")
            position = position + start * memory.steps[axis]
        for limit in self.limits:
            start, size = self.starts[limit.axis], self.sizes[limit.axis]
            outside = np.asarray((start < limit.low) | (start + size > limit.high))
            if outside.any():
                raise self._outside(op, frame, outside, "the window around it")
        positions = np.broadcast_to(np.asarray(position, np.int64), (frame.count,))
        length = self.sizes[-1] if self.sizes else 1
        return memory.vectors(positions, None if length == 1 else length)

    def _outside(
        self, op: Operation, frame: Frame, outside: Array, what: str
    ) -> GinghamError:
        point = int(np.broadcast_to(outside, (frame.count,)).argmax())
        places = [int(np.broadcast_to(s, (frame.count,))[point]) for s in self.starts]
        shown = ", ".join(
            str(place) if size == 1 else f"{place} to {place + size - 1}"
            for place, size in zip(places, self.sizes, strict=True)
        )
        return error_at(
            op,
            f"'{op.name}' accesses [{shown}] of {self.memory.name}, outside of {what}"
            f"{frame.describe(point)}",
        )
