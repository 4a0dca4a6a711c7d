"""Windows: what a view of the `stripe` dialect is at each of many points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import Operation

from .boxes import Coordinate
from .elements import Array
from .faults import display_sizes, fault
from .frame import Frame, pick
from .memory import Level, Memory


@dataclass(frozen=True)
class _Limit:
    """An outer window that this one overhangs: along `axis`, `low <= place < high`."""

    axis: int
    low: Coordinate
    high: Coordinate


@dataclass(frozen=True)
class Window:
    """A window of `sizes` elements that starts at `starts` in a copy of a memory.

    A window may overhang its memory, or the window that it was cut from, as long as
    nothing is accessed there.
    """

    memory: Memory
    sizes: tuple[int, ...]
    starts: tuple[Coordinate, ...]
    copy: Coordinate = 0
    levels: tuple[Level, ...] = ()
    limits: tuple[_Limit, ...] = ()

    @staticmethod
    def whole(memory: Memory, copy: Coordinate = 0) -> Window:
        """The window that shows all of a memory."""
        return Window(memory, memory.shape, (0,) * len(memory.shape), copy)

    def enter(self, frame: Frame) -> Window:
        """The same window at the points of an inner frame."""
        origin = frame.origin
        levels = tuple(level.entered(frame) for level in self.levels)
        return replace(
            self,
            starts=tuple(pick(start, origin) for start in self.starts),
            copy=pick(self.copy, origin),
            levels=levels + frame.levels_of(self.memory),
            limits=tuple(
                _Limit(limit.axis, pick(limit.low, origin), pick(limit.high, origin))
                for limit in self.limits
            ),
        )

    def refined(self, offsets: Sequence[Coordinate], sizes: tuple[int, ...]) -> Window:
        """The window of these sizes that starts at `offsets` within this one."""
        limits = list(self.limits)
        for axis, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
            start, outer = self.starts[axis], self.sizes[axis]
            is_whole = isinstance(start, int) and outer == self.memory.shape[axis]
            inside = np.min(offset) >= 0 and np.max(offset) + size <= outer
            if not is_whole and not inside:
                limits.append(_Limit(axis, start, start + outer))
        return replace(
            self,
            sizes=sizes,
            starts=tuple(s + o for s, o in zip(self.starts, offsets, strict=True)),
            limits=tuple(limits),
        )

    def cells(self, op: Operation, frame: Frame) -> Array:
        """The cells of the one element or vector that the window shows, per point.

        Of shape (points,), or (points, lanes). Raises an error that names `op` where a
        cell is outside of the memory or of a window around this one.
        """
        memory = self.memory
        position: Coordinate = self.copy * memory.size
        for axis, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            if np.min(start) < 0 or np.max(start) + size > memory.shape[axis]:
                outside = (start < 0) | (start + size > memory.shape[axis])
                raise self._outside(op, frame, outside, f"the memory of {memory.name}")
            position = position + start * memory.steps[axis]
        for limit in self.limits:
            start = self.starts[limit.axis]
            outside = (start < limit.low) | (start + self.sizes[limit.axis] > limit.high)
            if np.any(outside):
                raise self._outside(op, frame, outside, "a window around this one")
        cells = np.broadcast_to(np.asarray(position, np.int64), (frame.count,))
        lanes = memory.lanes if memory.lanes != 1 else (self.sizes or (1,))[-1]
        return cells if lanes == 1 else cells[:, None] + np.arange(lanes)

    def _outside(
        self, op: Operation, frame: Frame, outside: Coordinate, what: str
    ) -> Exception:
        point = int(np.argmax(np.broadcast_to(np.asarray(outside), (frame.count,))))
        places = [int(pick(s, np.array([point]))[0]) if not isinstance(s, int) else s
                  for s in self.starts]
        lanes = self.sizes[-1] if self.sizes else 1
        shown = ", ".join(map(str, places)) + (f":{places[-1] + lanes}" * (lanes > 1))
        return fault(
            op,
            f"'{op.name}' accesses [{shown}] of {self.memory.name}, outside of {what}"
            f" ({display_sizes(self.memory.shape)}){frame.describe(point)}",
        )
