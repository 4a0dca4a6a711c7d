"""Frames: the values of a body's SSA names, for many points or work-items at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .boxes import Coordinate
from .budget import Budget
from .elements import Array


class Counter:
    """Hands out numbers that are larger than all that were handed out before."""

    def __init__(self) -> None:
        self._next = 0

    def reserve(self, count: int) -> int:
        """The first of `count` new consecutive numbers."""
        first = self._next
        self._next += count
        return first


class Frame:
    """The values of a body that runs for `count` points at once.

    A scalar or vector is an array with the points along its first axis; an index may be
    an int when it is the same for all points. Tensors, which only the function's own
    frame has, are plain arrays. What else inner frames may use (pointers) has a method
    `enter(frame)` that gives what it is there.

    `origin` says for each point which point of the outer frame it belongs to: values of
    outer bodies are found through it.
    """

    def __init__(
        self,
        count: int,
        outer: Frame | None = None,
        origin: Array | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.count = count
        self.outer = outer
        self.origin = origin
        self.counter: Counter = Counter() if outer is None else outer.counter
        if outer is not None:
            budget = outer.budget
        self.budget: Budget = budget or Budget()
        self.labels: dict[str, Coordinate] = {}
        """What tells the points of this frame apart, for messages."""
        self._values: dict[object, Any] = {}

    def __setitem__(self, key: object, value: Any) -> None:
        self._values[key] = value

    def __getitem__(self, key: object) -> Any:
        if key in self._values:
            return self._values[key]
        if self.outer is None:
            raise KeyError(key)
        outer = self.outer[key]
        value = pick(outer, self.origin) if _is_plain(outer) else outer.enter(self)
        self._values[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        """Whether this frame itself has the value."""
        return key in self._values

    def array(self, key: object) -> Array:
        """A value that is an array or an index, as an array."""
        value = self[key]
        return np.full(self.count, value, np.int64) if isinstance(value, int) else value

    def describe(self, point: int) -> str:
        """Where a point is: ` at i = 3, k = 0`, or nothing when there is but one."""
        labels = ", ".join(self.labels_at(point))
        return f" at {labels}" if labels else ""

    def labels_at(self, point: int) -> list[str]:
        """What tells a point apart, outermost first: `i = 3`, `k = 0`."""
        labels: list[str] = []
        if self.outer is not None:
            outer = point if self.origin is None else int(self.origin[point])
            labels = self.outer.labels_at(outer)
        for name, values in self.labels.items():
            value = values if isinstance(values, int) else values[point]
            labels.append(f"{name} = {value}")
        return labels


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray | int)


def pick(values: Any, origin: Array | None) -> Any:
    """The values of the points that `origin` lists; a plain int is that of all."""
    return values if isinstance(values, int) or origin is None else values[origin]
